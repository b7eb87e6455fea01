"""Whole studies that find their own size, on simulated differences: how often they err, what they find, what they take.

The decision after the pilot and the tests at the end are those of the product; `tests/running/test_detect_studies.py`
holds whole studies against them. Only means and variances of runs are drawn, as normal runs have no more to say.
Run: python benchmarks/detect_simulation.py [studies]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import sqrt
from time import process_time
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ampler import n_comparisons, required_instances
from ampler.design.detect import DetectGoal
from ampler.stats.contrasts import Contrasts, contrasts_among
from ampler.stats.growth import Conclusions
from ampler.stats.resampling import bootstrap_t
from ampler.study.detect import conclude, decide_after_pilot

Floats = NDArray[np.float64]
End = Literal["growth", "bootstrap-t"]

SEED = 20261115  # fixed before the first look
MOST_RUNS = 12  # beyond these no plan is within a tenth of the cheapest where instances are free
GOAL = DetectGoal(1.0, available=100_000)


@dataclass(frozen=True)
class Truth:
    """What is true of the algorithms: their means, their sds between instances, the sd of a run."""

    means: tuple[float, ...]
    between: tuple[float, ...]
    noise: tuple[float, ...]
    reference: int | None = 0
    skewed: bool = False  # exponential between instances, else normal

    @property
    def contrasts(self) -> Contrasts:
        return contrasts_among(len(self.means), difference="simple", reference=self.reference)

    @property
    def differences(self) -> Floats:
        return self.contrasts.differences(np.array(self.means))

    def effects(self, rng: np.random.Generator, instances: int) -> Floats:
        shape = instances, len(self.means)
        drawn = rng.exponential(size=shape) - 1 if self.skewed else rng.normal(size=shape)
        return np.array(self.means) + np.array(self.between) * drawn

    def runs(self, rng: np.random.Generator, effects: Floats, counts: Floats) -> Floats:
        """Means of so many runs."""
        return effects + np.array(self.noise) / np.sqrt(counts) * rng.normal(size=effects.shape)


@dataclass(frozen=True)
class Outcome:
    """What one study found and took."""

    rejected: NDArray[np.bool_]
    instances: int
    runs: int
    early: int


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
        real = self.truth.differences != 0
        return float(np.mean([each.rejected[real].mean() for each in self.outcomes])) if real.any() else float("nan")

    @property
    def instances(self) -> tuple[float, float, float]:
        sizes = [each.instances for each in self.outcomes]
        return float(np.mean(sizes)), *np.percentile(sizes, [10, 90]).tolist()


def simulate(truth: Truth, studies: int, *, key: int, goal: DetectGoal = GOAL, end: End = "growth") -> Tally:
    """Carry out many studies; the same key gives the same ones."""
    tally = Tally(truth)
    for number in range(studies):
        tally.outcomes.append(study(truth, np.random.default_rng([SEED, key, number]), goal, end))
    return tally


def study(truth: Truth, rng: np.random.Generator, goal: DetectGoal, end: End = "growth") -> Outcome:
    """Carry out one study."""
    contrasts, size = truth.contrasts, len(truth.means)
    first = np.full(size, float(goal.start))
    effects = truth.effects(rng, goal.pilot)
    theta = truth.runs(rng, effects, first)
    variances = np.array(truth.noise) ** 2 * rng.chisquare(goal.start - 1, theta.shape) / (goal.start - 1)
    decision = decide_after_pilot(theta, variances, contrasts, goal)
    pilot_runs = goal.pilot * goal.start
    if decision.plan is None:
        return Outcome(decision.clear, goal.pilot, pilot_runs * size, int(decision.clear.sum()))
    counts, playing = np.array(decision.plan.runs, dtype=float), np.array(decision.plan.runs) > 0
    more = np.where(playing, np.maximum(counts - first, 1e-9), 1.0)
    topped = np.where(counts > first, (first * theta + more * truth.runs(rng, effects, more)) / counts.clip(1), theta)
    rest = truth.effects(rng, decision.plan.instances - goal.pilot)
    new = truth.runs(rng, rest, counts.clip(1))
    values = np.vstack([topped, np.where(playing, new, np.nan)])
    runs = int(decision.plan.instances * counts.sum()) + pilot_runs * int((~playing).sum())
    if end == "growth":
        found: Conclusions = conclude(values, decision, contrasts, goal)
        rejected = found.adjusted <= goal.alpha
    else:
        rejected = _bootstrap(contrasts.differences(values), decision.clear, goal)
    return Outcome(rejected, decision.plan.instances, runs, int(decision.clear.sum()))


def _bootstrap(differences: Floats, clear: NDArray[np.bool_], goal: DetectGoal) -> NDArray[np.bool_]:
    """The bootstrap-t on what goes on, at the level that the pilot has left it."""
    rejected = clear.copy()
    family = bootstrap_t(differences[:, ~clear], alpha=goal.end_alpha)
    rejected[~clear] = family.steps.rejected
    return rejected


def equal(comparisons: int | Literal["all"], spread: float, noise: float, shift: float = 0.0) -> Truth:
    """Rivals of one reference, or five algorithms all with all; every difference varies by `spread`."""
    size = 5 if comparisons == "all" else comparisons + 1
    means = (0.0, *(shift,) * (size - 1)) if comparisons != "all" else (shift, *(0.0,) * (size - 1))
    return Truth(means, (spread / sqrt(2),) * size, (noise * spread,) * size, None if comparisons == "all" else 0)


def paper_like() -> Truth:
    """21 rivals: ten null, five at δ, six that vary a lot and are far away, which leave after the pilot."""
    means = (0.0, *(0.0,) * 10, *(1.0,) * 5, *(18.0,) * 6)
    return Truth(means, (0.5, *(1.3,) * 15, *(12.0,) * 6), (1.0,) * 22)


def oracle(truth: Truth, goal: DetectGoal) -> int:
    """Instances of the best plan when spread and noise are known, one test at the full level.

    As in the product it is the one with the fewest instances among those within a tenth of the cheapest.
    """
    between, noise = (sum(each**2 for each in part[:2]) for part in (truth.between, truth.noise))
    pairs = n_comparisons(len(truth.means), reference=truth.reference is not None)
    plans = []
    for runs in range(goal.start, MOST_RUNS):
        effect = goal.detect / sqrt(between + noise / runs)
        instances = required_instances(comparisons=pairs, effect=effect, power=goal.power).instances
        plans.append((instances * runs, instances))
    cheapest = min(cost for cost, _ in plans)
    return min(instances for cost, instances in plans if cost <= (1 + goal.slack) * cheapest)


CELLS: tuple[tuple[int | Literal["all"], float, float], ...] = tuple(
    (comparisons, spread, noise)
    for comparisons in (1, 5, 21, "all")
    for spread in (0.7, 1.5, 3.0, 6.0)
    for noise in (0.3, 2.0)
)


def rows(studies: int) -> Iterator[str]:
    """The table of the page, a row for each cell."""
    yield "| K | τ/δ | noise/τ | error, all null | power at δ | N (10–90 %) | oracle's N | N/oracle's |"
    yield "|---|---|---|---|---|---|---|---|"
    for key, (comparisons, spread, noise) in enumerate(CELLS):
        number = studies // {1: 1, 5: 2, 21: 5, "all": 3}[comparisons]
        null = simulate(equal(comparisons, spread, noise), number, key=2 * key)
        real = simulate(equal(comparisons, spread, noise, 1.0), number // 2, key=2 * key + 1)
        error, deviation = null.errors
        mean, low, high = real.instances
        best = oracle(real.truth, GOAL)
        name = "10 (A = 5)" if comparisons == "all" else comparisons
        yield (
            f"| {name} | {spread:g} | {noise:g} | {error:.3f} ± {deviation:.3f} | {real.power:.2f} |"
            f" {mean:.0f} ({low:.0f}–{high:.0f}) | {best} | {mean / best:.2f} |"
        )


def _share(events: list[bool]) -> tuple[float, float]:
    share = float(np.mean(events))
    return share, sqrt(max(share * (1 - share), 0.01) / len(events))


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    began = process_time()
    for row in rows(studies):
        print(row, flush=True)
    mixed = simulate(paper_like(), studies // 5, key=1000)
    error, deviation = mixed.errors
    early = np.mean([each.early for each in mixed.outcomes])
    mean, low, high = mixed.instances
    print(f"\nearly leavers: error {error:.3f} ± {deviation:.3f}, power {mixed.power:.2f}, {early:.1f} leave,", end=" ")
    print(f"N {mean:.0f} ({low:.0f}–{high:.0f})")
    print(f"{process_time() - began:.0f} seconds of processor time")


if __name__ == "__main__":
    main()
