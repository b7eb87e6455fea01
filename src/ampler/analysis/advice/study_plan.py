"""The study that would find a difference, learnt from earlier results: its instances, its runs, its powers. Pure.

It is the plan that a study with `detect` makes after its pilot, without a pilot of its own: all instances are new, and
the tests are the ordinary ones at their full level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from ampler.core.arrays import Bools, Floats
from ampler.core.settings import AnalysisSettings
from ampler.design.detect import (
    DetectGoal,
    MainPlan,
    PilotFigures,
    detectable_difference,
    differing_together,
    least_power,
    mean_power,
    plan_after_pilot,
    usual_caution,
    usual_slack,
)
from ampler.sampling.common_runs import common_runs
from ampler.stats.contrasts import Contrasts

USUAL_START = 5  # runs of each algorithm that a study with detect begins with


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """How many instances, and runs of each algorithm on each, find the difference; what they find if they are too few.

    Where the earlier results have one value in a cell the noise of the runs is not known, and the runs are those.
    """

    instances: int
    needed: int  # more than `instances` where these are all there are
    runs: Mapping[str, int]
    total: int  # runs in all
    mean_power: float  # over the comparisons
    least_power: float  # of a comparison
    detectable: float  # what is found with the wanted mean power
    noise_share: float  # of these runs in the variance of the differences, the median over comparisons; NaN: not known

    def times(self, unit: float) -> StudyPlan:
        """The same in other units of the differences."""
        return replace(self, detectable=self.detectable * unit)


@dataclass(frozen=True, slots=True, eq=False)
class EarlierResults:
    """What earlier results show: instances in rows, algorithms in columns; NaN is missing."""

    contrasts: Contrasts
    theta: Floats
    variances: Floats  # of one run; NaN where a cell has one value
    counts: Floats
    certain: Bools  # of each algorithm: its value never changes


def study_plan(
    earlier: EarlierResults, names: tuple[str, ...], settings: AnalysisSettings, goal: DetectGoal
) -> StudyPlan:
    """Return the plan; what is not known of the noise of the runs is taken to be the same in the new study."""
    phi = earlier.contrasts.differences(earlier.theta)
    if earlier.contrasts.reference is None:
        goal = replace(goal, together=differing_together(len(names), phi.shape[1]))
    known = not np.isnan(earlier.variances).any()
    spread = earlier.variances if known else np.zeros_like(earlier.theta)
    runs = common_runs(earlier.contrasts, earlier.theta, spread)
    figures = PilotFigures(
        variances=np.nanvar(phi, axis=0, ddof=1),
        noise=runs.noise,
        counts=_effective(spread, earlier.counts),
        freedom=(~np.isnan(phi)).sum(axis=0) - 1.0,
        in_play=np.ones(len(names), dtype=np.bool_),
        differences=phi,
    )
    costs = None if goal.costs is None else np.asarray(goal.costs)
    least = np.where(earlier.certain, 1.0, float(goal.start)) if known else np.round(earlier.counts.mean(axis=0))
    plan = plan_after_pilot(figures, goal, lambda se, lower: runs.fewest(se, lower, costs), lower=least)
    return _told(plan, names, goal, known=known)


def goal_of(
    settings: AnalysisSettings,
    detect: float,
    *,
    start: int,
    costs: tuple[float, ...],
    instance_cost: float,
    available: int | None,
) -> DetectGoal:
    """Return what is asked for of a study without a pilot."""
    return DetectGoal(
        detect,
        power=settings.power,
        alpha=settings.family_alpha,
        alternative=settings.alternative,
        start=start,
        instance_cost=instance_cost,
        costs=costs,
        available=available,
        caution=usual_caution(settings.reference is not None, len(costs)),
        slack=usual_slack(instance_cost),
        fresh=True,
    )


def _effective(spread: Floats, counts: Floats) -> Floats:
    """The number of runs of each algorithm that, the same on all instances, would leave the same noise."""
    noise = (spread / counts).mean(axis=0)
    return np.asarray(np.where(noise > 0, spread.mean(axis=0) / np.where(noise > 0, noise, 1.0), counts.mean(axis=0)))


def _told(plan: MainPlan, names: tuple[str, ...], goal: DetectGoal, *, known: bool) -> StudyPlan:
    expected = np.array(plan.variances)
    return StudyPlan(
        instances=plan.instances,
        needed=plan.needed,
        runs=dict(zip(names, plan.runs, strict=True)),
        total=plan.instances * sum(plan.runs),
        mean_power=mean_power(goal, expected, plan.instances),
        least_power=least_power(goal, expected, plan.instances),
        detectable=detectable_difference(goal, expected, plan.instances) if expected.max() > 0 else nan,
        noise_share=float(np.median(plan.noise_share)) if known else nan,
    )
