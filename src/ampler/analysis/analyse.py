"""The steps from runs to an Analysis.

runs ─► blocks ─► differences ─► compare (Holm) ─► verdicts
          └─► accuracy, cautions, exploration, omnibus tests
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np

from ampler.analysis import cautions, stopping
from ampler.analysis.blocks import Blocks, Cells, summarise
from ampler.analysis.compare import Comparison, Doubt, Equivalence, compare, equivalence, smallest_sample
from ampler.analysis.estimates import Estimates
from ampler.analysis.exploration import (
    Conclusion,
    Features,
    Findings,
    OtherPolicy,
    Signs,
    decisions,
    other_policies,
    signs_of,
    stability,
    subgroups,
)
from ampler.analysis.failure_bounds import FailureBound, failure_bounds, with_failures
from ampler.analysis.grown import GrownFamily, as_decided, decided_when, grown_equivalence, grown_family, would_be_found
from ampler.analysis.look_family import LookedFamily
from ampler.analysis.look_words import skewed_note, underpowered_looks
from ampler.analysis.looked import LookCourse, Replay, replayed
from ampler.analysis.noise_width import NoiseError, noise_errors, not_equivalent, widened, width_doubt
from ampler.analysis.observed import observe, usable_cells
from ampler.analysis.one_instance import RunFamily, other_test, run_family, skewed_runs, this_instance_only
from ampler.analysis.pairing import guarded_paired_errors, paired_errors
from ampler.analysis.percent_roles import role_doubts
from ampler.analysis.results import AlgorithmRuns, Analysis, Diagnosis, InstanceAccuracy
from ampler.analysis.robustness import Robustness, agreement, robustness, shape_doubts
from ampler.analysis.run_noise import noise_doubts
from ampler.analysis.stopping import Shift, shift_of
from ampler.analysis.units import accuracy_in_words
from ampler.analysis.words import verdict
from ampler.core.arrays import Bools, Counts, Floats, Pair
from ampler.core.choices import Test
from ampler.core.contracts import Statistic
from ampler.core.errors import InvalidDesign
from ampler.core.failures import Drop, FailurePolicy, WorstSeen, policy_words, with_cutoff
from ampler.core.names import known_as
from ampler.core.runs import STATUSES, Runs, on_instances
from ampler.core.settings import AnalysisSettings
from ampler.core.values import Caution
from ampler.design import achieved_power, detectable_effect
from ampler.design.pilot import PilotReport
from ampler.sampling.rules import Accuracy
from ampler.stats.contrasts import Contrasts
from ampler.stats.location import is_constant, location
from ampler.stats.omnibus import Omnibus, omnibus
from ampler.stats.paired import FEWEST, paired_test, present, present_columns
from ampler.stats.shape import skewness


def analyse_runs(
    runs: Runs,
    settings: AnalysisSettings,
    *,
    features: Features | None = None,
    deterministic: Collection[str] | None = None,
    rule: Accuracy | None = None,
    course: PilotReport | None = None,
    looks: LookCourse | None = None,
    fixed_runs: bool = False,
) -> Analysis:
    """Compare the algorithms pair by pair over the instances, with Holm's correction.

    `features` group the instances, for exploring. `deterministic` names the algorithms whose value never changes: then
    all others need two values per instance. `rule` looked at the values and decided on the runs, if one did,
    `course` is how they decided on the number of instances, and `looks` how they were looked at on the way.
    `fixed_runs` says that the values of an instance did not decide on its runs.

    >>> runs = Runs.from_columns(["a", "b", "c", "d"] * 2, ["old"] * 4 + ["new"] * 4, [9, 8, 7, 9, 5, 4, 4, 6])
    >>> analyse_runs(runs, AnalysisSettings(difference="simple")).comparisons[0].verdict
    'new is better: lower by 3.50 on average, joint 95 % interval 2.58 to 4.42'
    """
    settings = replace(settings, failures=with_cutoff(settings.failures, runs))
    runs = runs if looks is None else on_instances(runs, looks.names)
    prepared = _prepared(runs, settings, deterministic, rule or _said_rule(settings))
    return _analysis(replace(prepared, course=course, looks=looks, fixed_runs=fixed_runs), features or {})


def _analysis(prepared: Prepared, features: Features) -> Analysis:
    settings, pairs, differences = prepared.settings, prepared.pairs, prepared.differences
    comparisons = _comparisons(prepared)
    robust = _robustness(prepared, comparisons)
    bounds = failure_bounds(comparisons, prepared.runs, prepared.blocks, prepared.contrasts, settings=settings)
    noise: list[NoiseError | None] = [None] * len(comparisons)
    if settings.formula == "corrected":  # studies of earlier versions keep their intervals
        noise = noise_errors(differences, prepared.errors, _freedom(prepared))
    comparisons = widened(comparisons, noise, alternative=settings.alternative, alpha=settings.family_alpha)
    comparisons = tuple(map(with_failures, comparisons, bounds))
    doubts = _doubts(prepared, comparisons, robust, bounds, noise)
    comparisons = tuple(replace(each, doubts=own) for each, own in zip(comparisons, doubts, strict=True))
    same = map(not_equivalent, _equivalences(prepared), comparisons, noise)
    diagnoses = _diagnoses(prepared, tuple(same), bounds, robust)
    detectable = _detectable(prepared, comparisons)
    found_by_fewest = detectable[smallest_sample(comparisons)] if detectable else math.nan
    if prepared.looks is not None:
        found_by_fewest = _detectable_with(prepared.looks.looks[-1], prepared)
    together = _omnibus(prepared)
    accuracy = _accuracy(prepared)
    others = _other_policies(prepared)
    return Analysis(
        settings=replace(settings, statistic=settings.statistic_name),
        comparisons=_in_words(comparisons, diagnoses, prepared, detectable, robust),
        instances=len(differences),
        runs=int(prepared.cells.counts.sum()),
        algorithms=_algorithms(prepared, together),
        accuracy=accuracy,
        excluded=prepared.excluded,
        incomplete=prepared.incomplete,
        detectable_effect=found_by_fewest,
        warnings=_warnings(prepared, comparisons, diagnoses, accuracy, found_by_fewest, others, robust),
        diagnoses=diagnoses,
        omnibus=together,
        subgroups=subgroups(
            differences,
            pairs,
            prepared.blocks.instances,
            features,
            test=settings.paired_test,
            alternative=settings.alternative,
            alpha=settings.alpha,
        ),
        stability=_stability(prepared),
        other_policies=others,
        pairs=pairs,
        statistics=prepared.blocks.statistics,
        differences=differences,
        errors=prepared.errors,
        guarded_errors=prepared.guarded,
        course=prepared.course,
        recorded=prepared.runs,
        features=features,
        looks=None if prepared.replay is None else prepared.replay.looked,
    )


# what every step looks at -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Prepared:
    """What every step looks at: the settings, and the differences they are about."""

    settings: AnalysisSettings
    deterministic: Collection[str] | None
    runs: Runs
    contrasts: Contrasts
    estimates: Estimates
    excluded: Mapping[str, str]
    incomplete: Mapping[str, str]
    course: PilotReport | None = None
    looks: LookCourse | None = None
    fixed_runs: bool = False

    @property
    def cells(self) -> Cells:
        """The values of every algorithm on every instance."""
        return self.estimates.cells

    @property
    def blocks(self) -> Blocks:
        """Their statistics, from all runs."""
        return self.estimates.blocks

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The compared algorithms, by name."""
        names = self.runs.algorithms
        return tuple((names[i], names[j]) for i, j in zip(self.contrasts.first, self.contrasts.second, strict=True))

    @cached_property
    def differences(self) -> Floats:
        """The difference of each pair (column) on each instance (row); NaN where one of the two lacks it.

        Where there were looks, these are the differences that the comparison was decided by.
        """
        if self.replay is None:
            return self.estimates.differences(self.contrasts, self.settings.estimate)
        places = [self.replay.course.names.index(name) for name in self.blocks.instances]
        return self.replay.differences[places]

    @cached_property
    def equal(self) -> Bools:
        """Which pairs are compared by their mean and have the same difference on every instance."""
        means = paired_test(self.settings.test).estimand.name == "mean"
        columns = present_columns(self.differences)
        return np.array([means and len(column) >= FEWEST and is_constant(column) for column in columns])

    @cached_property
    def replay(self) -> Replay | None:
        """The looks taken again, if there were any."""
        if self.looks is None:
            return None
        return replayed(self.runs, self.looks, self.settings, self.deterministic, self.estimates.rule)

    @cached_property
    def shift(self) -> Shift | None:
        """What stopping by the values did to their means."""
        return shift_of(self.estimates, self.contrasts, self.settings.estimate)

    @cached_property
    def errors(self) -> Floats:
        """Their standard errors."""
        if self.runs.shared is not None:
            return paired_errors(self.cells, self.blocks, self.contrasts)
        return self.blocks.errors(self.contrasts)

    @cached_property
    def guarded(self) -> Floats:
        """Their standard errors as a cautious reader takes them."""
        how = self.settings
        if self.runs.shared is not None:
            return guarded_paired_errors(self.cells, self.blocks, self.contrasts, how.guard, how.guard_edition)
        return self.blocks.errors(self.contrasts, guard=how.guard, edition=how.guard_edition)

    def design(self, instances: int) -> dict[str, Any]:
        """Return the terms of the design that this analysis is on so many instances, as `design` takes them."""
        asked = {"alpha": self.settings.family_alpha, "alternative": self.settings.alternative}
        return {"instances": instances, "comparisons": len(self.pairs), "test": self.settings.test} | asked

    def differences_under(self, policy: FailurePolicy | WorstSeen | None) -> Floats:
        """Return the differences that another way of counting failed runs gives."""
        cells = usable_cells(self.runs, policy, self.contrasts, self.deterministic).cells
        return self.differencing(cells, self.settings.statistic)(self.contrasts)

    def differencing(self, cells: Cells, statistic: str | Statistic) -> Callable[[Contrasts], Floats]:
        """Return what gives the differences of these cells by this statistic, estimated as those of the analysis."""
        rule = self.estimates.rule
        precise = rule is not None or self.contrasts.formula == "corrected"
        paired = self.runs.shared is not None
        blocks = summarise(cells, statistic, deterministic=self.deterministic, accuracy=precise, paired=paired)
        return partial(Estimates(cells, blocks, statistic, rule).differences, estimate=self.settings.estimate)

    @property
    def unplanned(self) -> Mapping[str, str]:
        """The incomplete instances, without those on which algorithms are missing that had left by then."""
        left = set() if self.course is None else {*self.course.left}
        gone = np.array([name in left for name in self.cells.algorithms])
        if self.looks is not None:
            asked = self.looks.asked
            gone = np.array([[k not in asked[i] for k in self.cells.algorithms] for i in self.cells.instances])
        planned = ((self.cells.counts > 0) | gone).all(axis=1)
        as_meant = {name for name, meant in zip(self.cells.instances, planned, strict=True) if meant}
        return {name: reason for name, reason in self.incomplete.items() if name not in as_meant}

    def family(self, differences: Floats) -> GrownFamily | LookedFamily | None:
        """Return what tests these differences, where the values decided on their number; None: the test itself."""
        if self.replay is not None:
            return LookedFamily(self.replay) if differences is self.differences else None
        if self.course is None or self.course.is_fixed or len(differences) != len(self.blocks.instances):
            return None
        return grown_family(self.course, differences, self.blocks.instances, self.settings.family_alpha)

    @cached_property
    def of_runs(self) -> RunFamily | None:
        """The comparisons of the runs themselves, where there is one instance; None: instances are the sample."""
        if len(self.runs.instances) > 1:
            return None
        return run_family(self.estimates, self.contrasts, self.pairs, self.settings, self.settings.test)

    @cached_property
    def found(self) -> Signs:
        """What is found of each pair."""
        return self.decide(self.differences) if self.of_runs is None else self.of_runs.signs

    def found_under(self, policy: FailurePolicy | WorstSeen | None) -> Findings:
        """Return what another way of counting failed runs finds, and on how many instances."""
        if self.of_runs is None:
            differences = self.differences_under(policy)
            return Findings(self.decide(differences), len(differences))
        cells = usable_cells(self.runs, policy, self.contrasts, self.deterministic).cells
        how = self.settings
        blocks = summarise(cells, how.statistic, deterministic=self.deterministic)
        estimates = Estimates(cells, blocks, how.statistic, self.estimates.rule)
        return Findings(run_family(estimates, self.contrasts, self.pairs, how, how.test).signs, 1)

    def decide(self, differences: Floats) -> Signs:
        """Return what is found of each pair if these are the differences."""
        asked = self.settings
        family = self.family(differences)
        if family is not None:
            return signs_of(family.steps.rejected, differences, asked.paired_test)
        return decisions(differences, test=asked.paired_test, alternative=asked.alternative, alpha=asked.family_alpha)


