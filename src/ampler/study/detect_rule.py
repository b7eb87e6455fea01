"""The study rule that finds its own size: a pilot, one decision over instances and runs, and the rest. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from math import floor as whole
from math import log2, nan
from typing import Any

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.contracts import FinishedGroup
from ampler.core.errors import InvalidPlan
from ampler.core.plain import UNSAID
from ampler.core.settings import AnalysisSettings, asked_by
from ampler.core.values import Continue, EndStudy, Plan, StudyDecision
from ampler.design.detect import (
    EVEN_CAUTION,
    DetectGoal,
    MainPlan,
    checked_pilot,
    detectable_difference,
    instances_interval,
    least_power,
    mean_power,
    usual_caution,
    usual_early_caution,
    usual_growth,
    usual_slack,
)
from ampler.design.detect_words import after_pilot, at_end, bargain_note, before_pilot, carried_note, skewness_note
from ampler.design.early import usual_early
from ampler.design.pilot import PilotReport
from ampler.sampling.common_runs import common_runs
from ampler.stats.contrasts import Contrasts, contrasts_of
from ampler.stats.growth import FinalTest
from ampler.stats.shape import largest_shares
from ampler.study.cells import cell_statistics
from ampler.study.detect import FEWEST, PilotDecision, decide_after_pilot


@dataclass(frozen=True, slots=True, kw_only=True)
class Detect:
    """Find a difference of `detect`, in its own units, with the power of the question.

    The first `pilot` instances get `start` runs of each algorithm. From what they show it is decided, once, how many of
    the plan's instances are used and how many runs each algorithm gets on them. The other fields say how the pilot is
    read, as in DetectGoal.
    """

    detect: float
    pilot: int = 20  # instances
    start: int = 5  # runs of each algorithm
    instance_cost: float = 0.0
    least: int | None = None  # new instances after the pilot; if not said, none, or what a growth test needs
    share: float = 0.1
    slack: float | None = None  # if not said, what usual_slack says
    floor: float = 0.15
    plausible: float = 0.9
    caution: float | None = None  # if not said, what usual_caution says
    early: int | None = None  # of the pilot's instances, that may decide alone; if not said, none, or as growth needs
    stretch: float = 0.0  # where too few instances are there, runs are all that can be bought: as exact as is useful
    final_test: FinalTest | None = field(default=None, metadata={UNSAID: "growth"})  # None: "t", or as it was begun

    def __post_init__(self) -> None:
        for name, value in zip(("pilot", "start"), checked_pilot(self.pilot, self.start), strict=True):
            object.__setattr__(self, name, value)  # whole numbers may be said as 20.0

    def check(self, plan: Plan, /) -> None:
        """Raise InvalidPlan if a plan asks for what this rule cannot do."""
        asked = plan.question
        if asked.effect is not None:
            raise InvalidPlan("effect and detect both say which difference matters; leave effect out")
        if asked.test != "t":
            raise InvalidPlan(
                f"detect needs test = 't': the {asked.test} test has no form for a size that was chosen after a pilot;"
                " leave test out, or say effect and se instead of detect"
            )
        if asked.target != "mean":
            raise InvalidPlan(
                f"detect plans for the mean power of the comparisons; leave target out, got {asked.target!r}"
            )
        if len(plan.instances) < FEWEST:
            raise InvalidPlan(
                f"detect needs {FEWEST} or more instances to see how the differences vary, got {len(plan.instances)}"
            )
        self.goal(plan)

    def goal(self, plan: Plan) -> DetectGoal:
        """Return what is asked for of this plan."""
        asked = AnalysisSettings(**asked_by(plan.question))
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        family = plan.question.reference is not None, len(plan.algorithms)
        growth = self.final_test == "growth"
        usual = {
            "least": usual_growth(self.pilot) if growth else 0,
            "caution": usual_caution(*family) if growth else EVEN_CAUTION,
            "early": usual_early(self.pilot, self.instance_cost) if growth else 0,
            "slack": usual_slack(self.instance_cost),
            "final_test": "t",
        }
        return DetectGoal(
            **own | {name: value for name, value in usual.items() if own[name] is None},
            early_caution=usual_early_caution(*family),
            power=asked.power,
            alpha=asked.family_alpha,
            alternative=asked.alternative,
            costs=tuple(algorithm.cost for algorithm in plan.algorithms),
            available=len(plan.instances),
        )

    def resolved(self, plan: Plan) -> Detect:
        """Return the rule with no setting left open."""
        goal = self.goal(plan)
        derived = {"least": goal.least, "slack": goal.slack, "caution": goal.caution, "early": goal.early or 0}
        return replace(self, **derived, final_test=goal.final_test)  # type: ignore[arg-type]

    def groups(self, plan: Plan, /) -> Sequence[Sequence[str]]:
        """Return the pilot's instances, and all others; there may be no others."""
        names = [instance.name for instance in plan.instances]
        return (names[: self.pilot], names[self.pilot :]) if names else ()

    def __call__(self, plan: Plan, finished: Sequence[FinishedGroup], /) -> StudyDecision:
        """Ask for the pilot, then for what it shows to be needed, then end the study."""
        if not plan.instances:
            return EndStudy("There are no instances.")
        if not finished:
            return self._pilot(plan)
        if len(finished) > 1:
            return EndStudy(at_end(PilotReport.from_data(finished[1].asked.details)))
        report = self._report(plan, finished[0])
        said, data = after_pilot(report), report.to_data()
        notes = tuple(note for note in (skewness_note(report), carried_note(report)) if note is not None)
        if not report.going:
            return EndStudy(said, data, notes)
        runs = {name: count for name, count in report.runs.items() if count}
        instances = tuple(instance.name for instance in plan.instances[: report.planned])
        return Continue(tuple(runs), instances, runs, said, data, notes, last=True)

    def _pilot(self, plan: Plan) -> Continue:
        pilot, _ = self.groups(plan)
        runs = self._first_runs(plan)
        goal, available = self.goal(plan), len(plan.instances)
        said = before_pilot(goal, plan.question.difference, len(pilot), available, runs)
        note = bargain_note(goal, len(pilot), available, runs)
        return Continue(tuple(runs), tuple(pilot), runs, said, notes=() if note is None else (note,))

    def _first_runs(self, plan: Plan) -> dict[str, int]:
        return {algorithm.name: 1 if algorithm.deterministic else self.start for algorithm in plan.algorithms}

    def _report(self, plan: Plan, pilot: FinishedGroup) -> PilotReport:
        """What the pilot says; simple differences are counted in a unit of their own, so that squares are doubles."""
        unit = 2.0 ** whole(log2(self.detect)) if plan.question.difference == "simple" else 1.0
        goal = self.goal(plan).times(1 / unit)
        asked = plan.question
        names = tuple(algorithm.name for algorithm in plan.algorithms)
        contrasts = contrasts_of(
            names, difference=asked.difference, reference=asked.reference, formula=asked.formula or "corrected"
        )
        order = _in_order(pilot)
        theta, variances = (each[order] for each in cell_statistics(pilot.runs, plan, contrasts, unit=unit))
        counts = np.array([*self._first_runs(plan).values()], dtype=float)
        decision = decide_after_pilot(theta, variances, contrasts, goal, counts=counts)
        told = _told(decision, theta, variances, contrasts, goal, names, counts)
        return replace(told, instances=tuple(pilot.runs.instances[row] for row in order)).times(unit)


