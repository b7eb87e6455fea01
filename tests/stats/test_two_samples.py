"""Runs of two algorithms compared: as scipy does it, and as intervals and tests must agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ampler.stats import two_samples
from ampler.stats.contrasts import contrasts_among
from ampler.stats.dependence import MeanEstimate
from ampler.stats.two_samples import RUN_TESTS, MannWhitney, run_test, welch_comparisons

ALTERNATIVES = ("two-sided", "less", "greater")


def samples(m, n, *, seed=1, ties=False):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=m), rng.normal(0.5, 2, n)
    return (np.round(x), np.round(y)) if ties else (x, y)


def welch(x, y, difference="simple", reference=None):
    theta = np.array([x.mean(), y.mean()])
    contrasts = contrasts_among(2, difference=difference, reference=reference)
    variances = np.array([x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)])
    degrees = np.array([len(x), len(y)]) - 1.0
    return welch_comparisons(contrasts, contrasts.differences(theta), theta, variances, degrees)[0]


@pytest.mark.parametrize(("m", "n"), [(2, 2), (5, 9), (30, 12)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_welchs_test_is_scipys(m, n, alternative):
    x, y = samples(m, n)
    ours, theirs = welch(x, y), stats.ttest_ind(x, y, equal_var=False, alternative=alternative)
    assert ours.p_value(alternative) == pytest.approx(theirs.pvalue, rel=1e-12)
    assert ours.df == pytest.approx(theirs.df, rel=1e-12)
    bounds = ours.interval(alternative, 0.05)
    assert (bounds.lower, bounds.upper) == pytest.approx(tuple(theirs.confidence_interval(0.95)), rel=1e-12)


def test_welchs_test_of_a_shift_is_that_of_shifted_runs():
    x, y = samples(8, 11)
    shifted = stats.ttest_ind(x - 0.3, y, equal_var=False, alternative="less").pvalue
    assert welch(x, y).p_value("less", 0.3) == pytest.approx(shifted, rel=1e-12)


def test_ratios_are_tested_by_the_same_sum():
    x, y = (np.exp(0.1 * each) for each in samples(40, 50))
    logs = welch(x, y, "ratio")
    assert logs.estimate == pytest.approx(np.log(x.mean() / y.mean()))
    relative = [each.var(ddof=1) / len(each) / each.mean() ** 2 for each in (x, y)]
    assert logs.error == pytest.approx(np.sqrt(sum(relative)))
    assert logs.df == pytest.approx(sum(relative) ** 2 / (relative[0] ** 2 / 39 + relative[1] ** 2 / 49))


def test_of_runs_that_do_not_vary_nothing_is_known():
    for estimate in (2.0, 0.0):
        never = MeanEstimate(estimate, 0.0, np.inf)
        assert never.p_value("two-sided") == never.p_value("less", 2.0) == 1.0
        assert never.interval("two-sided", 0.05)[:2] == (-np.inf, np.inf)
    x, y = np.full(5, 3.0), samples(6, 6)[0]
    assert welch(x, y).p_value("two-sided") == pytest.approx(stats.ttest_1samp(y, 3.0).pvalue, rel=1e-12)


@pytest.mark.parametrize(
    ("m", "n", "ties"), [(3, 4, False), (12, 20, False), (49, 49, False), (60, 55, False), (30, 40, True)]
)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_mann_and_whitneys_test_is_scipys(m, n, ties, alternative):
    x, y = samples(m, n, ties=ties)
    how = "exact" if max(m, n) < 50 and not ties else "asymptotic"
    theirs = stats.mannwhitneyu(x, y, alternative=alternative, method=how).pvalue
    assert MannWhitney(tuple(x), tuple(y)).p_value(alternative) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize(("m", "n"), [(6, 9), (60, 70)])
def test_the_interval_holds_the_shifts_that_are_not_rejected(m, n):
    x, y = samples(m, n)
    runs = MannWhitney(tuple(x), tuple(y))
    low, high, level = runs.interval("two-sided", 0.05)
    assert level == 0.95
    assert low < runs.estimate < high
    assert runs.estimate == pytest.approx(np.median(np.subtract.outer(x, y)))
    for inside, outside in ((low + 1e-9, low - 1e-9), (high - 1e-9, high + 1e-9)):
        assert runs.p_value("two-sided", inside) > 0.05 >= runs.p_value("two-sided", outside)


def test_so_few_runs_have_no_interval():
    runs = MannWhitney((1.0, 2.0), (3.0, 4.0))
    assert runs.p_value("two-sided") == pytest.approx(1 / 3)
    assert runs.interval("two-sided", 0.05) == (-np.inf, np.inf, 1.0)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=12), st.lists(st.floats(-100, 100), min_size=2, max_size=12))
def test_exchanging_the_algorithms_turns_everything_around(x, y):
    one, other = MannWhitney(tuple(x), tuple(y)), MannWhitney(tuple(y), tuple(x))
    assert one.estimate == -other.estimate
    assert one.p_value("less") == pytest.approx(other.p_value("greater"))
    assert one.p_value("two-sided") == pytest.approx(other.p_value("two-sided"))


def test_very_many_differences_are_found_without_being_made(monkeypatch):
    x, y = samples(90, 80)
    few = [MannWhitney(tuple(x), tuple(y))._difference(place) for place in (0, 100, 3600, 7199)]
    monkeypatch.setattr(two_samples, "MOST_DIFFERENCES", 10)
    assert [MannWhitney(tuple(x), tuple(y))._difference(place) for place in (0, 100, 3600, 7199)] == pytest.approx(few)


def test_every_test_has_words_and_somebody_to_cite():
    assert run_test("t").plural == "Welch's t-tests"
    assert run_test("wilcoxon").plural == "Mann–Whitney tests"
    assert all(each.cites and each.null for each in RUN_TESTS.values())