def _said_rule(settings: AnalysisSettings) -> Accuracy | None:
    """The rule by its words, where the user knows it and the source does not."""
    if settings.se is None or settings.start is None:
        return None
    words = {name: getattr(settings, name) for name in ("difference", "reference", "statistic", "budget", "guard")}
    return Accuracy(se=settings.se, start=settings.start, formula=settings.formula, **words)


def _prepared(
    runs: Runs, settings: AnalysisSettings, deterministic: Collection[str] | None, rule: Accuracy | None
) -> Prepared:
    """Everything the steps need; InvalidInput says what does not fit."""
    seen = observe(runs, settings, deterministic, rule)
    return Prepared(settings, deterministic, seen.runs, seen.contrasts, seen.estimates, seen.excluded, seen.incomplete)


# comparisons ------------------------------------------------------------------------------------------------------


def _comparisons(prepared: Prepared) -> tuple[Comparison, ...]:
    settings = prepared.settings
    if prepared.of_runs is not None:
        return prepared.of_runs.comparisons()
    family = prepared.family(prepared.differences)
    comparisons = compare(
        prepared.differences,
        prepared.pairs,
        test=settings.paired_test,
        alternative=settings.alternative,
        alpha=settings.family_alpha,
        family=family,
    )
    comparisons = as_decided(comparisons, family) if isinstance(family, GrownFamily) else comparisons
    return tuple(_unknown(each) if equal else each for each, equal in zip(comparisons, prepared.equal, strict=True))


