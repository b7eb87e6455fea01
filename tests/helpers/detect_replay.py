"""A study that finds its own size, replayed from a table of values: what to run next, and what all of them say.

Benchmarks and tests simulate many such studies without a study file. The decision is the program's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tests.helpers.growth import Conclusions, conclusions

from ampler.core.arrays import Floats
from ampler.design.detect import DetectGoal
from ampler.design.powers import MOST_INSTANCES
from ampler.stats.contrasts import Contrasts
from ampler.study.detect import PilotDecision, decide_after_pilot

Values = Sequence[Sequence[Sequence[float]]]  # runs of each algorithm on each instance, in their declared order


@dataclass(frozen=True, slots=True)
class RunUntil:
    """Run the first instances until each algorithm has so many runs there; 0 for those that left."""

    instances: int
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DetectOutcome:
    """Everything is there: what the pilot decided, and what may be claimed."""

    decision: PilotDecision
    conclusions: Conclusions


def next_step(values: Values, contrasts: Contrasts, goal: DetectGoal) -> RunUntil | DetectOutcome:
    """Return what to run next, or what the values say when everything is there."""
    pilot = RunUntil(min(goal.pilot, goal.available or goal.pilot), (goal.start,) * contrasts.size)
    if not _is_done(values, pilot):
        return pilot
    decision = decide_after_pilot(*_cells(values, pilot), contrasts, goal)
    plan = decision.plan
    rest = pilot if plan is None else RunUntil(plan.instances, plan.runs)
    if not _is_done(values, rest):
        return rest
    return DetectOutcome(decision, conclude(_cells(values, rest)[0], decision, contrasts, goal))


def conclude(theta: Floats, decision: PilotDecision, contrasts: Contrasts, goal: DetectGoal) -> Conclusions:
    """Return what the statistics of all planned runs (instances in rows) say; NaN where an algorithm had left."""
    return conclusions(
        contrasts.differences(theta),
        None if goal.is_fixed else decision.test,
        since=decision.goal.base if decision.plan else 1,
        alpha=goal.alpha,
        share=goal.share,
        alternative=goal.alternative,
        available=(goal.available or MOST_INSTANCES) if goal.final_test == "t" else None,
    )


def _is_done(values: Values, wanted: RunUntil) -> bool:
    if len(values) < wanted.instances:
        return False
    cells = (zip(row, wanted.runs, strict=True) for row in values[: wanted.instances])
    return all(len(runs) >= count for row in cells for runs, count in row)


def _cells(values: Values, wanted: RunUntil) -> tuple[Floats, Floats]:
    """Mean and variance of the runs that were wanted; NaN for an algorithm that had left."""
    shape = (wanted.instances, len(wanted.runs))
    means, variances = np.full(shape, np.nan), np.full(shape, np.nan)
    for place in np.ndindex(shape):
        if count := wanted.runs[place[1]]:
            runs = np.asarray(values[place[0]][place[1]][:count], dtype=float)
            means[place], variances[place] = runs.mean(), runs.var(ddof=1)
    return means, variances
