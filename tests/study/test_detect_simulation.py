"""Whole studies that find their own size, simulated: how often they err, what they find, what they take.

The simulations are those of the benchmarks, whose seeds were fixed before the first look.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import pytest
from detect_replay import DetectOutcome, conclude, next_step
from numpy.typing import NDArray
from tests.helpers.growth import Conclusions

import ampler as am
from ampler.analysis import Analysis
from ampler.core.arrays import Floats, Runs
from ampler.design.detect import (
    EVEN_CAUTION,
    DetectGoal,
    MainPlan,
    PilotFigures,
    differing_together,
    plan_after_pilot,
    usual_caution,
    usual_early,
    usual_early_caution,
    usual_growth,
    usual_slack,
)
from ampler.sampling.bias import common_runs
from ampler.stats.contrasts import Contrasts, contrasts_among
from ampler.stats.internal_pilot import nominal_levels
from ampler.stats.resampling import bootstrap_t
from ampler.study.detect import decide_after_pilot
from ampler.study.store import read_store
from ampler.testing import SerialExecutor

# An algorithm with a mean of its own on each instance and normal runs around it; alone, as its code is looked at.


def normal_runs(means: Sequence[float], deviation: float) -> Callable[[int, int], float]:
    """Return an algorithm of the place of an instance and a seed."""
    return lambda place, seed: means[place] + deviation * random.Random(seed).gauss(0.0, 1.0)


# Studies that find their own size, on simulated differences: how often they err, what they find, what they take.
End = Literal["t", "bootstrap-t"]
World = Literal["normal", "t, 3 df", "t, 2 df", "outliers", "one-sided outliers", "exponential"]
Family = int | Literal["all"]  # so many rivals of a reference, or five algorithms all with all
SEED = 20261115  # fixed before the first look
KNOWN = 1e9  # degrees of freedom of a variance that is known
PILOT = 20


@dataclass(frozen=True)
class Truth:
    """What is true of the algorithms: their means, their sds between instances, the sd of a run."""

    means: tuple[float, ...]
    between: tuple[float, ...]
    noise: tuple[float, ...]
    reference: int | None = 0
    world: World = "normal"  # the shape of what varies between instances

    @property
    def contrasts(self) -> Contrasts:
        return contrasts_among(len(self.means), difference="simple", reference=self.reference)

    @property
    def differences(self) -> Floats:
        return self.contrasts.differences(np.array(self.means))

    def effects(self, rng: np.random.Generator, instances: int) -> Floats:
        shape = instances, len(self.means)
        return np.array(self.means) + np.array(self.between) * shaped(self.world, rng, shape)

    def runs(self, rng: np.random.Generator, effects: Floats, counts: Floats) -> Floats:
        """Means of so many runs."""
        return effects + np.array(self.noise) / np.sqrt(counts) * rng.normal(size=effects.shape)


def shaped(world: World, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Values with mean 0; outliers are 5 %, ten times as far."""
    if world == "exponential":
        return rng.exponential(size=shape) - 1
    if world.startswith("t"):
        return rng.standard_t(int(world[3]), shape)
    values = rng.normal(size=shape)
    if world == "normal":
        return values
    rare = np.where(rng.random(shape) < 0.05, 10.0, 1.0)
    if world == "outliers":
        return rare * values
    return np.where(rare > 1, 10 * np.abs(values), values) - 0.5 * sqrt(2 / np.pi)


def goal_of(truth: Truth, **said: Any) -> DetectGoal:
    """What the product asks for by default, to find a difference of 1."""
    pilot, family = said.get("pilot", PILOT), (truth.reference is not None, len(truth.means))
    growth = said.get("final_test") == "growth"
    usual = {
        "least": usual_growth(pilot) if growth else 0,
        "caution": usual_caution(*family) if growth else EVEN_CAUTION,
        "early": usual_early(pilot, said.get("instance_cost", 0.0)) if growth else 0,
        "early_caution": usual_early_caution(*family),
        "slack": usual_slack(said.get("instance_cost", 0.0)),
        "stretch": 0.0,
        "available": 100_000,
    }
    return DetectGoal(**{"detect": 1.0, **usual, **said})