def _unknown(comparison: Comparison) -> Comparison:
    """A comparison of means whose differences are all equal, whatever tests it: nothing is known of how they vary."""
    whole = (-math.inf, math.inf)
    return replace(comparison, p_value=1.0, p_holm=1.0, rejected=False, interval=whole, joint_interval=whole)


def _robustness(prepared: Prepared, comparisons: Sequence[Comparison]) -> Robustness | None:
    """What claims of means over the instances rest on; None for other tests, and after looks."""
    how = prepared.settings
    if prepared.of_runs is not None or prepared.replay is not None or paired_test(how.test).when_skewed != "errs":
        return None
    rejected = np.array([each.rejected for each in comparisons])
    return robustness(prepared.differences, rejected, alternative=how.alternative, alpha=how.family_alpha)


def _doubts(
    prepared: Prepared,
    comparisons: Sequence[Comparison],
    robust: Robustness | None,
    bounds: Sequence[FailureBound | None],
    noise: Sequence[NoiseError | None],
) -> list[tuple[Doubt, ...]]:
    """What speaks against claiming the differences that the test finds, in the order of the pairs."""
    settings, estimates = prepared.settings, prepared.estimates
    roles = role_doubts(
        comparisons,
        prepared.differences,
        prepared.contrasts,
        prepared.differencing(prepared.cells, settings.statistic),
        settings=settings,
    )
    blocks = estimates.of_first_runs().blocks if settings.estimate == "first-runs" else estimates.blocks
    corrected = estimates.rule is not None and settings.estimate != "all-runs"
    uncertain = noise_doubts(comparisons, prepared.differences, blocks, prepared.contrasts, corrected=corrected)
    unseen = [(each.doubt,) if each is not None and each.in_doubt else () for each in bounds]
    wide = [width_doubt(each, own, settings.alternative) for each, own in zip(comparisons, noise, strict=True)]
    shape = [()] * len(comparisons) if robust is None else shape_doubts(robust)
    return [tuple(chain(*doubts)) for doubts in zip(roles, shape, uncertain, unseen, wide, strict=True)]


