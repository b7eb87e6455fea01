"""The posterior of the variation between instances: against adaptive quadrature, Student's t, and its own laws."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from scipy.stats import t as student

from ampler.stats.bayes.posterior import tau_posterior


def drawn(seed, n=12, spread=1.0):
    rng = np.random.default_rng(seed)
    se = np.exp(rng.normal(-0.5, 0.7, n))
    return rng.normal(0.4, spread, n) + se * rng.normal(size=n), se


def by_quadrature(y, se, margin):
    """P(μ < −margin), P(μ > margin) and P(new > margin) by adaptive integration over τ, written out anew."""

    def density(tau):
        v = se**2 + tau**2
        m = np.sum(y / v) / np.sum(1 / v)
        log = -0.5 * (np.log(v).sum() + np.log(np.sum(1 / v)) + np.sum((y - m) ** 2 / v))
        return math.exp(log - top) * math.sqrt(np.sum((tau / v) ** 2)), m, 1 / math.sqrt(np.sum(1 / v))

    top = 0.0
    top = max(math.log(density(tau)[0]) for tau in np.geomspace(0.01, 20, 60))
    parts = [lambda d, m, s, tau: d]
    parts.append(lambda d, m, s, tau: d * norm.cdf((-margin - m) / s))
    parts.append(lambda d, m, s, tau: d * norm.sf((margin - m) / s))
    parts.append(lambda d, m, s, tau: d * norm.sf((margin - m) / math.hypot(s, tau)))
    pieces = [0, 0.05, 0.2, 0.5, 1, 2, 4, 8, 20, 100, 1e4]
    whole, *rest = (
        sum(
            quad(lambda tau, part=part: part(*density(tau), tau), a, b, epsabs=1e-13, epsrel=1e-11, limit=200)[0]
            for a, b in pairwise(pieces)
        )
        for part in parts
    )
    return [value / whole for value in rest]


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_those_of_adaptive_quadrature(seed):
    y, se = drawn(seed)
    found = tau_posterior(y, se)
    mean, new = found.mean().areas(0.3), found.new_instance().areas(0.3)
    assert [mean.less, mean.more, new.more] == pytest.approx(by_quadrature(y, se, 0.3), abs=1e-9)


@given(
    y=st.lists(st.floats(-100, 100), min_size=3, max_size=30).filter(lambda y: np.std(y) > 1e-3),
    shift=st.floats(-1000, 1000),
)
def test_exact_differences_lead_to_students_t(y, shift):
    values = np.array(y) + shift
    expected = student(len(y) - 1, values.mean(), values.std(ddof=1) / math.sqrt(len(y)))
    found = tau_posterior(values, np.zeros(len(y))).mean()
    assert found.interval(0.95) == pytest.approx(expected.interval(0.95), rel=1e-6, abs=1e-6 * expected.std())
    assert found.areas(1.0).less == pytest.approx(expected.cdf(-1.0), abs=1e-7)


@given(seed=st.integers(0, 1000), unit=st.sampled_from([1e-200, 1e-30, 3.7, 1e30, 1e200]))
def test_the_unit_does_not_matter(seed, unit):
    y, se = drawn(seed)
    plain, scaled = tau_posterior(y, se), tau_posterior(y * unit, se * unit)
    for one, other in ((plain.mean(), scaled.mean()), (plain.new_instance(), scaled.new_instance())):
        a, b = one.areas(0.3), other.areas(0.3 * unit)
        assert (a.less, a.equivalent, a.more) == pytest.approx((b.less, b.equivalent, b.more), abs=1e-10)
    assert scaled.tau_mean() / unit == pytest.approx(plain.tau_mean(), rel=1e-9)


@given(seed=st.integers(0, 1000))
def test_the_order_of_the_instances_does_not_matter(seed):
    y, se = drawn(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    assert tau_posterior(y[order], se[order]).tau_mean() == pytest.approx(tau_posterior(y, se).tau_mean(), rel=1e-10)


def test_less_exact_differences_leave_less_variation_to_the_instances():
    y, se = drawn(1)
    assert tau_posterior(y, 2 * se).tau_mean() < tau_posterior(y, se).tau_mean()