def _in_order(pilot: FinishedGroup) -> list[int]:
    """The rows of a group's runs in the order in which its instances were asked for."""
    place = {name: row for row, name in enumerate(pilot.runs.instances)}
    return [place[name] for name in pilot.asked.instances if name in place]


def _told(
    decision: PilotDecision,
    theta: Floats,
    variances: Floats,
    contrasts: Contrasts,
    goal: DetectGoal,
    names: tuple[str, ...],
    counts: Floats,
) -> PilotReport:
    phi = contrasts.differences(theta)
    spread = np.nanvar(phi, axis=0, ddof=1)
    noise = common_runs(contrasts, theta, variances).squared_errors(counts)
    test, first = decision.test, len(theta)
    assert goal.available is not None
    return PilotReport(
        difference=contrasts.difference,
        share=0.0 if goal.is_fixed else goal.share,
        detect=goal.detect,
        power=goal.power,
        alpha=goal.alpha,
        alternative=goal.alternative,
        instances=(),
        seen=decision.goal.seen or 0,
        final_test=goal.final_test,
        shares=_row(largest_shares(phi)) if goal.final_test == "t" else (),
        start=goal.start,
        available=goal.available,
        pairs=tuple((names[i], names[j]) for i, j in zip(contrasts.first, contrasts.second, strict=True)),
        means=_row(test.means),
        errors=_row(test.errors),
        freedom=_row(test.freedom),
        p_values=_row(test.p_values),
        clear=tuple(decision.clear.tolist()),
        skewness=_row(_skewness(phi)),
        deviations=_row(np.sqrt(spread)),
        noise_shares=_row(np.minimum(1.0, np.divide(noise, spread, out=np.zeros_like(noise), where=spread > 0))),
        **_planned(decision, names, counts, first),
    )


def _planned(decision: PilotDecision, names: tuple[str, ...], counts: Floats, pilot: int) -> dict[str, Any]:
    """What was decided, with what it will find."""
    plan, figures, goal = decision.plan, decision.figures, decision.goal
    if plan is None or figures is None:
        nothing = {"mean_power": nan, "least_power": nan, "detectable": nan, "se": nan}
        size = {"planned": pilot, "needed": pilot, "interval": (pilot, pilot), "total": int(pilot * counts.sum())}
        return {"runs": dict.fromkeys(names, 0), **size, **nothing}
    expected = np.array(plan.variances)
    return {
        "runs": dict(zip(names, plan.runs, strict=True)),
        "planned": plan.instances,
        "needed": plan.needed,
        "interval": instances_interval(figures, goal, plan),
        "mean_power": mean_power(goal, expected, plan.instances),
        "least_power": least_power(goal, expected, plan.instances),
        "se": plan.se,
        "detectable": nan if plan.enough else detectable_difference(goal, expected, plan.instances),
        "total": _total(plan, counts, pilot),
    }


def _total(plan: MainPlan, counts: Floats, pilot: int) -> int:
    """All runs: those of the algorithms that stay on every instance, those of the others on the pilot's."""
    return sum(
        plan.instances * runs if runs else int(pilot * first) for runs, first in zip(plan.runs, counts, strict=True)
    )


def _skewness(phi: Floats) -> Floats:
    """The adjusted sample skewness of each column; NaN where nothing varies."""
    n = (~np.isnan(phi)).sum(axis=0)
    deviations = np.nanstd(phi, axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        cubes = np.nansum(((phi - np.nanmean(phi, axis=0)) / deviations) ** 3, axis=0)
        return np.where(deviations > 0, cubes * n / ((n - 1) * (n - 2)), np.nan)


def _row(values: Floats) -> tuple[float, ...]:
    return tuple(values.tolist())