def _freedom(prepared: Prepared) -> Floats:
    """The runs behind the standard error of each difference, less one for each of its two means."""
    counts, contrasts = prepared.blocks.counts, prepared.contrasts
    return np.asarray(np.maximum(counts[:, contrasts.first] + counts[:, contrasts.second] - 2.0, 1.0))


def _in_words(
    comparisons: Sequence[Comparison],
    diagnoses: Sequence[Diagnosis],
    prepared: Prepared,
    detectable: Mapping[int, float],
    robust: Robustness | None,
) -> tuple[Comparison, ...]:
    """The comparisons with their verdicts, in Holm's order."""
    dropped, one_instance = _dropped(prepared), prepared.of_runs is not None
    said = (
        replace(
            each,
            verdict=verdict(
                each,
                diagnosis.equivalence,
                prepared.settings,
                detectable.get(each.instances, math.nan),
                dropped=not dropped.isdisjoint((each.first, each.second)),
                early=diagnosis.decided == "pilot",
                would="" if prepared.course is None else would_be_found(prepared.course),
                one_instance=one_instance,
                looked=None if prepared.replay is None else prepared.replay.looked,
                unsolved=_unsolved(prepared, diagnosis),
                agreement="" if robust is None else agreement(robust, k),
                equal=not one_instance and bool(prepared.equal[k]),
            ),
        )
        for k, (each, diagnosis) in enumerate(zip(comparisons, diagnoses, strict=True))
    )
    return tuple(sorted(said, key=lambda comparison: comparison.rank))