@dataclass(frozen=True)
class Outcome:
    """What one study found and took."""

    rejected: NDArray[np.bool_]
    instances: int
    runs: int
    early: int
    cost: float  # of instances and runs, in runs


@dataclass
class Tally:
    """Many studies of one truth."""

    truth: Truth
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def errors(self) -> tuple[float, float]:
        """The family-wise error rate and its standard error."""
        null = self.truth.differences == 0
        return _share([bool(each.rejected[null].any()) for each in self.outcomes])

    @property
    def power(self) -> float:
        """The mean share found of the true differences."""
        return float(np.mean(self._found)) if self._found.size else float("nan")

    @property
    def power_error(self) -> float:
        """The standard error of the power; what one study finds hangs together."""
        return float(np.std(self._found.mean(axis=1), ddof=1) / sqrt(len(self.outcomes)))

    @property
    def least_power(self) -> float:
        """The share of studies that found the difference which is found least often."""
        return float(self._found.mean(axis=0).min())

    @property
    def _found(self) -> Floats:
        real = self.truth.differences != 0
        return np.array([each.rejected[real] for each in self.outcomes], dtype=float)

    @property
    def runs(self) -> float:
        return float(np.mean([each.runs for each in self.outcomes]))

    @property
    def cost(self) -> float:
        return float(np.mean([each.cost for each in self.outcomes]))

    @property
    def early(self) -> float:
        return float(np.mean([each.early for each in self.outcomes]))

    @property
    def instances(self) -> tuple[float, float, float]:
        sizes = [each.instances for each in self.outcomes]
        return float(np.mean(sizes)), *np.percentile(sizes, [10, 90]).tolist()


def simulate(truth: Truth, studies: int, *, key: int, goal: DetectGoal | None = None, end: End = "t") -> Tally:
    """Carry out many studies; the same key gives the same ones."""
    tally, goal = Tally(truth), goal or goal_of(truth)
    for number in range(studies):
        tally.outcomes.append(numbered(truth, key, number, goal, end))
    return tally


def numbered(truth: Truth, key: int, number: int, goal: DetectGoal | None = None, end: End = "t") -> Outcome:
    """Carry out the study of this number; those of other keys have other random numbers."""
    return study(truth, np.random.default_rng([SEED, key, number]), goal or goal_of(truth), end)


def study(truth: Truth, rng: np.random.Generator, goal: DetectGoal, end: End = "t") -> Outcome:
    """Carry out one study."""
    contrasts, size = truth.contrasts, len(truth.means)
    first = np.full(size, float(goal.start))
    effects = truth.effects(rng, goal.pilot)
    theta = truth.runs(rng, effects, first)
    variances = np.array(truth.noise) ** 2 * rng.chisquare(goal.start - 1, theta.shape) / (goal.start - 1)
    decision = decide_after_pilot(theta, variances, contrasts, goal)
    first_runs, early = goal.pilot * first, int(decision.clear.sum())
    if decision.plan is None:
        return Outcome(decision.clear, goal.pilot, int(first_runs.sum()), early, cost_of(goal, goal.pilot, first_runs))
    counts, playing = np.array(decision.plan.runs, dtype=float), np.array(decision.plan.runs) > 0
    more = np.where(playing, np.maximum(counts - first, 1e-9), 1.0)
    topped = np.where(counts > first, (first * theta + more * truth.runs(rng, effects, more)) / counts.clip(1), theta)
    rest = truth.effects(rng, decision.plan.instances - goal.pilot)
    new = truth.runs(rng, rest, counts.clip(1))
    values = np.vstack([topped, np.where(playing, new, np.nan)])
    runs = np.where(playing, decision.plan.instances * counts, first_runs)
    if end == "t":
        found: Conclusions = conclude(values, decision, contrasts, goal)
        rejected = found.adjusted <= goal.alpha
    else:
        rejected = _bootstrap(contrasts.differences(values), decision.clear, goal)
    cost = cost_of(goal, decision.plan.instances, runs)
    return Outcome(rejected, decision.plan.instances, int(runs.sum()), early, cost)


