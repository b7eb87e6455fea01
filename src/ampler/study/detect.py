"""The study rule with an internal pilot: a pilot, one decision on instances and runs, and the main part. Pure.

First the pilot: the first instances, a few runs of each algorithm. Then one decision: comparisons that are clear leave,
and the others get their number of instances and runs. Then the end. The decision sees only the first `start` runs of
the pilot's instances and the end only the runs that were planned, so that later runs change nothing: resuming replays.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from math import log2, nan
from typing import Any

import numpy as np

from ampler.core.arrays import Bools, Codes, Floats, Runs, adjusted_runs, paired_by_index
from ampler.core.contracts import FinishedGroup
from ampler.core.errors import InvalidData, InvalidPlan
from ampler.core.failures import lifted, values_under
from ampler.core.plan import Continue, EndStudy, Plan, StudyDecision
from ampler.core.serialization import DEFAULT_BEFORE_FIELD
from ampler.core.settings import Settings, check_detectable, question_settings
from ampler.core.text import amount, count
from ampler.design import detect as planning
from ampler.design.text import after_pilot, at_end, bargain_note, before_pilot, carried_note, skewness_note
from ampler.sampling.bias import common_runs
from ampler.stats.contrasts import Contrasts, contrasts_of
from ampler.stats.dependence import (
    MIN_CLUSTERS,
    VarianceComponents,
    cluster_codes,
    mean_covariances,
    shared_noise,
    variance_components,
)
from ampler.stats.internal_pilot import FinalTest, GrowthTest, clear_after_pilot, growth_test
from ampler.stats.shape import largest_shares, skewness
from ampler.stats.summaries import Mean, Rate, summary_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Detect:
    """Detect a difference of `detect`, in its own unit, with the power of the question.

    The first `pilot` instances get `start` runs of each algorithm. From what they show it is decided, once, how many of
    the plan's instances are used and how many runs each algorithm gets on them. The other fields say how the pilot is
    read, as in DetectGoal.
    """

    detect: float
    pilot: int = 20  # instances
    start: int = 5  # runs of each algorithm
    instance_cost: float = 0.0
    least: int | None = None  # new instances after the pilot; default: none, or as a growth test requires
    share: float = 0.1
    slack: float | None = None  # default: usual_slack
    floor: float = 0.15
    plausible: float = 0.9
    caution: float | None = None  # default: usual_caution
    early: int | None = None  # of the pilot's instances, that may decide alone; by default, none, or as growth needs
    stretch: float = 0.0  # if instances are scarce, more runs are the only remedy: up to the useful precision
    # None: "t", or as it was begun
    final_test: FinalTest | None = field(default=None, metadata={DEFAULT_BEFORE_FIELD: "growth"})

    def __post_init__(self) -> None:
        for name, value in zip(("pilot", "start"), planning.checked_pilot(self.pilot, self.start), strict=True):
            object.__setattr__(self, name, value)  # accept 20.0 for 20

    def check(self, plan: Plan, /) -> None:
        """Raise InvalidPlan if this rule does not support the plan."""
        question = plan.question
        if question.effect is not None:
            raise InvalidPlan("effect and detect both specify the smallest difference of interest; omit effect")
        if question.test != "t":
            raise InvalidPlan(
                f"detect needs test = 't', got {question.test!r}, which has no form for a pilot;"
                " omit test, or use effect and se instead of detect"
            )
        if (target := question.target) != "mean":
            raise InvalidPlan(f"detect plans for the mean power of the comparisons; omit target, got {target!r}")
        if question.cluster is not None:
            sizes = np.bincount(_cluster_codes(plan))
            if len(sizes) < MIN_CLUSTERS or (sizes >= planning.MIN_PER_CLUSTER).sum() < MIN_CLUSTERS:
                raise InvalidPlan(
                    f"detect needs {MIN_CLUSTERS} or more clusters with two instances each, got"
                    f" {(sizes >= planning.MIN_PER_CLUSTER).sum()} by {question.cluster!r}"
                )
            if question.mean_over == "instances":
                raise InvalidPlan("detect tests the means of clusters: leave mean-over out")
        if len(plan.instances) < FEWEST:
            raise InvalidPlan(f"detect needs {FEWEST} or more instances for a variance, got {len(plan.instances)}")
        check_detectable(self.goal(plan).detect, question.difference)

    def goal(self, plan: Plan) -> planning.DetectGoal:
        """Return the goal of the pilot for this plan."""
        level = {"equivalence_level": plan.analysis.get("equivalence_level", "own")}
        settings = Settings(**question_settings(plan.question) | level)
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        family = plan.question.reference is not None, len(plan.algorithms)
        growth = self.final_test == "growth"
        usual = {
            "least": planning.usual_growth(self.pilot) if growth else 0,
            "caution": planning.usual_caution(*family) if growth else planning.EVEN_CAUTION,
            "early": planning.usual_early(self.pilot, self.instance_cost) if growth else 0,
            "slack": planning.usual_slack(self.instance_cost),
            "final_test": "t",
        }
        return planning.DetectGoal(
            **own | {name: value for name, value in usual.items() if own[name] is None},
            early_caution=planning.usual_early_caution(*family),
            power=settings.power,
            alpha=settings.family_alpha,
            alternative=settings.alternative,
            costs=tuple(algorithm.cost for algorithm in plan.algorithms),
            available=len(plan.instances),
        )

    def resolved(self, plan: Plan) -> Detect:
        """Return the rule with every default filled in."""
        goal = self.goal(plan)
        derived = {"least": goal.least, "slack": goal.slack, "caution": goal.caution, "early": goal.early or 0}
        return replace(self, **derived, final_test=goal.final_test)  # type: ignore[arg-type]

    def groups(self, plan: Plan, /) -> Sequence[Sequence[str]]:
        """Return the pilot's instances, and all others; there may be no others."""
        names = [instance.name for instance in plan.instances]
        if plan.question.cluster is not None:
            pilot = _of_each_cluster(plan, planning.MIN_PER_CLUSTER)
            return pilot, [name for name in names if name not in set(pilot)]
        return (names[: self.pilot], names[self.pilot :]) if names else ()

    def __call__(self, plan: Plan, finished: Sequence[FinishedGroup], /) -> StudyDecision:
        """Request the pilot, then the planned runs, then end the study."""
        if not plan.instances:
            return EndStudy("There are no instances.")
        if plan.question.cluster is not None:
            return self._by_clusters(plan, finished)
        if not finished:
            pilot, goal, runs = self.groups(plan)[0], self.goal(plan), self._first_runs(plan)
            reason = before_pilot(goal, plan.question.difference, len(pilot), len(plan.instances), runs)
            note = bargain_note(goal, len(pilot), len(plan.instances), runs)
            return Continue(tuple(runs), tuple(pilot), runs, reason, notes=() if note is None else (note,))
        if len(finished) > 1:
            return EndStudy(at_end(planning.PilotReport.from_data(finished[1].asked.details)))
        report = self._report(plan, finished[0])
        reason, data = after_pilot(report), report.to_data()
        notes = tuple(note for note in (skewness_note(report), carried_note(report)) if note is not None)
        if not report.continuing:
            return EndStudy(reason, data, notes)
        runs = {name: count for name, count in report.runs.items() if count}
        instances = tuple(instance.name for instance in plan.instances[: report.planned])
        return Continue(tuple(runs), instances, runs, reason, data, notes, last=True)

    def _by_clusters(self, plan: Plan, finished: Sequence[FinishedGroup]) -> StudyDecision:
        """Ask for two instances of each cluster, then for as many as their variance within clusters needs."""
        names, first = tuple(algorithm.name for algorithm in plan.algorithms), self._first_runs(plan)
        clusters = int(_cluster_codes(plan).max()) + 1
        if not finished:
            pilot = tuple(self.groups(plan)[0])
            reason = (
                f"Pilot: {clusters} clusters by {plan.question.cluster}, {planning.MIN_PER_CLUSTER} instances of each,"
                f" and {max(first.values())} runs per algorithm on each. ampler then computes how many instances per"
                f" cluster and runs detect a difference of {amount(self.detect, plan.question.difference)}."
            )
            return Continue(names, pilot, first, reason)
        if len(finished) > 1:
            return EndStudy("All planned runs are complete. The means of the clusters are tested at the full level.")
        pilot_runs, contrasts = finished[0].runs, self._contrasts(plan)
        unit = self._unit(plan, pilot_runs)
        goal = self.goal(plan).times(1 / unit)
        theta, variances = cell_statistics(pilot_runs, plan, contrasts, unit=unit)
        runs = common_runs(contrasts, theta, variances, shared=pilot_noise(pilot_runs, plan, contrasts, unit=unit))
        phi, codes = contrasts.differences(theta), _cluster_codes(plan)
        places = {instance.name: place for place, instance in enumerate(plan.instances)}
        parts = [_parts(column, codes[[places[name] for name in pilot_runs.instances]]) for column in phi.T]
        counts = np.array([*first.values()], dtype=float)
        noise = zip((own.within for own in parts), runs.squared_errors(counts), strict=True)
        within = float(np.mean([max(0.0, own - own_noise) for own, own_noise in noise]))
        costs = None if goal.costs is None else np.asarray(goal.costs, dtype=float)
        decided = planning.plan_clusters(
            np.bincount(codes), within, phi.shape[1], goal, lambda se, least: runs.fewest(se, least, costs), counts
        )
        instances = _of_each_cluster(plan, decided.per_cluster)
        between = np.array([own.between for own in parts])
        details: dict[str, Any] = {
            "clusters": clusters,
            "per_cluster": decided.per_cluster,
            "instances": len(instances),
            "runs": dict(zip(names, decided.runs, strict=True)),
            "enough": decided.enough,
            "detectable": unit * planning.detectable_by_clusters(clusters, between, goal),
        }
        few = "" if decided.enough else " These are all instances, too few for the wanted power."
        least = amount(details["detectable"], plan.question.difference)
        floor = f" These {clusters} clusters cannot detect less than {least} with power {goal.power:g}."
        fewest, most = min(decided.runs), max(decided.runs)
        reason = (
            f"Plan: {clusters} clusters with up to {count(decided.per_cluster, 'instance')} each ({len(instances)} in"
            f" all), {f'{fewest} to ' if fewest < most else ''}{count(most, 'run')} per algorithm on each."
            f"{few}{floor if between.any() else ''}"
        )
        return Continue(names, tuple(instances), details["runs"], reason, details, last=True)

    def _contrasts(self, plan: Plan) -> Contrasts:
        question, names = plan.question, tuple(algorithm.name for algorithm in plan.algorithms)
        return contrasts_of(
            names, difference=question.difference, reference=question.reference, formula=question.formula or "corrected"
        )

    def _first_runs(self, plan: Plan) -> dict[str, int]:
        return {algorithm.name: 1 if algorithm.deterministic else self.start for algorithm in plan.algorithms}

    def _unit(self, plan: Plan, runs: Runs) -> float:
        """The unit in which simple differences are counted."""
        if plan.question.difference != "simple":
            return 1.0
        planning.check_magnitude(self.detect, float(np.abs(runs.value[runs.ok]).max(initial=0.0)))
        return float(2.0 ** math.floor(log2(self.detect)))

    def _report(self, plan: Plan, pilot: FinishedGroup) -> planning.PilotReport:
        """Results of the pilot; simple differences are scaled, so that squares stay within the doubles."""
        unit = self._unit(plan, pilot.runs)
        goal = self.goal(plan).times(1 / unit)
        names = tuple(algorithm.name for algorithm in plan.algorithms)
        contrasts = self._contrasts(plan)
        rows = {name: row for row, name in enumerate(pilot.runs.instances)}
        instances = tuple(name for name in pilot.asked.instances if name in rows)
        order = [rows[name] for name in instances]
        theta, variances = (cells[order] for cells in cell_statistics(pilot.runs, plan, contrasts, unit=unit))
        counts = np.array([*self._first_runs(plan).values()], dtype=float)
        shared = pilot_noise(pilot.runs, plan, contrasts, unit=unit)
        decision = decide_after_pilot(theta, variances, contrasts, goal, counts=counts, shared=shared)
        noise = common_runs(contrasts, theta, variances, shared=shared).squared_errors(counts)
        return pilot_report(decision, instances, theta, noise, contrasts, goal, names, counts).times(unit)