def _unsolved(prepared: Prepared, diagnosis: Diagnosis) -> list[str]:
    """The instances on which neither gave a value, as people know them; none where failed runs do not count."""
    if not diagnosis.unsolved_instances or isinstance(prepared.settings.failures, Drop):
        return []
    short = known_as(prepared.runs.instances)
    return [short[name] for name in diagnosis.unsolved_instances]


def _dropped(prepared: Prepared) -> set[str]:
    """The algorithms of which failed runs were dropped."""
    if not isinstance(prepared.settings.failures, Drop):
        return set()
    return {algorithm for algorithm, _ in prepared.runs.failures()}


def _diagnoses(
    prepared: Prepared,
    same: Sequence[Equivalence | None],
    bounds: Sequence[FailureBound | None],
    robust: Robustness | None,
) -> tuple[Diagnosis, ...]:
    unsolved = cautions.neither_solved(prepared.runs, prepared.contrasts)
    shift = prepared.shift
    return tuple(
        Diagnosis(
            *pair,
            noise_share=_noise_share(prepared.differences[:, k], prepared.errors[:, k]),
            skewness=skewness(present(prepared.differences[:, k])),
            equivalence=same[k],
            unsolved=int(unsolved[:, k].sum()),
            unsolved_instances=tuple(prepared.runs.instances[i] for i in np.flatnonzero(unsolved[:, k])),
            all_runs=math.nan if shift is None else float(shift.all_runs[k]),
            first_runs=math.nan if shift is None else float(shift.first_runs[k]),
            decided=_decided_when(prepared, k),
            agree=() if robust is None else robust.agree[k],
            disagree=() if robust is None else robust.disagree[k],
            failure_bound=bounds[k],
        )
        for k, pair in enumerate(prepared.pairs)
    )


