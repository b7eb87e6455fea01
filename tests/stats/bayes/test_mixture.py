"""Mixtures of normals: quantiles found again, areas that sum to 1, one component as scipy says."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import norm

from ampler.stats.bayes.posterior import Areas, NormalMixture

parts = st.lists(
    st.tuples(st.floats(0.01, 1.0), st.floats(-100, 100), st.floats(0.01, 50)), min_size=1, max_size=8
).map(lambda rows: np.array(rows).T)


def mixture(parts):
    weights, means, deviations = parts
    return NormalMixture(weights / weights.sum(), means, deviations)


CIRCLING = np.array([(1.0, 7.0, 1.0), (0.875, 0.0, 4.0), (0.25, 3.0, 3.0), (0.3125, 0.0, 0.5)]).T  # for Newton's steps


@example(CIRCLING, 0.25)
@given(parts, st.floats(0.001, 0.999))
def test_the_distribution_function_of_a_quantile_is_its_probability(parts, probability):
    found = mixture(parts)
    x = found.quantile(probability)
    assert float(found.weights @ ndtr((x - found.means) / found.deviations)) == pytest.approx(probability, abs=1e-9)


@given(parts, st.floats(0, 200))
def test_areas_are_probabilities_that_sum_to_one(parts, margin):
    areas = mixture(parts).areas(margin)
    assert min(areas.less, areas.equivalent, areas.more) >= 0
    assert areas.less + areas.equivalent + areas.more == pytest.approx(1.0, abs=1e-12)


@given(parts, st.floats(0, 200))
def test_turning_the_difference_round_turns_the_areas(parts, margin):
    found = mixture(parts)
    turned = NormalMixture(found.weights, -found.means, found.deviations)
    one, other = found.areas(margin).turned(), turned.areas(margin)
    assert (one.less, one.more) == pytest.approx((other.less, other.more), abs=1e-12)


@given(st.floats(-5, 5), st.floats(0.1, 9), st.floats(0.5, 0.99))
def test_one_component_is_a_normal_distribution(mean, deviation, level):
    found = NormalMixture(np.ones(1), np.array([mean]), np.array([deviation]))
    assert found.interval(level) == pytest.approx(norm(mean, deviation).interval(level), rel=1e-9, abs=1e-12)


def test_tiny_and_huge_units_lose_nothing():
    for unit in (1e-200, 1e200):
        found = NormalMixture(np.array([0.3, 0.7]), np.array([1.0, 2.0]) * unit, np.array([0.5, 0.1]) * unit)
        plain = NormalMixture(np.array([0.3, 0.7]), np.array([1.0, 2.0]), np.array([0.5, 0.1]))
        assert found.quantile(0.2) / unit == pytest.approx(plain.quantile(0.2), rel=1e-12)


def test_rounding_leaves_no_negative_area():
    assert Areas.of_tails(0.6, 0.4 + 1e-16).equivalent >= 0
