"""Studies that find their own size, on simulated differences: how often they err, what they find, what they take.

The decision after the pilot and the tests at the end are those of the product. Only means and variances of runs are
drawn, as normal runs have no more to say; `detect_studies` makes whole studies, run by run, and holds them against
this. The tables are written by `detect_page`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ampler.design.detect import (
    EVEN_CAUTION,
    DetectGoal,
    MainPlan,
    PilotFigures,
    differing_together,
    plan_after_pilot,
    usual_caution,
    usual_early_caution,
    usual_growth,
    usual_slack,
)
from ampler.design.early import usual_early
from ampler.sampling.common_runs import common_runs
from ampler.stats.contrasts import Contrasts, contrasts_among
from ampler.stats.growth import Conclusions
from ampler.stats.internal_pilot import nominal_levels
from ampler.stats.resampling import bootstrap_t
from ampler.study.detect import conclude, decide_after_pilot

Floats = NDArray[np.float64]
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
