"""The plan from the first half of a pilot, where that shows that few instances are enough. Pure.

The variances that choose the size are spent: the end test has the degrees of freedom that came after them. Where few
instances are enough these are scarce, and half of the pilot tells so well enough. So the first half is looked at alone;
only if it asks for many more than the pilot has is the other half looked at, too. What was not looked at counts for the
end test, which stays exact: whether to look hangs on what was seen before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ampler.core.arrays import Floats
from ampler.design.detect import DetectGoal, FewestRuns, MainPlan, PilotFigures, mean_power, plan_after_pilot

LEAST_HALF = 8  # instances: fewer tell too little of a variance
FEW = 1.5  # times the pilot's instances: a plan for more is worth looking at all of the pilot


class Planned(NamedTuple):
    """A plan with what it rests on: all of the pilot, or its first half."""

    figures: PilotFigures
    goal: DetectGoal
    plan: MainPlan


def usual_early(pilot: int, instance_cost: float = 0.0) -> int:
    """Return how many of a pilot's instances are looked at first: half of them, none of a small one.

    Where instances cost something, runs are bought to save them by what the pilot says of noise: that takes all of it.

    >>> usual_early(20), usual_early(10), usual_early(20, 50.0)
    (10, 0, 0)
    """
    return pilot // 2 if pilot // 2 >= LEAST_HALF and not instance_cost else 0


def plan_from_half_or_all(
    figures: PilotFigures, differences: Floats, goal: DetectGoal, fewest_runs: FewestRuns
) -> Planned:
    """Return the plan from the first half of the pilot's differences (rows) if that is for few, else from all."""
    if goal.early and not goal.is_fixed:
        fewest_runs = _remembered(fewest_runs)
        half = _half(figures, differences[: goal.early])
        asked = replace(goal, seen=goal.early, caution=goal.early_caution)
        plan = _plan_for_few(half, asked, fewest_runs)
        if plan is not None:
            return Planned(half, asked, plan)
    return Planned(figures, goal, plan_after_pilot(figures, goal, fewest_runs))


def _remembered(fewest_runs: FewestRuns) -> FewestRuns:
    """The same, each accuracy solved once: noise and first runs are those of the whole pilot for both plans."""
    known: dict[float, Floats] = {}

    def remembered(se: float, lower: Floats) -> Floats:
        if se not in known:
            known[se] = fewest_runs(se, lower)
        return known[se]

    return remembered


def _half(figures: PilotFigures, first: Floats) -> PilotFigures:
    """What the pilot showed, of the differences only what the first half did; noise says nothing of the means."""
    freedom = (~np.isnan(first)).sum(axis=0) - 1.0
    return replace(figures, variances=np.nanvar(first, axis=0, ddof=1), freedom=freedom)


def _plan_for_few(half: PilotFigures, goal: DetectGoal, fewest_runs: FewestRuns) -> MainPlan | None:
    """The plan if that is for few; None if even runs without noise would need more, or too little was seen."""
    most = int(FEW * goal.pilot)
    if half.freedom.min() < LEAST_HALF - 1 or mean_power(goal, half.between(goal.caution), most) < goal.power:
        return None
    plan = plan_after_pilot(half, goal, fewest_runs)
    return plan if plan.enough and plan.instances <= most else None