def _cluster_codes(plan: Plan) -> Codes:
    """The number of the cluster of each instance."""
    return cluster_codes([str(instance.features[plan.question.cluster or ""]) for instance in plan.instances])


def _of_each_cluster(plan: Plan, most: int) -> list[str]:
    """The first instances of each cluster, at most this many, in the plan's order."""
    seen: Counter[int] = Counter()
    names = []
    for instance, code in zip(plan.instances, _cluster_codes(plan).tolist(), strict=True):
        seen[code] += 1
        names += [instance.name] if seen[code] <= most else []
    return names


def _parts(column: Floats, codes: Codes) -> VarianceComponents:
    """The variances of the differences between and within clusters; InvalidData where the pilot does not tell them."""
    there = ~np.isnan(column)
    _, own = np.unique(codes[there], return_inverse=True)
    if there.sum() - len(np.unique(own)) < FEWEST or len(np.unique(own)) < MIN_CLUSTERS:
        raise InvalidData(
            f"every comparison needs {MIN_CLUSTERS} or more clusters of the pilot with two instances: look at the runs"
            " that failed"
        )
    return variance_components(column[there], own)


def pilot_report(
    decision: PilotDecision,
    instances: tuple[str, ...],
    theta: Floats,
    noise: Floats,
    contrasts: Contrasts,
    goal: planning.DetectGoal,
    names: tuple[str, ...],
    counts: Floats,
) -> planning.PilotReport:
    """Return the report of the pilot: its results, the decision, and the detectable difference.

    `noise` is the squared error of each comparison by its runs.
    """
    phi = contrasts.differences(theta)
    squares = np.nanvar(phi, axis=0, ddof=1)
    test, plan, figures, planned_for = decision.test, decision.plan, decision.figures, decision.goal
    assert goal.available is not None
    if plan is None or figures is None:
        nothing = {"mean_power": nan, "least_power": nan, "detectable": nan, "se": nan}
        n = len(theta)
        size = {"planned": n, "needed": n, "interval": (n, n), "total": int(n * counts.sum())}
        future: dict[str, Any] = {"runs": dict.fromkeys(names, 0), **size, **nothing}
    else:
        expected = np.array(plan.variances)
        future = {
            "runs": dict(zip(names, plan.runs, strict=True)),
            "planned": plan.instances,
            "needed": plan.needed,
            "interval": planning.instances_interval(figures, planned_for, plan),
            "mean_power": planning.mean_power(planned_for, expected, plan.instances),
            "least_power": planning.least_power(planned_for, expected, plan.instances),
            "se": plan.se,
            "detectable": nan if plan.enough else planning.detectable_difference(planned_for, expected, plan.instances),
            "total": sum(  # continuing algorithms on every instance, the others on the pilot's
                plan.instances * runs if runs else int(len(theta) * first)
                for runs, first in zip(plan.runs, counts, strict=True)
            ),
        }
    return planning.PilotReport(
        difference=contrasts.difference,
        share=0.0 if goal.is_fixed else goal.share,
        detect=goal.detect,
        power=goal.power,
        alpha=goal.alpha,
        alternative=goal.alternative,
        instances=instances,
        seen=planned_for.seen or 0,
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
        skewness=tuple(skewness(column[~np.isnan(column)]) for column in phi.T),
        deviations=_row(np.sqrt(squares)),
        noise_shares=_row(np.minimum(1.0, np.divide(noise, squares, out=np.zeros_like(noise), where=squares > 0))),
        **future,
    )


