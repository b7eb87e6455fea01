"""The prior of variances: what it finds in simulated ones, and each step against a slow version."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import polygamma, psi

from ampler.stats.variance_bounds import CALIBRATIONS, MAX_PRIOR_DEGREES, NEWEST, fitted_prior, moderated

CAUTION = CALIBRATIONS[NEWEST].caution


def slow_moderated(variances, degrees):
    """One variance at a time, with scipy's polygamma and a root finder."""
    used = [k for k in range(len(variances)) if variances[k] > 0 and degrees[k] > 0]
    if len(used) < 2:
        return variances
    half = degrees[used] / 2
    logs = np.log(variances[used]) - psi(half) + np.log(half)
    excess = logs.var(ddof=1) - polygamma(1, half).mean()
    prior = MAX_PRIOR_DEGREES
    if excess > polygamma(1, prior / 2):
        prior = 2 * brentq(lambda y: polygamma(1, y) - excess, 1e-8, prior / 2, xtol=1e-15, rtol=1e-14)
    typical = np.exp(logs.mean() + psi(prior / 2) - np.log(prior / 2))
    shrunk = np.array([(d * v + prior * typical) / (d + prior) for v, d in zip(variances, degrees, strict=True)])
    return shrunk * variances.mean() / shrunk.mean()


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.floats(0.0, 4.0))
def test_moderated_variances_agree_with_a_slow_version(seed, size, spread):
    rng = np.random.default_rng(seed)
    degrees = rng.integers(0, 20, size).astype(float)
    variances = np.exp(spread * rng.normal(size=size)) * rng.chisquare(5, size) / 5
    variances[rng.random(size) < 0.2] = 0.0
    np.testing.assert_allclose(moderated(variances, degrees), slow_moderated(variances, degrees), rtol=1e-10)


def test_problems_side_by_side_are_solved_each_by_itself():
    rng = np.random.default_rng(2)
    variances, degrees = rng.chisquare(4, (6, 9)), rng.integers(1, 12, (6, 9)).astype(float)
    together = fitted_prior(variances, degrees, caution=CAUTION)
    for row in range(6):
        alone = fitted_prior(variances[row], degrees[row], caution=CAUTION)
        assert (together.degrees[row], together.variance[row]) == pytest.approx(
            (float(alone.degrees), float(alone.variance))
        )
    np.testing.assert_allclose(moderated(variances, degrees)[3], moderated(variances[3], degrees[3]), rtol=1e-14)


def test_caution_takes_variances_to_differ_more_than_they_seem_to():
    rng = np.random.default_rng(4)
    variances = np.exp(rng.normal(0, 1.0, (50, 8))) * rng.chisquare(9, (50, 8)) / 9
    degrees = np.full_like(variances, 9.0)
    plain, cautious = (
        fitted_prior(variances, degrees),
        fitted_prior(variances, degrees, caution=CAUTION),
    )
    assert (cautious.degrees < plain.degrees).all()


@pytest.mark.parametrize("variances", [[0.0, 0.0], [3.0, 0.0]])
def test_a_variance_alone_has_nothing_to_borrow(variances):
    prior = fitted_prior(np.array(variances), np.full(2, 5.0))
    assert prior.degrees == 0.0
    assert moderated(np.array(variances), np.full(2, 5.0)).tolist() == variances


def test_the_prior_finds_the_variance_that_algorithms_share():
    rng = np.random.default_rng(8)
    variances = 4.0 * rng.chisquare(20, (200, 500)) / 20
    prior = fitted_prior(variances, np.full_like(variances, 20.0), caution=CAUTION)
    assert np.median(prior.degrees) == pytest.approx(50.0)  # alike, so the cap holds
    assert np.median(prior.variance) == pytest.approx(4.0, rel=0.05)


def test_the_prior_finds_how_much_variances_differ():
    rng = np.random.default_rng(9)
    true = 4.0 * 6 / rng.chisquare(6, (400, 200))
    prior = fitted_prior(true * rng.chisquare(15, true.shape) / 15, np.full_like(true, 15.0), caution=CAUTION)
    assert np.median(prior.degrees) == pytest.approx(6.0, rel=0.15)
    assert np.median(prior.variance) == pytest.approx(4.0, rel=0.1)


def test_few_algorithms_borrow_less_than_many_with_the_same_spread():
    rng = np.random.default_rng(10)
    few, many = (
        fitted_prior(rng.chisquare(20, (4000, size)), np.full((4000, size), 20.0), caution=CAUTION).degrees
        for size in (2, 40)
    )
    assert np.mean(few > 49.9) < np.mean(many > 49.9)
    assert np.median(few) < np.median(many)


def test_noise_that_is_the_same_everywhere_is_not_taken_to_differ():
    rng = np.random.default_rng(3)
    alike = moderated(rng.chisquare(2, size=200) / 2, np.full(200, 2.0))
    assert alike.mean() == pytest.approx(1.0, abs=0.25)
    assert alike.std() < 0.1
    different = np.repeat([0.01, 100.0], 100)
    kept = moderated(different * rng.chisquare(9, size=200) / 9, np.full(200, 9.0))
    assert kept[100:].mean() / kept[:100].mean() > 1000