def cost_of(goal: DetectGoal, instances: int, runs: Floats) -> float:
    """What so many instances cost, and runs of each algorithm."""
    return instances * goal.instance_cost + float(runs @ np.array(goal.costs or (1.0,) * len(runs)))


def _bootstrap(differences: Floats, clear: NDArray[np.bool_], goal: DetectGoal) -> NDArray[np.bool_]:
    """The bootstrap-t on what goes on, at the level that the pilot has left it and the choice of the size allows."""
    rejected = clear.copy()
    level = nominal_levels(goal.end_alpha, len(differences), goal.pilot, goal.available or 10**9)
    family = bootstrap_t(differences[:, ~clear], alpha=float(level))
    rejected[~clear] = family.steps.rejected
    return rejected


def equal(comparisons: Family, spread: float, noise: float, shift: float = 0.0) -> Truth:
    """Rivals of one reference, or five algorithms all with all; every difference varies by `spread`."""
    size = 5 if comparisons == "all" else comparisons + 1
    means = (0.0, *(shift,) * (size - 1)) if comparisons != "all" else (shift, *(0.0,) * (size - 1))
    return Truth(means, (spread / sqrt(2),) * size, (noise * spread,) * size, None if comparisons == "all" else 0)


def paper_like() -> Truth:
    """21 rivals: ten null, five at δ, six that vary a lot and are far away, which leave after the pilot."""
    means = (0.0, *(0.0,) * 10, *(1.0,) * 5, *(18.0,) * 6)
    return Truth(means, (0.5, *(1.3,) * 15, *(12.0,) * 6), (1.0,) * 22)


FAR_AWAY: tuple[tuple[Family, str, Truth], ...] = (
    (21, "21, six far away", paper_like()),
    (5, "5, two far away", Truth((0.0, 0.0, 0.0, 1.0, 18.0, 18.0), (0.5, *(1.3,) * 3, 12.0, 12.0), (1.0,) * 6)),
    (
        "all",
        "10 (A = 5, all with all), one far away",
        Truth((0.0,) * 4 + (18.0,), (1.0,) * 4 + (6.0,), (1.0,) * 5, None),
    ),
)


def oracle(truth: Truth, goal: DetectGoal) -> MainPlan:
    """The cheapest plan of one who knows spread and noise and tests once, at the full level.

    It has the power that is asked for: all with all it counts on what can differ together, as the product does.
    """
    contrasts, size = truth.contrasts, len(truth.means)
    between, noise = np.array(truth.between) ** 2, np.array(truth.noise) ** 2
    runs = common_runs(contrasts, np.ones((1, size)), noise[None, :])
    counts = np.full(size, float(goal.start))
    variances = between[contrasts.first] + between[contrasts.second] + runs.squared_errors(counts)
    figures = PilotFigures(variances, runs.noise, counts, np.full(len(variances), KNOWN), np.ones(size, dtype=np.bool_))
    together = differing_together(size, len(variances)) if truth.reference is None else None
    asked = replace(goal, fresh=True, slack=0.0, floor=0.0, together=together)
    costs = None if goal.costs is None else np.array(goal.costs)
    return plan_after_pilot(figures, asked, lambda se, lower: runs.fewest(se, lower, costs))


CELLS: tuple[tuple[Family, float, float], ...] = tuple(
    (comparisons, spread, noise)
    for comparisons in (1, 5, 21, "all")
    for spread in (0.7, 1.5, 3.0, 6.0)
    for noise in (0.3, 2.0)
)


def _share(events: list[bool]) -> tuple[float, float]:
    share = float(np.mean(events))
    return share, sqrt(max(share * (1 - share), 0.01) / len(events))


# Whole studies that find their own size: algorithms are run, a study file is written, read and analysed.
ROOM = 4  # so many times the instances that are needed are there
WHOLE = 1_000_000  # so far are the keys of whole studies from those of the others


class Difference(AssertionError):
    """A whole study did something else than the pure decision on its values."""


def whole_studies(truth: Truth, studies: int, *, key: int, instance_cost: float = 0.0) -> Tally:
    """Carry out so many whole studies; the same key gives the same ones."""
    return Tally(truth, [whole_study_of(truth, key, number, instance_cost=instance_cost) for number in range(studies)])


