"""Whole studies whose truth is known, carried out through the public API, and what each of them got right.

A world says how algorithms differ on instances and how their runs scatter; a study in it is planned, run, kept in a
file and analysed as a user would do it.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ampler as am
from ampler.testing import SerialExecutor

Floats = NDArray[np.float64]

REFERENCE = "reference"
RUNS: dict[str, Callable[[random.Random], float]] = {  # the noise of one run: mean 0, standard deviation 1
    "normal": lambda rng: rng.gauss(0.0, 1.0),
    "exponential": lambda rng: rng.expovariate(1.0) - 1.0,
    "heavy": lambda rng: rng.gauss(0.0, 1.0) / (rng.gammavariate(2.5, 1.0) / 2.5) ** 0.5 * (3 / 5) ** 0.5,  # t5
}


@dataclass(frozen=True)
class World:
    """Algorithms against a reference, simple differences; 1 is their standard deviation between instances.

    The first `null` comparisons differ on no average, the others by `effect`. With a shared reference half of the
    variance of every difference is the reference's; otherwise the reference is the same everywhere.
    """

    comparisons: int
    instances: int
    effect: float = 0.0
    null: int = 0
    shared: bool = True
    noise: float = 0.3
    runs: str = "normal"
    failing: float = 0.0  # share of runs that fail, whatever their values
    repeats: int = 5  # runs of each algorithm on an instance, where their number is fixed

    @property
    def truth(self) -> dict[str, float]:
        """By how much the reference exceeds each algorithm, in the population of instances."""
        return {f"a{k}": 0.0 if k < self.null else self.effect for k in range(self.comparisons)}

    @property
    def spread(self) -> float:
        """The standard deviation of measured differences: the noise of the runs is part of it."""
        return float((1 + 2 * self.noise**2 / self.repeats) ** 0.5)

    def algorithms(self, rng: np.random.Generator) -> dict[str, Callable[..., float]]:
        """The algorithms of one study: their differences on its instances are drawn, their runs follow the seeds."""
        own, common = (0.5**0.5, 0.5**0.5) if self.shared else (1.0, 0.0)
        level = rng.normal(100.0, 10.0, self.instances)
        names = {REFERENCE: common * rng.standard_normal(self.instances)} | {
            name: own * rng.standard_normal(self.instances) - gap for name, gap in self.truth.items()
        }
        return {name: self._algorithm(level + values) for name, values in names.items()}

    def _algorithm(self, values: Floats) -> Callable[..., float]:
        scatter = RUNS[self.runs]

        def solve(instance: int, seed: int) -> float:
            rng = random.Random(seed)
            if self.failing and rng.random() < self.failing:
                raise RuntimeError("no solution found")
            return float(values[instance] + self.noise * scatter(rng))

        return solve


@dataclass(frozen=True)
class Judged:
    """What one study got right, by one test."""

    false: bool  # some true null hypothesis was rejected
    found: float  # share of the real differences that were found on their side; NaN where there is none
    covered: bool  # all joint intervals hold the truth
    effect_covered: float  # share of effect-size intervals that hold the truth
    runs: int
    instances: int


def carried_out(world: World, seed: int, sizes: Mapping[str, Any], tests: tuple[str, ...]) -> dict[str, Judged]:
    """Plan, run and analyse one study, by each of the tests."""
    rng = np.random.default_rng(seed)
    study = am.Study(
        algorithms=world.algorithms(rng),
        instances={f"i{number:03}": number for number in range(world.instances)},
        difference="simple",
        reference=REFERENCE,
        seed=seed,
        on_failure=am.Drop() if world.failing else am.StopStudy(),
        better="lower",
        **sizes,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        first = study.run(path, executor=SerialExecutor(), progress=False)
        analyses = {test: first if test == "t" else am.analyse(path, test=test) for test in tests}  # type: ignore[arg-type]
        return {test: judged(world, analysis) for test, analysis in analyses.items()}


def judged(world: World, analysis: am.Analysis) -> Judged:
    """Hold an analysis against the truth of its world."""
    rows = [(each, world.truth[each.second]) for each in analysis.comparisons]
    real = [each.rejected and each.estimate * truth > 0 for each, truth in rows if truth]
    return Judged(
        false=any(each.rejected for each, truth in rows if not truth),
        found=float(np.mean(real)) if real else float("nan"),
        covered=all(_holds(each.joint_interval, truth) for each, truth in rows),
        effect_covered=float(np.mean([_holds(each.effect_interval, truth / world.spread) for each, truth in rows])),
        runs=analysis.runs,
        instances=analysis.instances,
    )


def _holds(interval: tuple[float, float], truth: float) -> bool:
    return bool(interval[0] <= truth <= interval[1])
