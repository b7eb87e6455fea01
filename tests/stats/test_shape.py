"""Skewness against scipy, and how often the t-test errs on skewed differences: the formula against simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from ampler.stats.shape import error_inflation, normality_p_value, pooled_skewness, skewness, skewness_error


def simulated(skewness, n, alpha, alternative, families):
    """How many times alpha a t-test rejects the true mean of gamma data with this skewness."""
    shape = 4 / skewness**2
    x = np.random.default_rng(1).gamma(shape, size=(families, n)) - shape
    return (stats.ttest_1samp(x, 0, axis=1, alternative=alternative).pvalue <= alpha).mean() / alpha


@pytest.mark.parametrize(
    ("skewness", "n", "alpha", "alternative"),
    [(2, 57, 0.05, "two-sided"), (2, 57, 0.0125, "two-sided"), (1, 20, 0.05, "less"), (2, 100, 0.02, "less")],
)
def test_the_formula_says_what_simulation_shows(skewness, n, alpha, alternative):
    shown = simulated(skewness, n, alpha, alternative, 20_000)
    assert error_inflation(skewness, n, alpha, alternative) == pytest.approx(shown, rel=0.2)


def test_exponential_differences_at_holms_strictest_level_of_21_err_four_times_too_often():
    """Simulated with 400 000 families: 3.80."""
    assert error_inflation(2.0, 57, 0.05 / 21) == pytest.approx(3.80, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("skewness", [1, 2, 3])
@pytest.mark.parametrize("n", [20, 57, 120])
@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_the_formula_at_holms_strictest_level_of_21(skewness, n, alternative):
    shown = simulated(skewness, n, 0.05 / 21, alternative, 200_000)
    assert error_inflation(skewness, n, 0.05 / 21, alternative) == pytest.approx(shown, rel=0.35)


def test_direction_matters_to_one_sided_tests_alone():
    assert error_inflation(2, 30, 0.01) == error_inflation(-2, 30, 0.01) > 2
    assert error_inflation(2, 30, 0.01, "less") == error_inflation(-2, 30, 0.01, "greater") > 2
    assert error_inflation(2, 30, 0.01, "greater") == 1.0


def test_more_instances_cure_and_stricter_levels_worsen():
    assert error_inflation(2, 20, 0.01) > error_inflation(2, 200, 0.01) > error_inflation(2, 20_000, 0.01) >= 1.0
    assert error_inflation(2, 57, 0.001) > error_inflation(2, 57, 0.01) > error_inflation(2, 57, 0.05)
    assert error_inflation(0.0, 57, 0.05) == 1.0
    assert error_inflation(math.nan, 57, 0.05) == 1.0


def test_the_standard_error_of_skewness_is_that_of_normal_samples():
    x = np.random.default_rng(2).normal(size=(20_000, 25))
    assert stats.skew(x, axis=1, bias=False).std() == pytest.approx(skewness_error(25), rel=0.03)
    assert skewness_error(3) == math.inf


def test_skewness_is_scipys_without_bias_and_free_of_the_unit():
    x = np.random.default_rng(5).exponential(size=30)
    assert skewness(x) == pytest.approx(stats.skew(x, bias=False), rel=1e-12)
    assert skewness(-x * 1e300) == pytest.approx(-skewness(x), rel=1e-12)
    assert math.isnan(skewness(x[:2]))
    assert math.isnan(skewness(np.full(9, 0.1)))


def cell_skews(values):
    """Counts, variances and √n·M3/M2^1.5 of cells given as values × instances × algorithms."""
    n = len(values)
    rest = values - values.mean(axis=0)
    return np.full(values.shape[1:], float(n)), values.var(axis=0, ddof=1), stats.skew(rest, axis=0)


def test_skewness_pooled_over_instances_of_any_scale_is_that_of_the_runs():
    rng = np.random.default_rng(5)
    scale = np.exp(rng.standard_normal((400, 1)))
    symmetric = rng.standard_normal((12, 400, 3))
    values = scale * np.concatenate([symmetric, rng.standard_exponential((12, 400, 2))], axis=-1)

    pooled = pooled_skewness(*cell_skews(values))

    assert pooled[:3] == pytest.approx(0.0, abs=0.15)
    assert pooled[3:] == pytest.approx(2.0, abs=0.3)
    assert np.mean(cell_skews(values)[2][:, 3:]) < 1.4  # what the cells say one by one


def test_two_values_say_nothing_of_skewness_and_equal_ones_that_the_others_are_rare():
    counts, variances, skews = np.array([[2.0, 9.0], [9.0, 9.0]]), np.ones((2, 2)), np.array([[0.5, 1.0], [1.0, 1.0]])
    flat = np.array([[1.0, 0.0], [1.0, 1.0]])

    assert pooled_skewness(counts, variances, skews) == pytest.approx([1.212, 1.212], abs=1e-3)
    assert pooled_skewness(counts, flat, skews) == pytest.approx([1.212, 1.212 * 2**0.5], abs=1e-3)
    assert pooled_skewness(counts, np.zeros((2, 2)), skews).tolist() == [0.0, 0.0]


def test_heavy_symmetric_tails_have_no_skewness_that_is_supported():
    """A few cells make it, and which side they lie on is chance; skewed runs keep theirs."""
    rng = np.random.default_rng(5)
    for degrees in (2, 3):
        studies = [cell_skews(rng.standard_t(degrees, (12, 47, 5))) for _ in range(60)]
        heavy, held = (np.array([pooled_skewness(*each, supported=way) for each in studies]) for way in (False, True))
        assert np.abs(heavy).mean() > 1.0
        assert np.mean(held == 0.0) > 0.95
        assert (np.abs(held) <= np.abs(heavy)).all()
    for draw in (rng.standard_exponential, lambda shape: np.exp(0.6 * rng.standard_normal(shape))):
        cells = cell_skews(draw((12, 47, 5)))
        assert (pooled_skewness(*cells, supported=True) > 0.75 * pooled_skewness(*cells)).all()


def test_the_skewness_of_a_single_cell_has_nothing_to_be_held_against():
    cell = np.array([[9.0]]), np.ones((1, 1)), np.array([[1.0]])
    assert pooled_skewness(*cell, supported=True) == pooled_skewness(*cell)


@pytest.mark.parametrize("size", [8, 40, 400])
def test_normal_values_look_normal_as_often_as_the_level_says_and_exponential_ones_seldom(size):
    rng = np.random.default_rng(3)
    normal = np.array([normality_p_value(rng.normal(5, 2, size)) for _ in range(2000)])
    assert (normal < 0.05).mean() == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 2000))
    exponential = np.array([normality_p_value(rng.standard_exponential(size)) for _ in range(200)])
    assert (exponential < 0.05).mean() > (0.25 if size < 40 else 0.97)
    assert normality_p_value(np.full(size, 2.0)) == normality_p_value(normal[:7]) == 1.0
