"""The optimum for known variances: against an independent solver, closed forms and its own laws."""

from __future__ import annotations

import numpy as np
import pytest
from barrier import exact_counts
from hypothesis import given
from hypothesis import strategies as st

from ampler.sampling.allocation import AllPairs, optimal_counts, pairs_of
from ampler.stats.contrasts import contrasts_among

CASES = [
    ("simple", True, "delta"),
    ("simple", False, "delta"),
    ("ratio", True, "delta"),
    ("ratio", False, "delta"),
    ("percent", True, "delta"),
    ("percent", False, "delta"),
    ("percent", False, "paper"),
]

SOLVERS = pytest.mark.parametrize("solver", [optimal_counts, exact_counts])


class Problem:
    """A random instance: unequal means, sds over two orders of magnitude, bounds that bind or not."""

    def __init__(self, case, seed, *, largest=11):
        difference, reference, formula = case
        self.rng = rng = np.random.default_rng([seed, len(difference), reference])
        size = int(rng.integers(2, largest))
        place = int(rng.integers(size)) if reference else None
        self.contrasts = contrasts_among(size, difference=difference, reference=place, formula=formula)
        self.means = rng.uniform(5, 15, size)
        self.variances = np.exp(rng.normal(0, 1.2, size)) ** 2
        self.lower = np.full(size, 10.0) if seed % 2 else rng.integers(2, 60, size).astype(float)
        self.costs = rng.uniform(0.1, 10, size) if seed % 3 else np.ones(size)
        self.pairs = pairs_of(self.contrasts, self.variances, self.means)
        self.se = float(self.pairs.largest_error(self.lower)) / np.sqrt(rng.uniform(1.02, 25))

    def cost(self, counts):
        return float(self.costs @ counts)

    def solved(self):
        return exact_counts(self.pairs, self.se, self.lower, self.costs)


