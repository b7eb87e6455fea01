"""What a study that finds its own size does next, replayed from its values alone. Pure.

First the pilot: the first instances, a few runs of each algorithm. Then one decision: comparisons that are clear leave,
and the others get their number of instances and runs. Then the end. The decision sees only the first `start` runs of
the pilot's instances and the end only the runs that were planned, so that later runs change nothing: resuming replays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ampler.core.arrays import Bools, Floats
from ampler.core.errors import InvalidData
from ampler.design.detect import DetectGoal, MainPlan, PilotFigures, differing_together
from ampler.design.early import plan_from_half_or_all
from ampler.design.solve import MOST_INSTANCES
from ampler.sampling.common_runs import common_runs
from ampler.stats.contrasts import Contrasts
from ampler.stats.growth import Conclusions, GrowthTest, clear_after_pilot, conclusions, growth_test

FEWEST = 3  # instances of the pilot for every comparison: with fewer there is no variance worth the name

Values = Sequence[Sequence[Sequence[float]]]  # runs of each algorithm on each instance, in their declared order


@dataclass(frozen=True, slots=True)
class RunUntil:
    """Run the first instances until each algorithm has so many runs there; 0 for those that left."""

    instances: int
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PilotDecision:
    """What the pilot decided."""

    test: GrowthTest  # the ordinary t-tests of the pilot
    clear: Bools  # comparisons decided by them
    figures: PilotFigures | None  # of those that go on
    plan: MainPlan | None  # None if nothing goes on
    goal: DetectGoal  # what was planned for


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


def decide_after_pilot(
    theta: Floats, variances: Floats, contrasts: Contrasts, goal: DetectGoal, *, counts: Floats | None = None
) -> PilotDecision:
    """Return which comparisons are clear after the pilot, and the plan for the others.

    `theta` holds the statistic of each algorithm (column) on each instance of the pilot (row) from the first `start`
    runs, `variances` the variance of one run; NaN is missing. `counts` are the runs that each algorithm had, if these
    are not `start`.
    """
    phi = contrasts.differences(theta)
    test = growth_test(phi, 1, alternative=goal.alternative)
    if test.freedom.min() < FEWEST - 1:
        raise InvalidData(
            f"every comparison needs {FEWEST} or more instances of the pilot, got {test.freedom.min() + 1:.0f}: "
            "look at the runs that failed"
        )
    clear = np.zeros(len(contrasts.first), dtype=np.bool_)
    if not goal.is_fixed:
        clear = clear_after_pilot(test.p_values, alpha=goal.alpha, share=goal.share)
    if clear.all():
        return PilotDecision(test, clear, None, None, goal)
    runs = common_runs(contrasts, theta, variances, ~clear)
    playing = _in_play(contrasts, ~clear)
    if contrasts.reference is None:
        goal = replace(goal, together=differing_together(int(playing.sum()), int((~clear).sum())))
    figures = PilotFigures(
        variances=np.nanvar(phi[:, ~clear], axis=0, ddof=1),
        noise=runs.noise,
        counts=np.full(contrasts.size, float(goal.start)) if counts is None else counts,
        freedom=test.freedom[~clear],
        in_play=playing,
        differences=phi[:, ~clear] if goal.final_test == "t" else None,
    )
    costs = None if goal.costs is None else np.asarray(goal.costs, dtype=float)
    planned = plan_from_half_or_all(figures, phi[:, ~clear], goal, lambda se, lower: runs.fewest(se, lower, costs))
    return PilotDecision(test, clear, planned.figures, planned.plan, planned.goal)


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


def _in_play(contrasts: Contrasts, going: Bools) -> Bools:
    """The algorithms that some comparison needs; all of them where one grand mean serves every comparison."""
    if contrasts.difference == "percent" and contrasts.reference is None:
        return np.ones(contrasts.size, dtype=np.bool_)
    playing = np.zeros(contrasts.size, dtype=np.bool_)
    playing[contrasts.first[going]] = playing[contrasts.second[going]] = True
    return playing


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