def _row(values: Floats) -> tuple[float, ...]:
    return tuple(values.tolist())


FEWEST = 3  # minimum number of pilot instances for a variance


@dataclass(frozen=True, slots=True, eq=False)
class PilotDecision:
    """Decision of the pilot."""

    test: GrowthTest  # the ordinary t-tests of the pilot
    clear: Bools  # comparisons significant by them
    figures: planning.PilotFigures | None  # of those that continue
    plan: planning.MainPlan | None  # None if nothing continues
    goal: planning.DetectGoal  # goal of the plan


def decide_after_pilot(
    theta: Floats,
    variances: Floats,
    contrasts: Contrasts,
    goal: planning.DetectGoal,
    *,
    counts: Floats | None = None,
    shared: Floats | None = None,
) -> PilotDecision:
    """Return which comparisons are clear after the pilot, and the plan for the others.

    `theta` holds the statistic of each algorithm (column) on each instance of the pilot (row) from the first `start`
    runs, `variances` the variance of one run; NaN is missing. `counts` are the runs that each algorithm had, if these
    are not `start`. `shared` is the noise of pairs whose runs share seeds, as `pilot_noise` gives it.
    """
    phi = contrasts.differences(theta)
    test = growth_test(phi, 1, alternative=goal.alternative)
    if test.freedom.min() < FEWEST - 1:
        raise InvalidData(
            f"every comparison needs at least {FEWEST} instances of the pilot, got {test.freedom.min() + 1:.0f}: "
            "check the failed runs"
        )
    clear = np.zeros(len(contrasts.first), dtype=np.bool_)
    if not goal.is_fixed:
        clear = clear_after_pilot(test.p_values, alpha=goal.alpha, share=goal.share)
    if clear.all():
        return PilotDecision(test, clear, None, None, goal)
    runs = common_runs(contrasts, theta, variances, ~clear, shared)
    playing = np.ones(contrasts.size, dtype=np.bool_)
    if contrasts.difference != "percent" or contrasts.reference is not None:  # else there is one grand mean for all
        playing = np.isin(np.arange(contrasts.size), (contrasts.first[~clear], contrasts.second[~clear]))
    if contrasts.reference is None:
        goal = replace(goal, together=planning.differing_together(int(playing.sum()), int((~clear).sum())))
    figures = planning.PilotFigures(
        variances=np.nanvar(phi[:, ~clear], axis=0, ddof=1),
        noise=runs.noise if runs.shared is None else runs.shared,
        counts=np.full(contrasts.size, float(goal.start)) if counts is None else counts,
        freedom=test.freedom[~clear],
        in_play=playing,
        differences=phi[:, ~clear] if goal.final_test == "t" else None,
    )
    costs = None if goal.costs is None else np.asarray(goal.costs, dtype=float)

    def fewest(se: float, lower: Floats) -> Floats:
        return runs.fewest(se, lower, costs)

    planned = planning.plan_from_half_or_all(figures, phi[:, ~clear], goal, fewest)
    return PilotDecision(test, clear, planned.figures, planned.plan, planned.goal)


