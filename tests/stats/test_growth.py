"""The growth test: reference values, the ordinary t-test as its first case, exactness whatever chose the size."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.helpers.growth import adjusted_p_values, conclusions

from ampler.stats.holm import step_down
from ampler.stats.internal_pilot import clear_after_pilot, growth_test

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "detect.json").read_text())


@pytest.mark.parametrize("row", GOLD["tests"], ids=lambda row: f"{len(row['phi'][0])} comparisons")
def test_tests_of_the_reference_families_are_met(row):
    phi, expected = np.array(row["phi"]), row["answer"]
    pilot, end = growth_test(phi[: row["pilot"]], 1), growth_test(phi, row["pilot"])
    np.testing.assert_allclose(pilot.statistics, expected["interim_t"], rtol=1e-9)
    np.testing.assert_allclose(pilot.p_values, expected["interim_p"], rtol=1e-7)
    np.testing.assert_allclose(end.statistics, expected["end_t"], rtol=1e-9)
    np.testing.assert_allclose(end.p_values, expected["end_p"], rtol=1e-7)
    np.testing.assert_allclose(end.errors, expected["end_se"], rtol=1e-9)
    assert clear_after_pilot(pilot.p_values, alpha=0.05, share=0.1).tolist() == expected["decided"]
    adjusted = adjusted_p_values(pilot.p_values, end.p_values, share=0.1, alpha=0.05)
    np.testing.assert_allclose(adjusted, expected["adjusted"], rtol=1e-7)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@given(n=st.integers(2, 40), seed=st.integers(0, 1000))
def test_grown_since_the_first_instance_it_is_the_ordinary_t_test(alternative, n, seed):
    x = np.random.default_rng(seed).normal(0.3, 1.0, (n, 3))
    found, expected = growth_test(x, 1, alternative=alternative), stats.ttest_1samp(x, 0, alternative=alternative)
    np.testing.assert_allclose(found.statistics, expected.statistic, rtol=1e-9)
    np.testing.assert_allclose(found.p_values, expected.pvalue, rtol=1e-8)
    np.testing.assert_allclose(found.intervals(0.05), np.transpose(expected.confidence_interval(0.95)), rtol=1e-8)


def by_definition(x, since):
    """SS(N) − SS(n₀), each taken by itself."""
    grown = np.sum((x - x.mean()) ** 2) - np.sum((x[:since] - x[:since].mean()) ** 2)
    return x.mean() / math.sqrt(grown / (len(x) - since) / len(x))


@given(seed=st.integers(0, 1000), since=st.integers(1, 20))
def test_the_variance_is_the_growth_of_the_sum_of_squares(seed, since):
    x = np.random.default_rng(seed).normal(0.3, 1.0, 24)
    assert growth_test(x[:, None], since).statistics[0] == pytest.approx(by_definition(x, since), rel=1e-9)


@given(seed=st.integers(0, 1000), exponent=st.integers(-950, 950), sign=st.sampled_from([-1, 1]))
def test_scale_and_sign_change_no_p_value(seed, exponent, sign):
    x = np.random.default_rng(seed).normal(0.3, 1.0, (20, 2))
    plain, scaled = growth_test(x, 8), growth_test(sign * np.ldexp(x, exponent), 8)
    np.testing.assert_allclose(scaled.p_values, plain.p_values, rtol=1e-9)
    np.testing.assert_allclose(scaled.means, sign * np.ldexp(plain.means, exponent), rtol=1e-12)


@given(seed=st.integers(0, 1000))
def test_the_order_within_the_pilot_and_after_it_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(0.3, 1.0, (20, 2))
    moved = np.concatenate([rng.permutation(x[:8]), rng.permutation(x[8:])])
    np.testing.assert_allclose(growth_test(moved, 8).p_values, growth_test(x, 8).p_values, rtol=1e-9)


def test_a_large_offset_loses_no_digits():
    x = np.random.default_rng(1).normal(0.0, 1.0, (20, 1))
    plain, moved = growth_test(x, 8), growth_test(x + 2.0**30, 8)
    np.testing.assert_allclose(moved.errors, plain.errors, rtol=1e-6)


def test_constant_differences_are_certain_and_zeros_are_no_evidence():
    found = growth_test(np.column_stack([np.full(12, 0.1), np.zeros(12)]), 5)
    assert found.statistics.tolist() == [math.inf, 0.0]
    assert found.p_values.tolist() == [0.0, 1.0]


def test_missing_differences_are_left_out():
    x = np.random.default_rng(2).normal(0.3, 1.0, (20, 2))
    x[[1, 15], 0] = np.nan
    found = growth_test(x, 8)
    assert found.freedom.tolist() == [11, 12]
    kept = x[~np.isnan(x[:, 0]), 0]
    assert found.statistics[0] == pytest.approx(by_definition(kept, 7), rel=1e-9)


def test_a_comparison_that_left_after_the_pilot_has_no_end_and_counts_with_its_pilot():
    pilot, end = np.array([1e-6, 0.2]), np.array([np.nan, 0.01])
    adjusted = adjusted_p_values(pilot, end, share=0.1, alpha=0.05)
    np.testing.assert_allclose(adjusted, [2e-5, 0.01 / 0.9])


def test_a_clear_comparison_counts_with_its_pilot_even_if_the_end_is_stronger():
    adjusted = adjusted_p_values(np.array([1e-4]), np.array([1e-9]), share=0.1, alpha=0.05)
    assert adjusted[0] == pytest.approx(1e-3)


def test_joint_intervals_come_from_where_the_comparison_was_decided():
    rng = np.random.default_rng(3)
    x = rng.normal([2.0, 0.1], 1.0, (40, 2))
    pilot = growth_test(x[:20], 1)
    found = conclusions(x, pilot, since=20, alpha=0.05, share=0.1, alternative="two-sided")
    assert found.clear.tolist() == [True, False]
    np.testing.assert_allclose(found.intervals[0], pilot.intervals(0.1 * 0.05 / 2)[0])
    np.testing.assert_allclose(found.intervals[1], growth_test(x, 20).intervals(0.9 * 0.05 / 2)[1])


def test_without_a_pilot_that_chose_the_size_the_tests_are_the_ordinary_ones():
    x = np.random.default_rng(4).normal(0.4, 1.0, (25, 3))
    found = conclusions(x, None, since=20, alpha=0.05, share=0.1, alternative="two-sided")
    p = stats.ttest_1samp(x, 0).pvalue
    np.testing.assert_allclose(found.adjusted, step_down(p, 0.05).adjusted, rtol=1e-9)
    assert not found.clear.any()


def test_a_one_sided_interval_is_open_at_the_other_end():
    x = np.random.default_rng(5).normal(0.4, 1.0, (25, 1))
    assert growth_test(x, 5, alternative="greater").intervals(0.05)[0, 1] == math.inf
    assert growth_test(x, 5, alternative="less").intervals(0.05)[0, 0] == -math.inf


@pytest.mark.parametrize("studies", [5000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_the_level_is_exact_whatever_the_pilots_variance_chooses(studies):
    """A rule that runs on where the pilot varied little, and stops at once where it varied much: p stays uniform."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(studies, 60))
    size = np.where(x[:, :10].var(axis=1, ddof=1) < 0.8, 60, 14)
    p = np.empty(len(x))
    for n in (14, 60):
        p[size == n] = growth_test(x[size == n, :n].T, 10).p_values
    for level in (0.01, 0.05, 0.2):
        assert abs((p <= level).mean() - level) < 4 * math.sqrt(level / len(x))


def test_a_first_instance_that_is_missing_leaves_the_ordinary_test_of_the_others():
    rng = np.random.default_rng(8)
    x = rng.normal(0.4, 1, (15, 1))
    missing = np.vstack([[[np.nan]], x])
    for since in (1, 3):
        found = growth_test(np.vstack([np.full((since - 1, 1), np.nan), missing]), since)
        np.testing.assert_allclose(found.p_values, growth_test(x, 1).p_values, rtol=1e-12)
        assert found.freedom.item() == 14
