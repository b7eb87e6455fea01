"""The first experiment of Campelo & Wanner (2019) again, by studies that find their own size."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from detect_replay import conclude
from numpy.typing import NDArray

from ampler.core.arrays import Floats
from ampler.design.detect import EVEN_CAUTION, DetectGoal
from ampler.stats.contrasts import contrasts_among
from ampler.study.detect import Detect, decide_after_pilot

# The first experiment of Campelo & Wanner (2019) again, by studies that find their own size.
SEED = 20190502  # fixed before the first look
DELTA = 0.0264  # what 57 instances at se = 0.05 find with mean power 0.80 over the 15
REFERENCE = "Full"
MOVE = "TSK"  # in the names of the variants that lack it and differ a lot


@dataclass(frozen=True)
class Experiment:
    """Means and standard deviations of the runs: instances in rows, algorithms in columns, the reference first."""

    algorithms: tuple[str, ...]
    means: Floats
    deviations: Floats
    runs: int

    @property
    def usual(self) -> NDArray[np.bool_]:
        """The comparisons that vary little from instance to instance."""
        return np.array([MOVE not in name for name in self.algorithms[1:]])

    def with_differences(self, delta: float) -> Experiment:
        """The same with every usual rival so far from the reference that the mean percent difference is δ."""
        reference = self.means[:, :1]
        phi = 1 - self.means[:, 1:] / reference
        moved = np.where(self.usual, phi - phi.mean(axis=0) + delta, phi)
        return replace(self, means=np.hstack([reference, (1 - moved) * reference]))


def read(path: str | Path) -> Experiment:
    """Read the runs of the experiment."""
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    with Path(path).open(newline="") as file:
        for row in csv.DictReader(file):
            cells[row["Instance"], row["Algorithm"]].append(float(row["Observation"]))
    instances = list(dict.fromkeys(instance for instance, _ in cells))
    names = sorted({name for _, name in cells}, key=lambda name: (name != REFERENCE, name))
    means = np.array([[np.mean(cells[i, a]) for a in names] for i in instances])
    deviations = np.array([[np.std(cells[i, a], ddof=1) for a in names] for i in instances])
    return Experiment(tuple(names), means, deviations, sum(map(len, cells.values())))


@dataclass(frozen=True)
class Outcome:
    found: float  # share of the usual comparisons
    instances: int
    runs: int
    left: int


def study(experiment: Experiment, available: int, rng: np.random.Generator, detect: float = DELTA) -> Outcome:
    """Carry out one study on instances drawn from those of the experiment."""
    goal = DetectGoal(detect, available=available, caution=EVEN_CAUTION, stretch=Detect(detect=detect).stretch)
    contrasts = contrasts_among(len(experiment.algorithms), difference="percent", reference=0)
    rows = rng.integers(0, len(experiment.means), available)
    means, deviations = experiment.means[rows[: goal.pilot]], experiment.deviations[rows[: goal.pilot]]
    theta = means + deviations / np.sqrt(goal.start) * rng.normal(size=means.shape)
    spread = deviations**2 * rng.chisquare(goal.start - 1, means.shape) / (goal.start - 1)
    decision = decide_after_pilot(theta, spread, contrasts, goal)
    first = goal.pilot * goal.start
    if decision.plan is None:
        found = decision.clear[experiment.usual].mean()
        return Outcome(float(found), goal.pilot, first * len(experiment.algorithms), int(decision.clear.sum()))
    counts, playing = np.array(decision.plan.runs, dtype=float), np.array(decision.plan.runs) > 0
    more = np.where(counts > goal.start, counts - goal.start, 1.0)
    added = means + deviations / np.sqrt(more) * rng.normal(size=means.shape)
    topped = np.where(counts > goal.start, (goal.start * theta + more * added) / counts.clip(1), theta)
    rest = rows[goal.pilot : decision.plan.instances]
    new = experiment.means[rest] + experiment.deviations[rest] / np.sqrt(counts.clip(1)) * rng.normal(
        size=(len(rest), len(counts))
    )
    values = np.vstack([topped, np.where(playing, new, np.nan)])
    adjusted = conclude(values, decision, contrasts, goal).adjusted
    runs = int(decision.plan.instances * counts.sum()) + first * int((~playing).sum())
    found = (adjusted <= goal.alpha)[experiment.usual].mean()
    return Outcome(float(found), decision.plan.instances, runs, int(decision.clear.sum()))


def many_studies(experiment: Experiment, available: int, number: int) -> list[Outcome]:
    """Carry out so many studies."""
    moved = experiment.with_differences(DELTA)
    return [study(moved, available, np.random.default_rng([SEED, available, key])) for key in range(number)]


def mean_and_error(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


@pytest.mark.parametrize(("words", "studies"), [("a few", 25), pytest.param("many", 200, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("available", "most", "power"), [(3000, 0.50, 0.80), (57, 0.62, 0.75)])
def test_the_papers_first_experiment_takes_about_half_of_its_runs(public_data, words, studies, available, most, power):
    experiment = read(public_data / "paper_experiment1_runs.csv")
    done = many_studies(experiment, available, studies)
    ratio, error = mean_and_error([each.runs / experiment.runs for each in done])
    found, deviation = mean_and_error([each.found for each in done])

    assert experiment.runs == 23_271
    assert ratio <= most + 2 * error
    assert found >= power - 2 * deviation
