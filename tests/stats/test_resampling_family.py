"""Differences in standard units: sound at any magnitude, whatever the order of the instances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ampler.stats.resampling import columns_of, opened

DIFFERENCES = np.random.default_rng(3).normal(1.0, 2.0, (9, 3))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_t_statistics_are_the_ordinary_ones_at_any_magnitude(scale):
    assert columns_of(scale * DIFFERENCES).t == pytest.approx(stats.ttest_1samp(DIFFERENCES, 0.0).statistic)


def test_t_about_a_centre_is_that_of_the_differences_less_it():
    centres = np.array([1.0, -2.0, 0.5])

    assert columns_of(DIFFERENCES).t_about(centres) == pytest.approx(columns_of(DIFFERENCES - centres).t)


def test_intervals_are_mean_plus_and_minus_errors():
    low, high = columns_of(DIFFERENCES).interval(np.full(3, 2.0), np.full(3, 1.0)).T
    error = stats.sem(DIFFERENCES)

    assert low == pytest.approx(DIFFERENCES.mean(axis=0) - 2 * error)
    assert high == pytest.approx(DIFFERENCES.mean(axis=0) + error)


def test_standard_units_have_mean_0_and_deviation_1_and_missing_ones_are_0():
    table = DIFFERENCES.copy()
    table[4, 1] = np.nan
    columns = columns_of(table)

    assert columns.counts.tolist() == [9, 8, 9]
    assert columns.standard.sum(axis=0) == pytest.approx(0.0, abs=1e-12)
    assert (columns.standard**2).sum(axis=0) == pytest.approx(columns.counts - 1)
    assert (columns.standard[~columns.present] == 0).all()


def test_the_order_of_the_instances_does_not_matter():
    shuffled = columns_of(np.random.default_rng(1).permutation(DIFFERENCES))

    assert shuffled.standard == pytest.approx(columns_of(DIFFERENCES).standard)


def test_constant_zero_and_single_columns_say_nothing_of_how_they_vary():
    table = np.array([[2.0, 0.0, 1.0], [2.0, 0.0, np.nan], [2.0, 0.0, np.nan]])
    columns = columns_of(table)

    assert columns.t.tolist() == [np.inf, 0.0, 0.0]
    assert columns.interval(np.ones(3), np.ones(3)).tolist() == [[-np.inf, np.inf]] * 3


def test_about_nothing_is_about_the_means():
    columns = columns_of(DIFFERENCES)

    assert columns.about(None) is columns.standard
    assert columns.about(np.zeros(3)) == pytest.approx(columns.standard + columns.means / columns.deviations)


@pytest.mark.parametrize(
    ("alternative", "bounds"), [("two-sided", [1, 2]), ("less", [-np.inf, 2]), ("greater", [1, np.inf])]
)
def test_one_sided_intervals_are_open_on_the_side_that_says_nothing(alternative, bounds):
    assert opened(np.array([[1.0, 2.0]]), alternative).tolist() == [bounds]