def _decided_when(prepared: Prepared, place: int) -> str:
    if prepared.replay is None:
        return decided_when(prepared.course, place)
    standing = prepared.replay.standings[place]
    return "" if standing.verdict == "continue" else f"look {standing.look}"


def _equivalences(prepared: Prepared) -> Sequence[Equivalence | None]:
    margin = prepared.settings.margin
    return [None] * len(prepared.pairs) if margin is None else _equivalence(prepared, margin)


def _equivalence(prepared: Prepared, margin: float) -> tuple[Equivalence, ...]:
    how = prepared.settings
    if prepared.of_runs is not None:
        return prepared.of_runs.equivalence(margin, how.alpha / 2)
    family = prepared.family(prepared.differences)
    if isinstance(family, GrownFamily):
        found = grown_equivalence(family, margin, how.alpha / 2)
        return tuple(
            replace(each, established=each.established and not equal)
            for each, equal in zip(found, prepared.equal, strict=True)
        )
    return equivalence(prepared.differences, margin=margin, test=how.paired_test, alpha=how.alpha / 2)


def _noise_share(differences: Floats, errors: Floats) -> float:
    """The mean squared standard error as a share of the variance of the differences."""
    there = ~np.isnan(differences)
    if there.sum() < FEWEST:
        return math.nan
    _, sd, exponent = location(differences[there])
    if sd == 0:
        return math.nan
    with np.errstate(over="ignore"):  # noise beyond all measure is infinite
        return float(np.mean((np.ldexp(errors[there], -exponent) / sd) ** 2))


def _detectable(prepared: Prepared, comparisons: Sequence[Comparison]) -> dict[int, float]:
    """The effect found with the power wanted, by the number of instances a comparison has."""
    counts = {each.instances for each in comparisons if each.instances >= FEWEST}
    return {instances: _detectable_with(instances, prepared) for instances in counts}


def _detectable_with(instances: int, prepared: Prepared) -> float:
    try:
        return detectable_effect(power=prepared.settings.power, **prepared.design(instances)).effect
    except InvalidDesign:  # too few instances for this test to find anything
        return math.nan


def _reached_power(prepared: Prepared, instances: int) -> float:
    """The mean power for the effect that was planned for."""
    if prepared.settings.effect is None:
        return math.nan
    try:
        return achieved_power(effect=prepared.settings.effect, **prepared.design(instances)).power
    except InvalidDesign:
        return 0.0


# beside the comparisons -------------------------------------------------------------------------------------------


def _omnibus(prepared: Prepared) -> Omnibus | None:
    """On the statistics of the complete instances, or on their logarithms when ratios are compared.

    None where fewer than two instances are complete.
    """
    settings = prepared.settings
    values = prepared.blocks.statistics[prepared.blocks.present.all(axis=1)]
    if len(values) < FEWEST:
        return None
    if settings.difference == "ratio":
        values = np.log(values)
    return omnibus(values, better=settings.better, alpha=settings.alpha)


def _accuracy(prepared: Prepared) -> tuple[InstanceAccuracy, ...]:
    rows = zip(
        prepared.blocks.instances,
        prepared.cells.spent,
        ~np.isnan(prepared.differences),
        prepared.errors,
        prepared.guarded,
        strict=True,
    )
    return tuple(_instance_accuracy(*row, prepared.pairs, prepared.settings) for row in rows)


