"""What the differences say at each look: against scipy's tests, at any magnitude, with gaps."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.helpers.sequential import t_evidence

from ampler.stats.sequential.decisions import equivalence_p_values

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "sequential.json").read_text())
LOOKS = (8, 14, 20)


def drawn(seed, comparisons=4):
    return np.random.default_rng(seed).normal(0.3, 1.0, (20, comparisons))


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_p_values_are_those_of_t_tests_on_the_first_instances(alternative):
    x = drawn(1)
    found = t_evidence(x, LOOKS, alternative=alternative)
    expected = [stats.ttest_1samp(x[:n], 0.0, alternative=alternative).pvalue for n in LOOKS]
    np.testing.assert_allclose(found.p_values, expected, rtol=1e-10)
    assert found.counts.tolist() == [[n] * 4 for n in LOOKS]


def test_missing_differences_are_left_out_of_their_comparison_alone():
    x = drawn(2)
    x[[3, 9], 1] = np.nan
    found = t_evidence(x, LOOKS)
    assert found.counts[:, 1].tolist() == [7, 12, 18]
    assert found.p_values[2, 1] == pytest.approx(stats.ttest_1samp(x[~np.isnan(x[:, 1]), 1], 0).pvalue, rel=1e-10)
    np.testing.assert_array_equal(found.p_values[:, 0], t_evidence(x[:, :1], LOOKS).p_values[:, 0])


def test_a_comparison_with_one_difference_has_no_p_value():
    x = np.full((20, 1), np.nan)
    x[0] = 1.0
    assert np.isnan(t_evidence(x, LOOKS, effect=0.5).p_values).all()


def test_constant_differences_are_not_known_and_zeros_are_no_evidence():
    x = np.column_stack([np.full(20, 0.3), np.zeros(20)])
    found = t_evidence(x, LOOKS, effect=0.5)
    np.testing.assert_array_equal(found.p_values[-1], [np.nan, 1.0])
    assert np.isnan(found.equivalence[-1, 0])
    assert found.equivalence[-1, 1] == pytest.approx(stats.norm.cdf(-0.5 * math.sqrt(20)), rel=1e-6)


@given(seed=st.integers(0, 1000), exponent=st.integers(-900, 900), sign=st.sampled_from([-1, 1]))
def test_scale_and_sign_change_no_p_value(seed, exponent, sign):
    x = drawn(seed)
    plain, scaled = t_evidence(x, LOOKS, effect=0.5), t_evidence(sign * np.ldexp(x, exponent), LOOKS, effect=0.5)
    np.testing.assert_allclose(scaled.p_values, plain.p_values, rtol=1e-9)
    np.testing.assert_allclose(scaled.equivalence, plain.equivalence, rtol=1e-9)


def test_equivalence_is_the_lower_tail_of_the_noncentral_t():
    t, n = np.array([0.2, 1.1, 2.5]), np.array([20, 35, 58])
    expected = [stats.nct.cdf(ti, ni - 1, 0.5 * math.sqrt(ni)) for ti, ni in zip(t, n, strict=True)]
    np.testing.assert_allclose(equivalence_p_values(t, n, 0.5), expected, rtol=1e-8)


@pytest.mark.parametrize("row", GOLD["equivalence"], ids=lambda row: str(row["instances"]))
def test_the_largest_statistic_that_stops_for_equivalence_is_the_reference_one(row):
    n, limits = np.array(row["instances"]), np.array(row["largest_abs_t"])
    found = equivalence_p_values(np.maximum(limits, 0.0), n, row["effect"])
    never = limits < 0
    np.testing.assert_allclose(found[~never], np.array(row["nominal_one_sided"])[~never], rtol=1e-6)
    assert (found[never] > np.array(row["nominal_one_sided"])[never]).all()
