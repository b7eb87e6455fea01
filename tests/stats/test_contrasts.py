"""Differences and squared standard errors of all pairs, as arrays."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidRule
from ampler.stats.contrasts import contrasts_among, contrasts_of

CASES = [
    (difference, reference, formula)
    for difference in ("simple", "percent", "ratio")
    for reference in (None, 0, 2)
    for formula in ("corrected", "delta", "paper")
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


@pytest.mark.parametrize(("difference", "reference", "formula"), CASES)
@given(numbers=st.lists(st.tuples(positive, st.floats(0.0, 10.0)), min_size=3, max_size=8))
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


# run noise ------------------------------------------------------------------------------------------------------------

RUNS = {
    "normal": lambda rng, cv, shape: 1 + cv * rng.standard_normal(shape),
    "gamma": lambda rng, cv, shape: rng.gamma(1 / cv**2, cv**2, shape),
    "lognormal": lambda rng, cv, shape: np.exp(
        np.sqrt(np.log1p(cv * cv)) * rng.standard_normal(shape) - np.log1p(cv * cv) / 2
    ),
}
NOISY = [  # by how much of the bias that is there the correction may miss
    *((kind, 0.2, n, 0.1) for kind in RUNS for n in (3, 5, 10)),
    *((kind, 1.0, n, 0.35) for kind in ("gamma", "lognormal") for n in (5, 10, 30)),
]


@pytest.mark.parametrize(("difference", "reference"), [("ratio", None), ("percent", 0), ("percent", None)])
@pytest.mark.parametrize(("kind", "cv", "n", "share"), NOISY)
def test_the_bias_that_run_noise_makes_is_corrected(difference, reference, kind, cv, n, share):
    """One noisy algorithm beside one that always gives the same value; both are equal on average."""
    values = RUNS[kind](np.random.default_rng([n, int(10 * cv)]), cv, (100_000, n))
    theta = np.column_stack([values.mean(axis=1), np.ones(len(values))])
    v = np.column_stack([values.var(axis=1, ddof=1) / n, np.zeros(len(values))])
    contrasts = contrasts_among(2, difference=difference, reference=reference, formula="corrected")
    corrected, factors = contrasts.corrected(theta, v)
    plain, found = (contrasts.differences(each)[:, 0] for each in (theta, corrected))
    chance = 4 * found.std() / np.sqrt(len(found))
    assert abs(plain.mean()) > 4 * plain.std() / np.sqrt(len(plain))
    assert abs(found.mean()) < share * abs(plain.mean()) + chance
    errors = np.sqrt(contrasts.squared_errors(corrected, v * factors)[:, 0])
    assert np.sqrt((errors**2).mean()) > (0.93 if cv < 1 else 0.75) * found.std()


@given(
    theta=st.lists(positive, min_size=3, max_size=3),
    noise=st.lists(st.floats(0.0, 0.3), min_size=3, max_size=3),
    reference=st.sampled_from([None, 1]),
)
def test_the_correction_is_that_of_second_order_where_noise_is_small(theta, noise, reference):
    theta = np.array(theta)
    for difference in ("ratio", "percent"):
        contrasts = contrasts_among(3, difference=difference, reference=reference, formula="corrected")
        for size in (1e-3, 1e-4):
            v = size * np.square(np.array(noise) * theta)
            corrected = contrasts.differences(contrasts.corrected(theta, v)[0])
            wanted = contrasts.differences(theta) - contrasts.curvature(theta, v)
            scale = 1 + np.abs(wanted).max() + (theta.max() / theta.min()) ** 2
            np.testing.assert_allclose(corrected, wanted, atol=20 * (v / theta**2).max() ** 2 * scale + 1e-12)


@pytest.mark.parametrize(("difference", "reference"), [("ratio", None), ("percent", 0), ("percent", None)])
def test_what_has_no_noise_or_none_that_is_known_is_not_corrected(difference, reference):
    contrasts = contrasts_among(3, difference=difference, reference=reference, formula="corrected")
    theta = np.array([[1.0, 2.0, 5.0]])
    for v in (np.zeros((1, 3)), np.full((1, 3), np.nan)):
        corrected, factors = contrasts.corrected(theta, v)
        np.testing.assert_array_equal(corrected, theta)
        np.testing.assert_array_equal(factors, np.ones((1, 3)))


@given(st.floats(1e-6, 1e6), st.floats(0.0, 1e300), st.sampled_from([None, 0, 1]))
def test_corrected_statistics_stay_positive_and_finite(theta, v, reference):
    for difference in ("ratio", "percent"):
        contrasts = contrasts_among(2, difference=difference, reference=reference, formula="corrected")
        corrected, factors = contrasts.corrected(np.array([theta, 1.0]), np.array([v, v]))
        assert (corrected > 0).all()
        assert np.isfinite(corrected).all()
        assert np.isfinite(factors).all()


def test_only_the_newest_formula_corrects_and_only_what_is_divided():
    for formula in ("corrected", "delta", "paper"):
        for difference in ("simple", "percent", "ratio"):
            contrasts = contrasts_among(2, difference=difference, formula=formula)
            relative = formula == "corrected" and difference != "simple"
            assert contrasts.corrects(unbiased=True) == relative
            assert contrasts.corrects(unbiased=False) == (relative and difference == "percent")