def cell_statistics(
    runs: Runs, plan: Plan, contrasts: Contrasts | None = None, *, unit: float = 1.0
) -> tuple[Floats, Floats]:
    """Return statistics and variances, instances in rows as the runs name them, algorithms in the plan's order.

    They are those of the values in `unit`, corrected for run noise where the contrasts are ratios; NaN where an
    algorithm has too few of them: two, or one if it is deterministic.
    """
    summary, shape = summary_of(plan.question.statistic), (len(runs.instances), len(plan.algorithms))
    cells, deterministic = _values_by_cell(runs, plan), [algorithm.deterministic for algorithm in plan.algorithms]
    theta, variances = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
    lengths = {len(values) for values in cells}
    if isinstance(summary, Mean) and not any(deterministic) and lengths == {max(2, len(cells[0]))}:
        block = np.array(cells) / unit  # means of equally many runs all at once
        theta, variances = block.mean(axis=1), block.var(axis=1, ddof=1)
    else:
        own, later = (1.0, unit) if isinstance(summary, Rate) else (unit, 1.0)  # successes are 1 in any unit
        for cell, values in enumerate(cells):
            exact = deterministic[cell % shape[1]]
            if len(values) >= (1 if exact else 2):
                theta[cell] = summary(values / own) / later
                variances[cell] = 0.0 if exact else summary.spread(values / own) / later**2
    theta, variances = theta.reshape(shape), variances.reshape(shape)
    for i, k in np.argwhere(theta <= 0)[:1] if plan.question.difference != "simple" else ():
        raise InvalidData(
            f"{plan.question.difference} differences need positive values: the statistic of algorithm"
            f" {plan.algorithms[k].name!r} on instance {runs.instances[i]!r} is {theta[i, k]:g}; use difference"
            " 'simple', or raise small values to a floor, e.g. 1e-8"
        )
    if contrasts is None or not contrasts.corrects(unbiased=summary.unbiased):
        return theta, variances
    counts = np.array([len(values) for values in cells]).reshape(shape)
    shared = None  # covariances of the statistics with their denominators
    if plan.seeds == "shared" and isinstance(summary, Mean) and contrasts.difference == "percent":
        covariances = np.array([mean_covariances(table) for table in _shared_tables(runs, plan, unit)])
        base = contrasts.reference
        shared = covariances.sum(axis=2) if base is None else covariances[:, :, base]
    with np.errstate(invalid="ignore", divide="ignore"):
        theta, factors = contrasts.corrected(theta, variances / counts, shared)
    return theta, variances * factors


