"""Rates of yes and no: their variances, the bounds of these, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest

import ampler as am
from ampler.core.errors import InvalidRule, InvalidSamples
from ampler.stats.summaries import SURER, Rate, is_yes_or_no, rate_variance_bounds, rate_variances, summary_of
from ampler.stats.variance_bounds import guarded_variances

RATES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.98)


def test_the_name_stands_for_the_share_of_yes():
    assert summary_of("rate") == Rate()
    assert Rate()(np.array([[1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])).tolist() == [0.75, 0.0]


def test_ten_of_ten_is_no_certainty():
    yes = am.estimate({"a": [1.0] * 10, "b": [1.0] * 10}, difference="simple", statistic="rate")[0]
    p = 10.5 / 11
    assert yes.difference == 0
    assert yes.error == pytest.approx(np.sqrt(2 * p * (1 - p) / 10))
    assert am.estimate({"a": [1.0] * 10, "b": [1.0] * 10}, difference="simple")[0].error == 0


def test_yes_and_no_may_be_exchanged():
    counts, shares = np.full(11, 10.0), np.arange(11) / 10
    assert rate_variances(counts, shares) == pytest.approx(rate_variances(counts, 1 - shares))
    levels = np.full(11, 0.05)
    assert rate_variance_bounds(counts, shares, levels) == pytest.approx(
        rate_variance_bounds(counts, 1 - shares, levels)
    )


@pytest.mark.parametrize("n", [5, 10, 20, 50])
@pytest.mark.parametrize("rate", RATES)
def test_the_standard_error_is_right_on_average_and_never_far_too_small(rate, n):
    x = np.arange(n + 1)
    weights = binom.pmf(x, n, rate)
    mean = (weights * rate_variances(np.full(n + 1, float(n)), x / n)).sum()
    over = np.sqrt(mean / (rate * (1 - rate)))
    assert 0.92 < over < (1.2 if 0.1 <= rate <= 0.9 else 2.2)


@pytest.mark.parametrize(("yes", "n"), [(0, 10), (3, 10), (10, 10), (7, 40), (39, 40)])
def test_bounds_are_the_variance_where_an_exact_bound_comes_nearest_to_even_odds(yes, n):
    exact = binomtest(yes, n)
    wide, narrow = (exact.proportion_ci(level, method="exact") for level in (1 - 0.1 / SURER, 0.9))
    low, high = wide if wide.low < 0.5 < wide.high else narrow
    grid = np.linspace(low, high, 20001)
    bound = rate_variance_bounds(np.array([float(n)]), np.array([yes / n]), np.array([0.05]))[0]
    assert bound == pytest.approx((grid * (1 - grid)).max(), rel=1e-6)


@pytest.mark.parametrize("n", [10, 40, 150])
@pytest.mark.parametrize("rate", RATES)
def test_a_true_variance_seldom_exceeds_its_bound(rate, n):
    x = np.arange(n + 1)
    bounds = rate_variance_bounds(np.full(n + 1, float(n)), x / n, np.full(n + 1, 0.05))
    beyond = binom.pmf(x, n, rate)[bounds < rate * (1 - rate)].sum()
    assert beyond <= 0.05


def test_the_guard_takes_bounds_of_rates_and_leaves_the_declared_alone():
    counts, rates = np.array([10.0, 10.0, 1.0]), np.array([1.0, 0.5, 1.0])
    plain = np.array([0.04, 0.25, 0.0])
    bounds = guarded_variances(counts, plain, rates=rates)
    assert bounds.tolist() == pytest.approx([rate_variance_bounds(counts, rates, np.full(3, 0.05))[0], 0.25, 0.0])
    assert guarded_variances(counts, plain, rates=rates, guard="none").tolist() == plain.tolist()
    assert (guarded_variances(counts, plain, rates=rates, guard="all") >= bounds).all()


def test_only_yes_and_no_are_values_of_a_rate():
    assert is_yes_or_no(np.array([0.0, 1.0, -0.0, 2.0, 0.5])).tolist() == [True, True, True, False, False]
    with pytest.raises(InvalidSamples, match=r"1 \(yes\) or 0 \(no\), got 0.5 from algorithm 'b'; .* \"mean\""):
        am.estimate({"a": [1.0, 0.0], "b": [1.0, 0.5]}, difference="simple", statistic="rate")


@pytest.mark.parametrize("difference", ["percent", "ratio"])
def test_ratios_of_rates_are_refused(difference):
    with pytest.raises(InvalidRule, match=f"percentage points, difference 'simple', got '{difference}'"):
        am.Accuracy(se=0.1, difference=difference, statistic="rate")