def _instance_accuracy(
    name: str,
    spent: Counts,
    there: Bools,
    errors: Floats,
    guarded: Floats,
    pairs: Sequence[Pair],
    settings: AnalysisSettings,
) -> InstanceAccuracy:
    """The largest errors over the pairs that are `there`; not known unless all of them are."""
    error = float(errors[there].max()) if there.any() else math.nan
    known = math.isfinite(error)
    return InstanceAccuracy(
        instance=name,
        runs=tuple(spent.tolist()),
        error=error,
        guarded_error=float(guarded[there].max()) if there.any() else math.nan,
        worst=pairs[int(np.nanargmax(np.where(there, errors, np.nan)))] if known else None,
        at_budget=settings.budget is not None and int(spent.sum()) >= settings.budget,
        accurate=None if settings.se is None or not known else error <= settings.se,
    )


def _algorithms(prepared: Prepared, together: Omnibus | None) -> tuple[AlgorithmRuns, ...]:
    runs = prepared.runs
    size = len(STATUSES)
    ends = np.bincount(runs.algorithm * size + runs.status, minlength=len(runs.algorithms) * size).reshape(-1, size)
    return tuple(
        AlgorithmRuns(
            algorithm=name,
            runs=int(ends[k].sum()),
            solved=int(ends[k, 0]),
            failures={status: int(ends[k, place]) for place, status in enumerate(STATUSES) if place and ends[k, place]},
            mean_rank=together.mean_ranks[k] if together is not None else math.nan,
        )
        for k, name in enumerate(runs.algorithms)
    )


def _stability(prepared: Prepared) -> tuple[Conclusion, ...]:
    """What other tests, differences and statistics would find."""
    family, how = prepared.of_runs, prepared.settings
    if family is None:
        return stability(
            partial(prepared.differencing, prepared.cells),
            prepared.contrasts,
            prepared.found,
            alternative=how.alternative,
            alpha=how.family_alpha,
            rates=how.are_rates,
        )
    if how.statistic != "mean":
        return other_test(family, None)
    rival: Test = "wilcoxon" if family.test == "t" else "t"
    return other_test(family, run_family(prepared.estimates, prepared.contrasts, prepared.pairs, how, rival))


def _other_policies(prepared: Prepared) -> tuple[OtherPolicy, ...]:
    """If runs failed: what would be found if they counted as something else."""
    if prepared.runs.ok.all():
        return ()
    give = {
        policy_words(policy): partial(prepared.found_under, policy)
        for policy in (Drop(), WorstSeen(prepared.settings.better))
        if policy != prepared.settings.failures
    }
    return other_policies(give, prepared.pairs, prepared.found)


def _warnings(
    prepared: Prepared,
    comparisons: tuple[Comparison, ...],
    diagnoses: tuple[Diagnosis, ...],
    accuracy: tuple[InstanceAccuracy, ...],
    detectable: float,
    others: tuple[OtherPolicy, ...],
    robust: Robustness | None,
) -> tuple[Caution, ...]:
    settings, blocks, pairs = prepared.settings, prepared.blocks, prepared.pairs
    found = [
        None if prepared.of_runs is None else this_instance_only(blocks.instances[0]),
        *_about_stopping(prepared),
        cautions.failed_runs(prepared.runs, others),
        None if isinstance(settings.failures, Drop) else cautions.both_failed(prepared.runs, prepared.contrasts, pairs),
        cautions.unmatched_runs(prepared.runs, prepared.cells, settings),
        cautions.incomplete_blocks(
            prepared.excluded, prepared.unplanned, comparisons, prepared.runs, len(blocks.instances)
        ),
        cautions.plain_rates(prepared.cells, settings),
        cautions.pseudoreplication(blocks),
        None if settings.are_rates else cautions.duplicates(blocks),
        cautions.repeated_runs(prepared.cells),
        cautions.budget_spent(
            [row.instance for row in accuracy if row.at_budget],
            [row.instance for row in accuracy if row.at_budget and row.guarded_error <= (settings.se or 0.0)],
            blocks,
            settings.budget,
        ),
        _accuracy_missed(prepared, accuracy),
        None if settings.se is None else cautions.heavy_tails(blocks),
        cautions.accuracy_unknown(blocks),
        cautions.near_zero(blocks, prepared.contrasts, prepared.differences, settings),
        *(_over_instances(prepared, comparisons, diagnoses, detectable, robust) if prepared.of_runs is None else ()),
    ]
    return tuple(caution for caution in found if caution is not None)