def independent_optimum(problem):
    """Solve the convex program in u = v·lower/s² by SLSQP; the constraints come from the formulas of each pair."""
    from scipy.optimize import minimize

    size = len(problem.means)
    rows = np.array([problem.contrasts.squared_errors(problem.means, unit) for unit in np.eye(size)]).T
    rows = rows * (problem.variances / problem.lower) / problem.se**2
    price = problem.costs * problem.lower
    start = np.full(size, min(1.0, 0.9 / rows.sum(axis=1).max()))
    scale = (price / start).sum()
    answer = minimize(
        lambda u: (price / u).sum() / scale,
        start,
        jac=lambda u: -price / u**2 / scale,
        bounds=[(1e-9, 1.0)] * size,
        constraints=[{"type": "ineq", "fun": lambda u: 1 - rows @ u, "jac": lambda u: -rows}],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    assert (rows @ answer.x).max() <= 1 + 1e-6
    return answer.fun * scale


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_optimum_is_that_of_an_independent_solver(case):
    for seed in range(36):  # 252 problems in all, two thirds of them with costs
        problem = Problem(case, seed)
        counts = problem.solved()
        assert problem.cost(counts) == pytest.approx(independent_optimum(problem), rel=5e-5)
        assert problem.pairs.largest_error(counts) <= problem.se * (1 + 1e-9)
        assert (counts >= problem.lower * (1 - 1e-12)).all()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_optimum_is_that_of_an_independent_solver_for_many_algorithms(case):
    for seed in range(200, 212):
        problem = Problem(case, seed, largest=30)
        assert problem.cost(problem.solved()) == pytest.approx(independent_optimum(problem), rel=1e-4)


@pytest.mark.parametrize("case", CASES, ids=str)
@given(seed=st.integers(1000, 10_000))
def test_no_algorithm_above_its_bound_can_do_with_fewer_runs(case, seed):
    problem = Problem(case, seed)
    counts = problem.solved()
    for k in np.flatnonzero(counts > problem.lower * 1.01):
        fewer = counts.copy()
        fewer[k] *= 0.995
        assert problem.pairs.largest_error(fewer) > problem.se


def test_equal_sds_with_a_reference_give_dunnetts_square_root_rule():
    size, se = 10, 0.05
    pairs = pairs_of(contrasts_among(size, difference="simple", reference=0), np.ones(size), np.zeros(size))
    counts = optimal_counts(pairs, se, np.ones(size))
    assert counts[0] / counts[1] == pytest.approx(np.sqrt(size - 1))
    assert counts.sum() == pytest.approx((1 + np.sqrt(size - 1)) ** 2 / se**2)


def test_the_total_with_a_reference_has_a_closed_form():
    deviations = np.array([3.0, 1.0, 0.5, 7.0, 2.0])
    pairs = pairs_of(contrasts_among(5, difference="simple", reference=0), deviations**2, np.zeros(5))
    total = (3.0 + np.sqrt((deviations[1:] ** 2).sum())) ** 2 / 0.1**2
    assert optimal_counts(pairs, 0.1, np.ones(5)).sum() == pytest.approx(total)


def test_one_noisy_algorithm_among_equals_gets_more_than_half_of_the_error():
    noise = np.array([100.0, 1.0, 1.0, 1.0])
    counts = optimal_counts(pairs_of(contrasts_among(4, difference="simple"), noise, np.zeros(4)), 1.0, np.ones(4))
    ratio = np.sqrt(3 / 100)
    np.testing.assert_allclose(noise / counts, [1 / (1 + ratio), *[ratio / (1 + ratio)] * 3])


@pytest.mark.parametrize("already", [70.0, 100.0])
def test_what_a_noisy_algorithm_has_been_run_too_often_spares_the_others(already):
    """Sixty runs of the first and thirty of the second would be the cheapest way to an error of √0.1."""
    pairs = pairs_of(contrasts_among(2, difference="simple"), np.array([4.0, 1.0]), np.zeros(2))
    counts = optimal_counts(pairs, np.sqrt(0.1), np.array([already, 10.0]))
    np.testing.assert_allclose(counts, [already, 1 / (0.1 - 4 / already)])


@SOLVERS
@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_enough_already_needs_no_more_runs(case, solver):
    problem = Problem(case, 7)
    counts = solver(problem.pairs, 1.001 * float(problem.pairs.largest_error(problem.lower)), problem.lower)
    np.testing.assert_allclose(counts, problem.lower)


@SOLVERS
@pytest.mark.parametrize("case", CASES, ids=str)
def test_algorithms_without_noise_stay_at_their_bound(case, solver):
    difference, reference, formula = case
    contrasts = contrasts_among(4, difference=difference, reference=0 if reference else None, formula=formula)
    for variances in ([0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 0.0, 0.0]):
        pairs = pairs_of(contrasts, np.array(variances), np.full(4, 10.0))
        se = float(pairs.largest_error(np.full(4, 50.0)))
        counts = solver(pairs, se, np.full(4, 10.0))
        np.testing.assert_allclose(counts[np.array(variances) == 0], 10.0)
        assert pairs.largest_error(counts) == pytest.approx(se, rel=1e-5)


@SOLVERS
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_batch_gives_what_each_of_its_problems_gives(case, solver):
    difference, reference, formula = case
    rng = np.random.default_rng(2)
    contrasts = contrasts_among(5, difference=difference, reference=3 if reference else None, formula=formula)
    means, variances = rng.uniform(5, 15, (2, 3, 5)), rng.uniform(0, 4, (2, 3, 5))
    lower = rng.integers(5, 40, (2, 3, 5)).astype(float)
    together = solver(pairs_of(contrasts, variances, means), 0.05, lower)
    for place in np.ndindex(2, 3):
        alone = solver(pairs_of(contrasts, variances[place], means[place]), 0.05, lower[place])
        np.testing.assert_allclose(together[place], alone, rtol=1e-9)


@pytest.mark.parametrize("spread", [0.1, 0.3])
def test_the_quick_shape_is_feasible_and_close_to_the_optimum(spread):
    rng = np.random.default_rng(4)
    extra = []
    for _ in range(60):
        size = int(rng.integers(2, 12))
        contrasts = contrasts_among(size, difference="percent")
        deviations = np.exp(rng.normal(0, 0.7, size))
        pairs = pairs_of(contrasts, deviations**2, 100 * rng.uniform(1 - spread, 1 + spread, size))
        lower = np.full(size, 10.0)
        se = float(pairs.largest_error(lower)) / np.sqrt(rng.uniform(1.5, 20))
        quick = optimal_counts(pairs, se, lower)
        assert pairs.largest_error(quick) <= se * (1 + 1e-9)
        extra.append(quick.sum() / exact_counts(pairs, se, lower).sum() - 1)
    assert np.mean(extra) < 0.01
    assert max(extra) < 0.05


@pytest.mark.parametrize("formula", ["delta", "paper"])
def test_for_two_algorithms_the_quick_shape_is_the_optimum(formula):
    rng = np.random.default_rng(5)
    for _ in range(20):
        pairs = pairs_of(
            contrasts_among(2, difference="percent", formula=formula), rng.uniform(0.1, 9, 2), rng.uniform(5, 30, 2)
        )
        lower = rng.integers(2, 20, 2).astype(float)
        se = float(pairs.largest_error(lower)) / 2
        np.testing.assert_allclose(optimal_counts(pairs, se, lower), exact_counts(pairs, se, lower), rtol=1e-4)


def test_without_noise_the_runs_made_are_enough():
    assert optimal_counts(AllPairs(np.zeros(3)), 0.1, np.full(3, 7.0)).tolist() == [7.0] * 3
