"""The level of the t-test after a pilot has chosen the size: by simulation, by another integral, and its laws."""

import math
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from ampler.stats import internal_pilot
from ampler.stats.internal_pilot import error_rates, nominal_levels

MANY = 10**6


def simulated_error(level_of, pilot, available, factor, alpha, studies=400_000):
    """The error rate where N is a factor times the pilot's variance, from sums of squares and means."""
    rng = np.random.default_rng([20261120, pilot, round(100 * factor)])
    first = rng.chisquare(pilot - 1, studies)
    size = np.clip(np.ceil(factor * pilot * first / (pilot - 1)), pilot, available)
    later = np.where(size > pilot, rng.chisquare(np.maximum(size - pilot, 1e-9)), 0.0)
    t = np.abs(rng.normal(size=studies)) / np.sqrt((first + later) / (size - 1))
    return np.mean(t > stats.t.isf(level_of(alpha, size) / 2, size - 1))


@pytest.mark.parametrize(("pilot", "available"), [(20, MANY), (20, 40), (10, MANY)])
def test_no_true_variance_makes_the_test_err_more_often_than_alpha(pilot, available):
    for alpha in (0.05, 0.01, 0.05 / 21):
        errors = [
            simulated_error(lambda a, n: nominal_levels(a, n, pilot, available), pilot, available, factor, alpha)
            for factor in (1.0, 1.5, 2.0, 2.5, 3.0, 5.0, 10.0)
        ]
        assert max(errors) < alpha + 4 * math.sqrt(alpha / 400_000)
        assert max(errors) > 0.95 * alpha - 3 * math.sqrt(alpha / 400_000), "the level is used up somewhere"


def test_without_lowering_it_would():
    assert simulated_error(lambda a, n: a, 20, MANY, 2.0, 0.05) > 0.056


def test_the_error_rate_is_that_of_another_integral():
    """One true variance, pilot 10, level 0.01, by nested quadrature over densities."""
    pilot, factor, alpha = 10, 3.0, 0.01

    def given_pilot(v):
        size = max(pilot, factor * pilot * v / (pilot - 1))
        critical = stats.t.isf(nominal_levels(alpha, size, pilot, MANY) / 2, size - 1)
        if size - pilot < 1e-9:
            return 2 * stats.norm.sf(critical * math.sqrt(v / (size - 1)))
        later = stats.chi2(size - pilot)
        u = (np.arange(400) + 0.5) / 400
        return 2 * stats.norm.sf(critical * np.sqrt((v + later.ppf(u)) / (size - 1))).mean()

    found, _ = integrate.quad(lambda v: stats.chi2.pdf(v, pilot - 1) * given_pilot(v), 0, 40, limit=200)
    assert 0.9 * alpha < found < 1.01 * alpha


@given(
    st.floats(1e-15, 1.0), st.integers(20, 2000), st.sampled_from([(20, MANY), (20, 45), (5, 300)]),
    st.sampled_from(["two-sided", "less"]),
)  # fmt: skip
def test_p_values_are_the_inverse_of_levels(alpha, instances, sizes, alternative):
    nominal = nominal_levels(alpha, instances, *sizes, alternative)
    assert nominal <= alpha
    back = error_rates(np.array([nominal.item()]), np.array([float(instances)]), *sizes, alternative)
    if nominal * (1 if alternative == "two-sided" else 2) < 1:
        np.testing.assert_allclose(back, alpha, rtol=1e-9)


@given(st.integers(20, 500))
def test_stronger_evidence_has_a_smaller_p_value(instances):
    p = np.geomspace(1e-40, 1.0, 300)
    assert (np.diff(error_rates(p, np.full(300, float(instances)), 20, MANY)) > 0).all()


def test_one_side_has_half_of_the_error_rate_at_twice_the_level():
    two, one = (nominal_levels(a, 30, 20, MANY, side) for a, side in ((0.05, "two-sided"), (0.025, "less")))
    assert 2 * one == pytest.approx(two, rel=1e-12)


def test_certain_and_hopeless_p_values_stay():
    assert error_rates(np.array([0.0, 1.0]), np.array([20.0, 20.0]), 20, MANY).tolist() == [0.0, 1.0]
    assert error_rates(np.array([0.7]), np.array([20.0]), 20, MANY, "less").tolist() == [0.7]


def test_where_no_size_can_be_chosen_levels_stay():
    assert nominal_levels([0.05, 1e-5], 20, 20, 20).tolist() == [0.05, 1e-5]


def test_many_instances_need_hardly_a_lower_level():
    levels = nominal_levels(0.05, [20, 40, 80, 4000], 20, MANY)
    assert levels[0] == levels[1] < levels[2] < levels[3]
    assert levels[3] > 0.0498


def test_it_takes_milliseconds_and_is_remembered():
    nominal_levels(0.05, 30, 21, MANY)
    internal_pilot._lowering.cache_clear()
    began = process_time()
    nominal_levels(0.05, 30, 21, MANY)
    assert process_time() - began < 0.2
    assert internal_pilot._lowering.cache_info().currsize == 1