def _over_instances(
    prepared: Prepared,
    comparisons: tuple[Comparison, ...],
    diagnoses: tuple[Diagnosis, ...],
    detectable: float,
    robust: Robustness | None,
) -> tuple[Caution | None, ...]:
    """What spoils tests whose sample are the instances."""
    settings, blocks, pairs = prepared.settings, prepared.blocks, prepared.pairs
    return (
        None
        if prepared.fixed_runs
        else cautions.run_noise(np.array([diagnosis.noise_share for diagnosis in diagnoses]), pairs),
        cautions.constant_differences(prepared.differences, pairs),
        cautions.hardly_varying(comparisons, prepared.differences, test=settings.test),
        cautions.dominated(prepared.differences, blocks, pairs, settings=settings),
        _skewed_looks(prepared)
        or cautions.skewed(
            comparisons,
            prepared.differences,
            np.array([diagnosis.skewness for diagnosis in diagnoses]),
            robust,
            test=settings.test,
            alpha=settings.family_alpha,
        ),
        cautions.unreachable(comparisons),
        _underpowered_looks(prepared),
        None
        if prepared.course is not None or prepared.looks is not None
        else cautions.underpowered(
            comparisons,
            detectable=detectable,
            effect=settings.effect,
            reached=_reached_power(prepared, smallest_sample(comparisons)),
            power=settings.power,
        ),
    )


def _underpowered_looks(prepared: Prepared) -> Caution | None:
    """Comparisons that ended undecided where the instances were too few for the effect that was planned for."""
    replay, effect = prepared.replay, prepared.settings.effect
    if replay is None or effect is None or "undecided" not in replay.history[-1]:
        return None
    looks = replay.course.looks
    shares = tuple(count / looks[-1] for count in looks)
    try:
        reached = achieved_power(effect=effect, looks=shares, **prepared.design(looks[-1])).power
    except InvalidDesign:
        reached = 0.0
    return underpowered_looks(replay.looked, reached, prepared.settings.power)


def _skewed_looks(prepared: Prepared) -> Caution | None:
    """What skewness does to tests that are looked at on the way, which is more than it does to others."""
    note = None if prepared.replay is None else skewed_note(prepared.replay.looked, prepared.settings.difference)
    return None if note is None else Caution("skewness", f"{note[:1].upper()}{note[1:]}.")


def _about_stopping(prepared: Prepared) -> tuple[Caution | None, ...]:
    settings, estimates = prepared.settings, prepared.estimates
    if prepared.of_runs is not None:
        return skewed_runs(estimates, settings), stopping.uneven_runs(estimates)
    return (
        stopping.biased_by_stopping(
            prepared.shift,
            prepared.pairs,
            estimates=estimates,
            used=settings.estimate,
            instances=len(prepared.differences),
        ),
        stopping.rare_penalties(settings.failures, int((~prepared.runs.ok).sum()), estimates, settings.estimate),
        None if prepared.fixed_runs else stopping.uneven_runs(estimates),
    )


def _accuracy_missed(prepared: Prepared, accuracy: tuple[InstanceAccuracy, ...]) -> Caution | None:
    se = prepared.settings.se
    if se is None:
        return None
    plain = [row.instance for row in accuracy if row.accurate is False]
    guarded = sum(row.guarded_error > se for row in accuracy)
    return cautions.accuracy_missed(plain, guarded, prepared.blocks, accuracy_in_words(se, prepared.settings))
