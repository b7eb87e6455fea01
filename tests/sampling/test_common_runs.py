"""Runs that are the same on every instance: they suffice, cost little, and follow the noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from ampler.sampling.bias import common_runs
from ampler.stats.contrasts import contrasts_among

KINDS = [(difference, reference) for difference in ("simple", "percent", "ratio") for reference in (None, 1)]


def drawn(seed, algorithms=5, instances=12):
    rng = np.random.default_rng(seed)
    theta = 100 + rng.normal(0, 5, (instances, algorithms)) + rng.normal(0, 20, (instances, 1))
    return theta, np.exp(rng.normal(2, 0.7, (instances, algorithms)))


def accuracy(runs, lower, share):
    return float(np.sqrt(share * runs.squared_errors(lower).max()))


@pytest.mark.parametrize(("difference", "reference"), KINDS)
@given(seed=st.integers(0, 1000), counts=st.lists(st.integers(2, 30), min_size=5, max_size=5))
def test_noise_is_the_mean_squared_error_over_the_instances(difference, reference, seed, counts):
    contrasts = contrasts_among(5, difference=difference, reference=reference)
    theta, variances = drawn(seed)
    found = common_runs(contrasts, theta, variances).squared_errors(np.array(counts, dtype=float))
    expected = contrasts.squared_errors(theta, variances / counts).mean(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(("difference", "reference"), KINDS)
@given(seed=st.integers(0, 1000), share=st.floats(0.02, 1.0))
def test_the_runs_suffice_are_whole_and_never_below_those_that_are_there(difference, reference, seed, share):
    runs = common_runs(contrasts_among(5, difference=difference, reference=reference), *drawn(seed))
    lower = np.full(5, 5.0)
    se = accuracy(runs, lower, share)
    counts = runs.fewest(se, lower)
    assert (counts >= lower).all()
    assert (counts == np.round(counts)).all()
    assert runs.squared_errors(counts).max() <= se**2 * (1 + 1e-6)


@pytest.mark.parametrize(("difference", "reference"), KINDS)
@settings(max_examples=settings().max_examples // 5)
@given(seed=st.integers(0, 1000), share=st.floats(0.01, 0.5))
def test_the_cost_is_close_to_that_of_a_general_solver(difference, reference, seed, share):
    runs = common_runs(contrasts_among(5, difference=difference, reference=reference), *drawn(seed))
    lower, costs = np.full(5, 5.0), np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    se = accuracy(runs, lower, share)
    counts = runs.fewest(se, lower, costs)
    # in units of the answer all numbers are near 1
    price, share_of = (
        costs * counts,
        runs.noise / counts / se**2,
    )
    solved = minimize(
        lambda u: float((price / u).sum() / price.sum()),
        np.full(5, 0.98),
        jac=lambda u: -price / u**2 / price.sum(),
        constraints={"type": "ineq", "fun": lambda u: 1 - share_of @ u, "jac": lambda _: -share_of},
        bounds=[(0.01, high) for high in counts / lower],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-9},
    )
    assert solved.success
    assert price.sum() <= 1.03 * solved.fun * price.sum() + costs.sum()  # rounding up takes a run of each at most


def test_comparisons_that_are_decided_no_longer_ask_for_runs():
    theta, variances = np.full((6, 4), 50.0), np.ones((6, 4))
    variances[:, 3] = 400.0
    contrasts = contrasts_among(4, difference="simple", reference=0)
    every, some = (
        common_runs(contrasts, theta, variances, going).fewest(0.5, np.full(4, 5.0))
        for going in (None, np.array([True, True, False]))
    )
    assert every[3] > 1000
    assert some[3] == 5
    assert some[0] < every[0]


def test_missing_cells_are_left_out_of_the_means():
    theta, variances = drawn(3)
    contrasts = contrasts_among(5, difference="simple", reference=0)
    gaps = variances.copy()
    gaps[0, 2] = np.nan
    holed = theta.copy()
    holed[0, 2] = np.nan
    found = common_runs(contrasts, holed, gaps).noise
    np.testing.assert_allclose(found[1, 2], variances[1:, 2].mean())
    np.testing.assert_allclose(found[0], common_runs(contrasts, theta, variances).noise[0])


def test_noiseless_algorithms_need_no_more_runs():
    contrasts = contrasts_among(3, difference="simple", reference=0)
    runs = common_runs(contrasts, np.full((5, 3), 9.0), np.zeros((5, 3)))
    assert runs.fewest(0.1, np.full(3, 4.0)).tolist() == [4.0, 4.0, 4.0]