def whole_study_of(truth: Truth, key: int, number: int, *, instance_cost: float = 0.0) -> Outcome:
    """Carry out the study of this number."""
    seed = int(np.random.default_rng([SEED, WHOLE + key, number]).integers(2**31))
    return whole_study(truth, seed, available=_available(truth, instance_cost), instance_cost=instance_cost)


@lru_cache(maxsize=128)
def _available(truth: Truth, instance_cost: float) -> int:
    return ROOM * (PILOT + oracle(truth, goal_of(truth, instance_cost=instance_cost)).instances)


def whole_study(truth: Truth, seed: int, *, available: int, instance_cost: float = 0.0) -> Outcome:
    """Carry out one study with the default settings, and look whether the pure decision agrees."""
    effects = truth.effects(np.random.default_rng(seed), available)
    names = tuple(f"a{place}" for place in range(len(truth.means)))
    asked = am.Study(
        algorithms={name: normal_runs(effects[:, k].tolist(), truth.noise[k]) for k, name in enumerate(names)},
        instances={f"i{place}": place for place in range(available)},
        difference="simple",
        reference=None if truth.reference is None else names[truth.reference],
        design=am.Detect(1.0, instance_cost=instance_cost),
        seed=seed,
        better="lower",
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        analysis = asked.run(path, executor=SerialExecutor())
        order = [instance.name for instance in asked.plan.instances]
        with read_store(path) as store:
            values = _values(store.runs(), order, names)
    goal = goal_of(truth, available=available, instance_cost=instance_cost)
    outcome = _outcome(analysis, values, goal)
    _compare(analysis, outcome, next_step(values, truth.contrasts, goal), goal.alpha)
    return outcome


def _values(runs: Runs, order: list[str], names: tuple[str, ...]) -> list[list[list[float]]]:
    """The recorded runs of each algorithm on each instance, as far as the study got."""
    places = {name: place for place, name in enumerate(order)}
    table: list[list[list[float]]] = [[[] for _ in names] for _ in range(len(runs.instances))]
    row, column = (
        [where[name] for name in of]
        for where, of in ((places, runs.instances), ({name: k for k, name in enumerate(names)}, runs.algorithms))
    )
    for instance, algorithm, value in zip(runs.instance, runs.algorithm, runs.value, strict=True):
        table[row[instance]][column[algorithm]].append(float(value))
    return table


def _outcome(analysis: Analysis, values: list[list[list[float]]], goal: DetectGoal) -> Outcome:
    course = analysis.course
    assert course is not None
    rejected = {(each.first, each.second): each.rejected for each in analysis.comparisons}
    found = np.array([rejected[pair] for pair in analysis.pairs])
    runs = np.array([[len(cell) for cell in row] for row in values], dtype=float).sum(axis=0)
    cost = cost_of(goal, course.planned, runs)
    return Outcome(found, course.planned, int(runs.sum()), sum(course.clear), cost)


def _compare(analysis: Analysis, outcome: Outcome, pure: object, alpha: float) -> None:
    """Complain unless the pure decision is the same, in instances, runs, what was clear and what is claimed."""
    course = analysis.course
    assert course is not None
    if not isinstance(pure, DetectOutcome):
        raise Difference(f"the study ended and the pure decision asks for {pure}")
    plan = pure.decision.plan
    p_holm = {(each.first, each.second): each.p_holm for each in analysis.comparisons}
    adjusted = np.array([p_holm[pair] for pair in analysis.pairs])
    same = (
        tuple(course.clear) == tuple(pure.decision.clear.tolist())
        and (plan is None or (course.planned, tuple(course.runs.values())) == (plan.instances, plan.runs))
        and np.allclose(adjusted, pure.conclusions.adjusted, rtol=1e-9)
        and (outcome.rejected == (pure.conclusions.adjusted <= alpha)).all()
    )
    if not same:
        raise Difference(f"{replace(outcome, runs=0)} was found, and {pure} by the pure decision")


FEW = [(1, 1.5, 0.3), (5, 1.5, 2.0), (21, 1.5, 0.3), ("all", 1.5, 0.3)]

SIZES = [("a few", 75), pytest.param("many", 1500, marks=pytest.mark.slow)]

ASKED, ALPHA = 0.8, 0.05


def key_of(cell):
    return CELLS.index(cell)


def share_error(share, number):
    return sqrt(share * (1 - share) / number)


@pytest.mark.parametrize(("words", "studies"), SIZES)
@pytest.mark.parametrize("cell", FEW, ids=str)
def test_equal_algorithms_are_told_apart_no_more_often_than_the_level(cell, words, studies):
    tally = simulate(equal(*cell), studies // 2, key=2 * key_of(cell))
    assert tally.errors[0] <= ALPHA + 3 * share_error(ALPHA, studies // 2)


@pytest.mark.parametrize(("words", "studies"), SIZES)
@pytest.mark.parametrize("cell", FEW, ids=str)
def test_differences_that_matter_are_found_as_often_as_asked(cell, words, studies):
    tally = simulate(equal(*cell, 1.0), studies // 3, key=2 * key_of(cell) + 1)
    assert tally.power >= 0.78 - 2 * share_error(ASKED, studies // 3)


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_every_cell_keeps_its_level_and_takes_little_more_than_one_who_knows_everything(cell):
    studies = {1: 800, 5: 500, 21: 200, "all": 400}[cell[0]]
    null = simulate(equal(*cell), studies, key=2 * key_of(cell))
    real = simulate(equal(*cell, 1.0), studies // 2, key=2 * key_of(cell) + 1)
    best = oracle(real.truth, goal_of(real.truth)).instances
    sizes = [each.instances for each in real.outcomes]
    spread = np.std(sizes, ddof=1) / sqrt(len(sizes)) / best

    assert null.errors[0] <= ALPHA + 3 * share_error(ALPHA, studies)
    if best >= 20:  # below, the pilot alone is more
        assert np.mean(sizes) / best <= 1.25 + 2 * spread
    assert real.power >= 0.78 - 2 * share_error(ASKED, studies // 2)


CELLS_OF_WHOLE_STUDIES = [
    (("a few", (1, 0.7, 0.3), 2)),
    (("a few", ("all", 0.7, 2.0), 1)),
    (("a few", (5, 0.7, 2.0), 1)),
    *(pytest.param("many", cell, 12, marks=pytest.mark.slow) for cell in CELLS if cell[1] < 3),
]


@pytest.mark.parametrize(("words", "cell", "number"), CELLS_OF_WHOLE_STUDIES, ids=str)
def test_whole_studies_decide_and_claim_what_the_pure_decision_does_on_their_values(words, cell, number):
    """Each study compares itself with the pure decision, and raises where they differ."""
    for shift in (0.0, 1.0):
        tally = whole_studies(equal(*cell, shift), number, key=key_of(cell))
        assert len(tally.outcomes) == number
        assert all(each.runs >= 20 * 5 * len(tally.truth.means) for each in tally.outcomes)


def test_a_whole_study_with_algorithms_that_leave_does_as_the_pure_decision():
    outcome = whole_study(paper_like(), 7, available=200)
    assert outcome.early >= 4
    assert outcome.runs < 22 * 5 * outcome.instances


def test_a_difference_between_whole_studies_and_the_pure_decision_is_noticed(monkeypatch):
    other = goal_of(equal(1, 1.5, 0.3), caution=0.9, early=0, available=500)
    monkeypatch.setitem(globals(), "goal_of", lambda truth, **said: other)
    with pytest.raises(Difference):
        whole_study(equal(1, 1.5, 0.3), 3, available=500)


@pytest.mark.parametrize(("words", "studies"), [("a few", 25), pytest.param("many", 300, marks=pytest.mark.slow)])
def test_algorithms_that_leave_early_do_no_harm(words, studies):
    tally = simulate(paper_like(), studies, key=1000)
    assert tally.errors[0] <= ALPHA + 3 * share_error(ALPHA, studies)
    assert np.mean([each.early for each in tally.outcomes]) > 4
    assert tally.power > 0.78