def pilot_noise(runs: Runs, plan: Plan, contrasts: Contrasts, *, unit: float = 1.0) -> Floats | None:
    """Return the mean noise of each pair over instances where runs share seeds; None where they do not."""
    if plan.seeds == "own" or plan.question.statistic != "mean":
        return None
    tables = [table for table in _shared_tables(runs, plan, unit) if np.isfinite(table).any(axis=0).all()]
    noise = [shared_noise(contrasts.gradient(np.nanmean(table, axis=0)), table) for table in tables]
    return np.asarray(np.nanmean(noise, axis=0))


def _shared_tables(runs: Runs, plan: Plan, unit: float) -> list[Floats]:
    """The values of each instance: the index of the run in rows, algorithms in the plan's order in columns."""
    value, counted, column = _counted_values(runs, plan)
    index, certain = paired_by_index(runs).shared, [algorithm.deterministic for algorithm in plan.algorithms]
    assert index is not None
    tables = []
    for instance in range(len(runs.instances)):
        own = counted & (runs.instance == instance)
        table = np.full((int(index[own].max(initial=0)) + 1, len(certain)), np.nan)
        table[index[own], column[own]] = value[own] / unit
        table[:, certain] = table[0, certain]
        tables.append(table)
    return tables


def _counted_values(runs: Runs, plan: Plan) -> tuple[Floats, Bools, Codes]:
    """Each run's value, whether it counts, and the place of its algorithm in the plan."""
    floor = plan.question.floor
    value, counted = values_under(adjusted_runs(runs, floor, plan.question.shift), lifted(plan.policy, floor))
    columns = {algorithm.name: column for column, algorithm in enumerate(plan.algorithms)}
    return value, counted, np.array([columns[name] for name in runs.algorithms])[runs.algorithm]


def _values_by_cell(runs: Runs, plan: Plan) -> list[Floats]:
    """The values that count, cell by cell, in the order of the runs."""
    value, counted, column = _counted_values(runs, plan)
    algorithms = len(plan.algorithms)
    cell = (runs.instance * algorithms + column)[counted]
    order = np.argsort(cell, kind="stable")
    ends = np.searchsorted(cell[order], np.arange(1, len(runs.instances) * algorithms))
    return np.split(value[counted][order], ends)
