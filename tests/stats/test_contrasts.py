"""Differences and squared standard errors of all pairs, as arrays."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ampler.core.errors import InvalidRule
from ampler.stats.contrasts import contrasts_among, contrasts_of

CASES = [
    (difference, reference, formula)
    for difference in ("simple", "percent", "ratio")
    for reference in (None, 0, 2)
    for formula in ("delta", "paper")
]
positive = st.floats(0.01, 100.0)


def one_pair(theta, v, i, j, difference, reference, formula):
    """One pair at a time, by the textbook: the gradient of the difference, squared, times v."""
    size, mean = len(theta), sum(theta) / len(theta)
    if difference == "simple":
        return theta[i] - theta[j], v[i] + v[j]
    if difference == "ratio":
        return math.log(theta[i] / theta[j]), v[i] / theta[i] ** 2 + v[j] / theta[j] ** 2
    if reference is not None:
        return 1 - theta[j] / theta[i], v[i] * (theta[j] / theta[i] ** 2) ** 2 + v[j] / theta[i] ** 2
    phi = (theta[i] - theta[j]) / mean
    if formula == "paper":
        return phi, (v[i] + v[j] + (phi / size) ** 2 * sum(v)) / mean**2
    gradient = [int(k == i) - int(k == j) - phi / size for k in range(size)]
    return phi, sum(g * g * u for g, u in zip(gradient, v, strict=True)) / mean**2


@pytest.mark.costly
@pytest.mark.parametrize(("difference", "reference", "formula"), CASES)
@given(numbers=st.lists(st.tuples(positive, st.floats(0.0, 10.0)), min_size=3, max_size=8))
@settings(max_examples=40)
def test_all_pairs_at_once_are_the_pairs_one_by_one(difference, reference, formula, numbers):
    theta, v = np.array(numbers).T
    contrasts = contrasts_among(len(theta), difference=difference, reference=reference, formula=formula)
    phi, squares = contrasts.differences(theta), contrasts.squared_errors(theta, v)
    for pair, (i, j) in enumerate(zip(contrasts.first, contrasts.second, strict=True)):
        wanted_phi, wanted_square = one_pair(theta, v, i, j, difference, reference, formula)
        assert phi[pair] == pytest.approx(wanted_phi, rel=1e-12, abs=1e-12)
        # Where shares near ±1 cancel, the last digits of the largest term are what there is.
        # Below the smallest normal number there are none.
        noise = 1e-13 * v.sum() / theta.mean() ** 2 + np.finfo(float).tiny
        assert squares[pair] == pytest.approx(wanted_square, rel=1e-10, abs=noise)
        assert squares[pair] >= 0.0


@pytest.mark.parametrize(("difference", "reference", "formula"), CASES)
def test_instances_on_leading_axes_are_independent(difference, reference, formula):
    rng = np.random.default_rng(3)
    theta, v = rng.uniform(1, 2, (4, 5)), rng.uniform(0, 1, (4, 5))
    contrasts = contrasts_among(5, difference=difference, reference=reference, formula=formula)
    for together, alone in (
        (contrasts.differences(theta), [contrasts.differences(t) for t in theta]),
        (contrasts.squared_errors(theta, v), [contrasts.squared_errors(t, u) for t, u in zip(theta, v, strict=True)]),
        (contrasts.best_ratios(theta, v), [contrasts.best_ratios(t, u) for t, u in zip(theta, v, strict=True)]),
    ):
        np.testing.assert_allclose(together, alone, rtol=1e-14)


@pytest.mark.parametrize(("difference", "reference", "formula"), CASES)
def test_the_best_ratio_makes_the_error_of_its_pair_smallest(difference, reference, formula):
    theta, spread = np.array([3.0, 5.0, 4.0]), np.array([4.0, 1.0, 9.0])
    contrasts = contrasts_among(3, difference=difference, reference=reference, formula=formula)
    for pair, ratio in enumerate(contrasts.best_ratios(theta, spread)):

        def error(r, pair=pair):
            counts = np.full(3, 50.0)
            counts[contrasts.first[pair]], counts[contrasts.second[pair]] = 100 * r / (1 + r), 100 / (1 + r)
            return contrasts.squared_errors(theta, spread / counts)[pair]

        assert error(ratio) <= min(error(ratio * 1.01), error(ratio / 1.01))


def test_pairs_are_reference_first_or_earlier_first():
    contrasts = contrasts_among(4, difference="simple", reference=2)
    assert list(zip(contrasts.first.tolist(), contrasts.second.tolist(), strict=True)) == [(2, 0), (2, 1), (2, 3)]
    contrasts = contrasts_among(3, difference="simple")
    assert list(zip(contrasts.first.tolist(), contrasts.second.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"difference": "logs"}, '"simple", "percent" or "ratio", got \'logs\''),
        ({"reference": "full"}, "one of the algorithms 'a', 'b', got 'full'"),
        ({"formula": "exact"}, '"delta" or "paper", got \'exact\''),
    ],
)
def test_a_wrong_word_is_named(words, message):
    with pytest.raises(InvalidRule, match=message):
        contrasts_of(("a", "b"), **{"difference": "simple", "reference": None, "formula": "delta"} | words)


@pytest.mark.parametrize(
    ("difference", "reference"),
    [("simple", 0), ("percent", 0), ("percent", 2), ("percent", None), ("ratio", None)],
)
def test_the_curvature_is_the_bias_of_differences_of_noisy_statistics(difference, reference):
    theta, v = np.array([10.0, 14.0, 9.0, 12.0]), np.array([0.04, 0.01, 0.05, 0.02])
    contrasts = contrasts_among(4, difference=difference, reference=reference)
    noise = np.random.default_rng(3).standard_normal((200_000, 4)) * np.sqrt(v)
    both = (contrasts.differences(theta + noise) + contrasts.differences(theta - noise)) / 2  # odd orders cancel

    error = both.std(axis=0) / np.sqrt(len(both))
    bias = both.mean(axis=0) - contrasts.differences(theta)
    np.testing.assert_allclose(contrasts.curvature(theta, v), bias, atol=4 * error.max() + 1e-12)
