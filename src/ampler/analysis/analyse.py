"""The steps from runs to an Analysis.

runs ─► blocks ─► differences ─► compare (Holm) ─► verdicts
          └─► accuracy, warnings, exploration, omnibus tests
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import repeat
from typing import Any, get_args

import numpy as np

from ampler.analysis import adaptive, claim_checks, clusters, compare, exploration, warnings
from ampler.analysis.adaptive import PilotFamily
from ampler.analysis.blocks import Cells, summarise
from ampler.analysis.compare import ALL, Comparison, Equivalence, NonInferiority, RunFamily
from ampler.analysis.differences import Estimates, Observed, matched, observe, usable_cells
from ampler.analysis.exploration import Conclusion, Features, Findings, OtherPolicy, Signs
from ampler.analysis.interim import InterimPlan, Replay, interim_family, replayed, skewed_note, underpowered_interim
from ampler.analysis.results import AlgorithmRuns, Analysis, Diagnosis, InstanceAccuracy
from ampler.analysis.text import verdict, with_non_inferiority
from ampler.core.arrays import STATUSES, Bools, Floats, Pair, Runs, on_instances
from ampler.core.contracts import Statistic
from ampler.core.errors import AnalysisWarning, InvalidData, InvalidDesign
from ampler.core.failures import Drop, FailurePolicy, WorstObserved, policy_words, values_under, with_cutoff
from ampler.core.settings import Estimate, Settings, Test
from ampler.core.text import parameter, short_name_of
from ampler.design import achieved_power, detectable_effect
from ampler.design.detect import PilotReport
from ampler.sampling.rules import Accuracy
from ampler.stats.contrasts import Contrasts
from ampler.stats.dependence import MeanEstimate, fewest_clusters_for_flips
from ampler.stats.descriptive import is_constant, location
from ampler.stats.omnibus import Omnibus, omnibus
from ampler.stats.paired import FEWEST, paired_test, present, present_columns
from ampler.stats.paired.contract import TestedFamily
from ampler.stats.shape import skewness


def analyse_runs(
    runs: Runs,
    settings: Settings,
    *,
    features: Features | None = None,
    deterministic: Collection[str] | None = None,
    rule: Accuracy | None = None,
    course: PilotReport | None = None,
    looks: InterimPlan | None = None,
    fixed_runs: bool = False,
    groups: Features | None = None,
    added: Collection[str] = (),
) -> Analysis:
    """Compare the algorithms pair by pair over the instances, with Holm's correction.

    `features` group the instances, for exploring. `deterministic` names the algorithms whose value never changes: then
    all others need two values per instance. `rule` looked at the values and decided on the runs, if one did,
    `course` is how they decided on the number of instances, and `looks` are the interim analyses that there were.
    `groups` may group instances that belong together without anybody having said so. `fixed_runs` says that the values
    of an instance did not decide on its runs. Only pairs with one of the algorithms `added` later are compared, if any.

    >>> runs = Runs.from_columns(["a", "b", "c", "d"] * 2, ["old"] * 4 + ["new"] * 4, [9, 8, 7, 9, 5, 4, 4, 6])
    >>> analyse_runs(runs, Settings(difference="simple")).comparisons[0].verdict
    'old is worse than new: +3.50 (simultaneous 95 % CI 2.58 to 4.42)'
    """
    settings = replace(settings, failures=with_cutoff(settings.failures, runs))
    if rule is None and settings.se is not None and settings.start is not None:
        names = ("difference", "reference", "statistic", "budget", "guard")
        declared = {name: getattr(settings, name) for name in names}
        rule = Accuracy(se=settings.se, start=settings.start, formula=settings.formula, **declared)
    runs = runs if looks is None else on_instances(runs, looks.names)
    observed = observe(runs, settings, deterministic, rule, added)
    return _Steps(observed, settings, deterministic, features or {}, course, looks, fixed_runs, groups or {}).analysis()


@dataclass(eq=False)
class _Steps:
    """The steps of one analysis, computed on demand. Columns and lists are in the order of `pairs`."""

    observed: Observed
    settings: Settings
    deterministic: Collection[str] | None
    features: Features
    course: PilotReport | None
    looks: InterimPlan | None
    fixed_runs: bool
    groups: Features = field(default_factory=dict)

    def __post_init__(self) -> None:
        observed = self.observed
        self.runs, self.contrasts, self.estimates = observed.runs, observed.contrasts, observed.estimates
        self.cells, self.blocks, self.pairs = self.estimates.cells, self.estimates.blocks, observed.pairs
        self.clusters: clusters.Clusters | None = None
        is_adaptive = self.looks is not None or self.course is not None
        if self.settings.is_fixed and is_adaptive:
            raise InvalidDesign(
                "a study with looks or detect draws conclusions about instances like these; omit inference"
            )
        if self.settings.cluster is not None:
            if is_adaptive or len(self.blocks.instances) < 2:
                what = "a study whose values decided on its size or end" if is_adaptive else "one instance"
                raise InvalidData(f"{what} has no clusters: omit {parameter('cluster')}")
            self.clusters = clusters.clusters_of(self.settings, self.features, self.blocks.instances)
            if len(self.clusters) < FEWEST:
                raise InvalidData(
                    f"clusters are compared with each other, and all instances belong to one by"
                    f" {self.settings.cluster!r}: omit {parameter('cluster')}, or choose another column"
                )
        elif self.settings.mean_over == "instances" or self.settings.cluster_effects == "fixed":
            raise InvalidDesign(
                f"mean_over and cluster_effects are about clusters: name the column that groups instances with"
                f" {parameter('cluster', 'passage')}"
            )

    def analysis(self) -> Analysis:
        """Return the whole analysis."""
        settings = self.settings
        return Analysis(
            settings=replace(settings, statistic=settings.statistic_name),
            comparisons=self.with_verdicts(),
            instances=len(self.differences),
            runs=int(self.cells.counts.sum()),
            algorithms=self.algorithms(),
            accuracy=self.accuracy,
            excluded=self.observed.excluded,
            incomplete=self.observed.incomplete,
            detectable_effect=self.detectable_by_fewest,
            warnings=tuple(self.warnings()),
            diagnoses=self.diagnoses,
            omnibus=self.omnibus,
            subgroups=exploration.subgroups(
                self.differences,
                self.pairs,
                self.blocks.instances,
                self.features if self.clusters is None and not self.is_fixed else {},
                settings,
            ),
            stability=self.stability(),
            other_policies=self.other_policies,
            pairs=self.pairs,
            statistics=self.blocks.statistics,
            differences=self.differences,
            errors=self.errors,
            guarded_errors=self.guarded_errors,
            course=self.course,
            recorded=self.runs,
            features=self.features,
            looks=None if self.replay is None else self.replay.result,
        )

    # differences ------------------------------------------------------------------------------------------------------

    @cached_property
    def replay(self) -> Replay | None:
        """The interim analyses replayed, if there were any."""
        if self.looks is None:
            return None
        return replayed(self.runs, self.looks, self.settings, self.deterministic, self.estimates.rule)

    @cached_property
    def differences(self) -> Floats:
        """The difference of each pair on each instance (row); NaN where one of the two lacks it.

        After interim analyses, these are the differences that the comparison was decided by.
        """
        if self.replay is None:
            return self.estimates.differences(self.contrasts, self.settings.estimate)
        return self.replay.differences[[self.replay.course.names.index(name) for name in self.blocks.instances]]

    @cached_property
    def sample(self) -> Floats:
        """The sample of the tests: differences of instances, or means of clusters."""
        return self.differences if self.clusters is None else self.clusters.means(self.differences)

    @cached_property
    def sample_errors(self) -> Floats:
        """The standard errors of the sample from run noise."""
        return self.errors if self.clusters is None else self.clusters.errors(self.errors)

    @cached_property
    def sessions(self) -> tuple[list[MeanEstimate], tuple[int, int]] | None:
        """The means where sessions served many instances, with the size of their table; None without sessions."""
        settings = self.settings
        if settings.crossed is None or self.of_runs is not None:
            return None
        runs = matched(self.runs, settings.failures)
        runs = replace(runs, value=values_under(runs, settings.failures)[0])
        return clusters.crossed_means(runs, self.contrasts, self.blocks.instances, self.clusters)

    @cached_property
    def equal(self) -> Bools:
        """The pairs that are compared by their mean and have the same difference on every instance."""
        means = paired_test(self.settings.test).estimand.name == "mean"
        columns = present_columns(self.sample)
        return np.array([means and len(column) >= FEWEST and is_constant(column) for column in columns])

    @cached_property
    def shift(self) -> warnings.Shift | None:
        """Effect of adaptive stopping on the means."""
        if self.estimates.rule is None:
            return None
        by = {kind: self.estimates.differences(self.contrasts, kind) for kind in get_args(Estimate)}
        return warnings.shift_between(by, self.settings.estimate)

    @cached_property
    def errors(self) -> Floats:
        """The standard errors of the differences."""
        return self.observed.errors()

    @cached_property
    def guarded_errors(self) -> Floats:
        """The standard errors with conservative variance bounds."""
        return self.observed.errors(self.settings.guard, self.settings.guard_edition)

    @cached_property
    def gain(self) -> tuple[float, Floats] | None:
        """By how much pairing reduced the variance by runs, and the mean correlation of each pair; None: not paired."""
        how = self.settings
        if how.paired is None or how.test_over_train is not None or how.crossed is not None:
            return None
        blocks, first, second = self.blocks, self.contrasts.first, self.contrasts.second
        if blocks.covariances is None:
            return math.nan, np.full(len(first), math.nan)
        own = np.sqrt(np.diagonal(blocks.covariances, axis1=1, axis2=2))
        with np.errstate(divide="ignore", invalid="ignore"):
            counts = blocks.counts[:, first], blocks.counts[:, second]
            unequal = np.sqrt(np.maximum(*counts) / np.minimum(*counts))
            correlations = unequal * blocks.covariances[:, first, second] / (own[:, first] * own[:, second])
            there = np.isfinite(correlations)
            alone = replace(blocks, covariances=None).errors(self.contrasts)
            means = np.where(there, correlations, 0.0).sum(axis=0) / there.sum(axis=0)
            unit = np.nanmax(alone, initial=0.0)
            return float(1 - np.nansum((self.errors / unit) ** 2) / np.nansum((alone / unit) ** 2)), means

    def differencing(self, cells: Cells, statistic: str | Statistic) -> Callable[[Contrasts], Floats]:
        """Return the differencing of these cells for a statistic."""
        rule = self.estimates.rule
        precise = rule is not None or self.contrasts.formula == "corrected"
        blocks = summarise(cells, statistic, deterministic=self.deterministic, accuracy=precise)
        by_instance = partial(Estimates(cells, blocks, statistic, rule).differences, estimate=self.settings.estimate)
        if self.clusters is None:
            return by_instance
        own = clusters.clusters_of(self.settings, self.features, cells.instances)
        return lambda contrasts: own.means(by_instance(contrasts))

    # comparisons ------------------------------------------------------------------------------------------------------

    def family(self, differences: Floats) -> TestedFamily | None:
        """Return the family of tests after adaptive sampling; None: the ordinary test."""
        if self.replay is not None:
            return interim_family(self.replay) if differences is self.differences else None
        pilot = self.pilot_family(differences)
        return None if pilot is None else pilot.tests

    def pilot_family(self, differences: Floats) -> PilotFamily | None:
        """Return the tests of a study whose size was chosen after a pilot; None for other studies."""
        if self.course is None or self.course.is_fixed or len(differences) != len(self.blocks.instances):
            return None
        return adaptive.pilot_family(self.course, differences, self.blocks.instances, self.settings.family_alpha)

    @property
    def is_fixed(self) -> bool:
        """Whether conclusions are about several given instances alone."""
        return self.settings.is_fixed and len(self.runs.instances) > 1

    @cached_property
    def of_runs(self) -> RunFamily | None:
        """The comparisons of the runs, on one instance or about these instances; None: instances are the sample."""
        several = len(self.runs.instances) > 1 and not self.is_fixed
        return None if several else self.runs_compared(self.estimates, self.errors)

    def runs_compared(self, estimates: Estimates, errors: Floats) -> RunFamily:
        """Return the comparisons of runs; `errors` are the standard errors of the differences."""
        what, how = (estimates, self.contrasts, self.pairs), self.settings
        if self.is_fixed:
            return compare.fixed_family(*what, how, errors)
        return compare.run_family(*what, how, how.test, None if self.runs.shared is None else errors)

    @cached_property
    def tested(self) -> tuple[Comparison, ...]:
        """The comparisons as the test decides them."""
        settings = self.settings
        if self.of_runs is not None:
            return self.of_runs.comparisons()
        if self.sessions is not None:
            return clusters.crossed_comparisons(self.sessions[0], self.sample, self.pairs, settings)
        if self.clusters is not None:
            return clusters.compare_clusters(self.differences, self.pairs, self.clusters, settings)
        comparisons = compare.compare(
            self.differences,
            self.pairs,
            test=settings.paired_test,
            alternative=settings.alternative,
            alpha=settings.family_alpha,
            family=self.family(self.differences),
        )
        if self.replay is None and (pilot := self.pilot_family(self.differences)) is not None:
            comparisons = adaptive.decisive_estimates(comparisons, pilot)
        return tuple(  # equal differences give no information about their variance, whatever the test
            replace(comparison, p_value=1.0, p_holm=1.0, rejected=False, interval=ALL, joint_interval=ALL)
            if equal
            else comparison
            for comparison, equal in zip(comparisons, self.equal, strict=True)
        )

    @cached_property
    def signs(self) -> Signs:
        """The direction in which each pair is significantly different, or 0."""
        if self.clusters is not None or self.sessions is not None:
            neutral = paired_test(self.settings.test).estimand.neutral
            return np.array([int(c.rejected) * (1 if c.estimate > neutral else -1) for c in self.tested], dtype=np.int8)
        return self.decide(self.differences) if self.of_runs is None else self.of_runs.signs

    def decide(self, differences: Floats) -> Signs:
        """Return the directions if these are the differences."""
        test, side, alpha = self.settings.paired_test, self.settings.alternative, self.settings.family_alpha
        if (family := self.family(differences)) is not None:
            return exploration.signs_of(family.steps.rejected, differences, test)
        return exploration.decisions(differences, test=test, alternative=side, alpha=alpha)

    @cached_property
    def failures(self) -> list[claim_checks.FailureBound | None]:
        """Robustness of each claim to unseen failures."""
        return self.failures_at([(0.0,) if comparison.rejected else () for comparison in self.tested])

    def failures_at(self, limits: Sequence[Sequence[float]]) -> list[claim_checks.FailureBound | None]:
        """Return how far each mean difference is from being moved to one of its limits by failures."""
        return claim_checks.failure_bounds(self.tested, limits, self.observed, self.settings)

    @cached_property
    def noise(self) -> Sequence[MeanEstimate | None]:
        """The tests of means by the noise of runs alone, where it exceeds the differences'."""
        if self.is_fixed or self.settings.formula != "corrected":  # studies of earlier versions keep their intervals
            return [None] * len(self.pairs)
        counts = self.blocks.counts
        freedom = np.maximum(counts[:, self.contrasts.first] + counts[:, self.contrasts.second] - 2.0, 1.0)
        freedom = freedom if self.clusters is None else np.maximum(self.clusters.sums(freedom), 1.0)
        return claim_checks.noise_tests(self.tested, self.sample, self.sample_errors, np.asarray(freedom))

    @property
    def roles(self) -> claim_checks.Roles:
        """Other views of percent differences, to check claims."""
        differencing = self.differencing(self.cells, self.settings.statistic)
        return claim_checks.Roles(self.contrasts, differencing, self.settings)

    @cached_property
    def robustness(self) -> claim_checks.Robustness | None:
        """Check of the shape behind claims of means; None for other tests, and after interim analyses."""
        how = self.settings
        if self.of_runs is not None or self.replay is not None or paired_test(how.test).when_skewed != "errs":
            return None
        rejected = np.array([comparison.rejected for comparison in self.tested])
        return claim_checks.robustness(self.sample, rejected, alternative=how.alternative, alpha=how.family_alpha)

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons with doubts about them, and intervals that include failures and noise."""
        how, estimates, robust = self.settings, self.estimates, self.robustness
        side, joint = how.alternative, how.family_alpha / len(self.pairs)
        checked = list(zip(self.tested, self.noise, self.failures, strict=True))
        comparisons = [claim_checks.widened(*item, side, joint) for item in checked]
        roles = self.roles.doubts(comparisons, self.sample)
        blocks = estimates.of_first_runs().blocks if how.estimate == "first-runs" else self.blocks
        corrected = estimates.rule is not None and how.estimate != "all-runs"
        biased = claim_checks.noise_doubts(comparisons, self.sample, blocks, self.contrasts, corrected=corrected)
        doubted = []
        for k, (comparison, (_, noise, bound)) in enumerate(zip(comparisons, checked, strict=True)):
            shape = None if robust is None else robust.doubt(k)
            unseen = bound.doubt if bound is not None and bound.in_doubt else None
            doubts = (roles[k], shape, biased[k], unseen, claim_checks.width_doubt(comparison, noise, side))
            doubted.append(replace(comparison, doubts=tuple(doubt for doubt in doubts if doubt is not None)))
        return tuple(doubted)

    def equivalences(self) -> Sequence[Equivalence | None]:
        """Return the equivalence verdicts."""
        settings, margin = self.settings, self.settings.margin
        if margin is None:
            return [None] * len(self.pairs)
        if self.of_runs is not None:
            return compare.two_one_sided(self.of_runs.results, margin, settings.equivalence_alpha)
        if self.sessions is not None:
            return clusters.crossed_equivalence(self.sessions[0], margin, settings)
        if self.clusters is not None:
            return clusters.cluster_equivalence(self.differences, margin, self.clusters, settings)
        pilot, alpha = self.pilot_family(self.differences), settings.equivalence_alpha
        if pilot is None or self.replay is not None:
            return compare.equivalence(self.differences, margin=margin, test=settings.paired_test, alpha=alpha)
        tests = zip(adaptive.pilot_equivalence(pilot, margin, alpha), self.equal, strict=True)
        return [replace(test, established=test.established and not equal) for test, equal in tests]

    @cached_property
    def non_inferiorities(self) -> Sequence[NonInferiority | None]:
        """Return the non-inferiority verdicts, from simultaneous intervals of two-sided tests at twice the level."""
        settings = self.settings
        if settings.non_inferior is None:
            return [None] * len(self.pairs)
        if self.replay is not None:
            raise InvalidDesign(
                "non-inferiority has no tests at interim analyses; omit it, or specify"
                f" {parameter('ignore_looks', True)}"
            )
        twice = replace(settings, alpha=2 * settings.alpha, alternative="two-sided", margin=None)
        shown = [
            compare.non_inferiority(comparison, settings) for comparison in replace(self, settings=twice).comparisons
        ]
        shown = self.roles.non_inferiorities(shown)
        limit = claim_checks.loss_limit(settings)
        bounds = self.failures_at([(limit,) if item.established else () for item in shown])
        return claim_checks.unseen_failures(shown, bounds)

    @cached_property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """Basis of the test of each pair."""
        unsolved, robust, shift = warnings.neither_solved(self.runs, self.contrasts), self.robustness, self.shift
        shown = list(map(claim_checks.not_equivalent, self.equivalences(), self.noise))
        same = self.roles.equivalences(shown, self.comparisons)
        limits = [(-item.margin, item.margin) if item is not None and item.established else () for item in same]
        same = claim_checks.unseen_failures(same, self.failures_at(limits))
        stages = [""] * len(self.pairs)
        if self.replay is not None:
            stages = ["" if item.verdict == "continue" else f"look {item.look}" for item in self.replay.standings]
        elif self.course is not None:
            stages = [adaptive.decision_stage(self.course, k) for k in range(len(self.pairs))]
        return tuple(
            Diagnosis(
                *pair,
                noise_share=_noise_share(self.sample[:, k], self.sample_errors[:, k]),
                skewness=skewness(present(self.sample[:, k])),
                equivalence=equivalent,
                unsolved=int(unsolved[:, k].sum()),
                unsolved_instances=tuple(self.runs.instances[i] for i in np.flatnonzero(unsolved[:, k])),
                all_runs=math.nan if shift is None else float(shift.all_runs[k]),
                first_runs=math.nan if shift is None else float(shift.first_runs[k]),
                decided=stages[k],
                agree=() if robust is None else robust.agree[k],
                disagree=() if robust is None else robust.disagree[k],
                failure_bound=self.failures[k],
                correlation=math.nan if self.gain is None else float(self.gain[1][k]),
                non_inferiority=self.non_inferiorities[k],
            )
            for k, (pair, equivalent) in enumerate(zip(self.pairs, same, strict=True))
        )

    def with_verdicts(self) -> tuple[Comparison, ...]:
        """Return the comparisons with their verdicts, in Holm's order."""
        detectable, robust, short = self.detectable, self.robustness, short_name_of(self.runs.instances)
        dropping = isinstance(self.settings.failures, Drop)
        failed = {algorithm for algorithm, _ in self.runs.failures()} if dropping else set()
        verdicts = (
            verdict(
                comparison,
                diagnosis.equivalence,
                self.settings,
                detectable.get(comparison.sample_size, math.nan) * _of_one_instance(comparison),
                dropped=not failed.isdisjoint(comparison.pair),
                early=diagnosis.decided == "pilot",
                would="" if self.course is None else adaptive.planned_power_clause(self.course),
                one_instance=self.of_runs is not None,
                interim=None if self.replay is None else self.replay.result,
                unsolved=[] if dropping else [short[name] for name in diagnosis.unsolved_instances],
                agreement="" if robust is None else robust.agreement(k),
                equal=self.of_runs is None and bool(self.equal[k] or not present(self.sample[:, k]).any()),
            )
            for k, (comparison, diagnosis) in enumerate(zip(self.comparisons, self.diagnoses, strict=True))
        )
        texts = map(with_non_inferiority, verdicts, self.diagnoses, repeat(self.settings))
        rows = (replace(comparison, verdict=text) for comparison, text in zip(self.comparisons, texts, strict=True))
        return tuple(sorted(rows, key=lambda comparison: comparison.rank))

    # power ------------------------------------------------------------------------------------------------------------

    def design(self, instances: int) -> dict[str, Any]:
        """Return the terms of the design of this analysis, for the package `design`."""
        how = self.settings
        terms = {"alpha": how.family_alpha, "alternative": how.alternative, "test": how.test}
        return terms | {"instances": instances, "comparisons": len(self.pairs)}

    def detectable_on(self, instances: int) -> float:
        """Return the effect that this many instances detect with the power of the settings."""
        how, sides = self.settings, 1 if self.settings.alternative == "two-sided" else 2
        ranks_or_flips = how.test in ("wilcoxon", "sign", "sign-flip")
        if ranks_or_flips and instances < fewest_clusters_for_flips(len(self.pairs), sides * how.family_alpha):
            return math.nan  # as the smallest p-value is above the level
        try:
            return detectable_effect(power=self.settings.power, **self.design(instances)).effect
        except InvalidDesign:  # too few instances for any significant result
            return math.nan

    @cached_property
    def detectable(self) -> dict[int, float]:
        """The effect found with the power of the settings, by the number of instances a comparison has."""
        counts = {item.sample_size for item in self.tested if item.sample_size >= FEWEST and not self.is_fixed}
        return {instances: self.detectable_on(instances) for instances in counts}

    @cached_property
    def detectable_by_fewest(self) -> float:
        """The effect found by the comparison with the fewest instances, or at the last interim analysis."""
        if self.looks is not None:
            return self.detectable_on(self.looks.looks[-1])
        found = self.detectable[compare.smallest_sample(self.tested)] if self.detectable else math.nan
        return found * max(map(_of_one_instance, self.tested), default=1.0)

    def power_for(self, effect: float | None, instances: int, looks: tuple[float, ...] | None = None) -> float:
        """Return the mean power for the effect that was planned for."""
        if effect is None:
            return math.nan
        try:
            return achieved_power(effect=effect, looks=looks, **self.design(instances)).power
        except InvalidDesign:
            return 0.0

    # in addition to the comparisons -----------------------------------------------------------------------------------

    @cached_property
    def omnibus(self) -> Omnibus | None:
        """The test of all algorithms together on the complete instances; None where there are fewer than two.

        It is about the statistics, or about their logarithms when ratios are compared.
        """
        values = self.blocks.statistics[self.blocks.present.all(axis=1)]
        if len(values) < FEWEST or self.is_fixed:
            return None
        if self.clusters is not None:
            ahead = self.blocks.statistics if self.settings.better == "lower" else -self.blocks.statistics
            ranks = clusters.cluster_ranks(ahead, self.clusters, self.blocks.present.all(axis=1))
            return omnibus(ranks, alpha=self.settings.alpha) if len(ranks) >= FEWEST else None
        values = np.log(values) if self.settings.difference == "ratio" else values
        return omnibus(values, better=self.settings.better, alpha=self.settings.alpha)

    @cached_property
    def accuracy(self) -> tuple[InstanceAccuracy, ...]:
        """The largest errors over the pairs that an instance has; not known unless all of them are."""
        settings, rows = self.settings, []
        for i, name in enumerate(self.blocks.instances):
            spent, there = self.cells.spent[i], ~np.isnan(self.differences[i])
            errors, guarded = (np.where(there, table[i], np.nan) for table in (self.errors, self.guarded_errors))
            error, guarded_error = (float(row[there].max()) if there.any() else math.nan for row in (errors, guarded))
            is_finite = math.isfinite(error)
            rows.append(
                InstanceAccuracy(
                    instance=name,
                    runs=tuple(spent.tolist()),
                    error=error,
                    guarded_error=guarded_error,
                    worst=self.pairs[int(np.nanargmax(errors))] if is_finite else None,
                    at_budget=settings.budget is not None and int(spent.sum()) >= settings.budget,
                    accurate=None if settings.se is None or not is_finite else error <= settings.se,
                )
            )
        return tuple(rows)

    def algorithms(self) -> tuple[AlgorithmRuns, ...]:
        """Return the outcomes of each algorithm's runs, and its mean rank."""
        names, size = self.runs.algorithms, len(STATUSES)
        ends = np.bincount(self.runs.algorithm * size + self.runs.status, minlength=len(names) * size).reshape(-1, size)
        return tuple(
            AlgorithmRuns(
                algorithm=name,
                runs=int(ends[k].sum()),
                solved=int(ends[k, 0]),
                failures={status: int(ends[k, s]) for s, status in enumerate(STATUSES) if s and ends[k, s]},
                mean_rank=self.omnibus.mean_ranks[k] if self.omnibus is not None else math.nan,
            )
            for k, name in enumerate(names)
        )

    def stability(self) -> tuple[Conclusion, ...]:
        """Return the conclusions by other tests, differences and statistics."""
        family, how = self.of_runs, self.settings
        if family is None:
            return exploration.stability(partial(self.differencing, self.cells), self.contrasts, self.signs, how)
        rival: Test = "wilcoxon" if family.test == "t" else "t"
        families = [family]
        if how.statistic == "mean" and self.runs.shared is None and not self.is_fixed:
            families.append(compare.run_family(self.estimates, self.contrasts, self.pairs, how, rival))
        return tuple(
            Conclusion(item.test, how.difference, how.statistic_name, tuple(item.signs.tolist()), same)
            for item in families
            for same in [int(np.sum(item.signs == family.signs))]
        )

    @cached_property
    def other_policies(self) -> tuple[OtherPolicy, ...]:
        """Conclusions under other treatments of failed runs, if there are any."""
        if self.runs.ok.all() or (self.of_runs is not None and self.runs.shared is not None):
            return ()
        policies = (Drop(), WorstObserved(self.settings.better))
        others = {policy_words(p): partial(self.findings_under, p) for p in policies if p != self.settings.failures}
        return exploration.other_policies(others, self.pairs, self.signs)

    def findings_under(self, policy: FailurePolicy | WorstObserved | None) -> Findings:
        """Return the conclusions under another treatment of failed runs, with the number of instances."""
        how = self.settings
        whole = how.test_over_train is not None
        cells = usable_cells(self.runs, policy, self.contrasts, self.deterministic, complete=whole).cells
        if self.of_runs is None:
            differences = self.differencing(cells, how.statistic)(self.contrasts)
            return Findings(self.decide(differences), len(cells.instances))
        blocks = summarise(cells, how.statistic, deterministic=self.deterministic)
        estimates = Estimates(cells, blocks, how.statistic, self.estimates.rule)
        return Findings(self.runs_compared(estimates, blocks.errors(self.contrasts)).signs, len(cells.instances))

    # warnings ---------------------------------------------------------------------------------------------------------

    def unplanned(self) -> Mapping[str, str]:
        """Return the incomplete instances, without those on which only algorithms are missing that had left by then."""
        left = set() if self.course is None else {*self.course.left}
        gone = np.array([name in left for name in self.cells.algorithms])
        if self.looks is not None:
            there = self.looks.algorithms_on
            gone = np.array([[name not in there[i] for name in self.cells.algorithms] for i in self.cells.instances])
        complete = ((self.cells.counts > 0) | gone).all(axis=1)
        planned = {name for name, has_all in zip(self.cells.instances, complete, strict=True) if has_all}
        return {name: reason for name, reason in self.observed.incomplete.items() if name not in planned}

    def warnings(self) -> Iterator[AnalysisWarning]:
        """Yield all warnings."""
        how, observed, estimates, blocks = self.settings, self.observed, self.estimates, self.blocks
        single, failed = self.of_runs is not None, not self.runs.ok.all()
        if single:
            yield from warnings.comparing_runs(estimates, how, is_fixed=self.is_fixed)
        else:
            yield from warnings.biased_by_stopping(self.shift, estimates, self.pairs, how, failed=failed)
            yield from () if self.fixed_runs else warnings.uneven_runs(estimates)
        yield from warnings.failed_runs(self.runs, self.other_policies)
        yield from warnings.failures_pay(self.runs, how)
        yield from () if isinstance(how.failures, Drop) else warnings.both_failed(observed)
        yield from warnings.unmatched_runs(observed, how)
        yield from () if self.gain is None else warnings.paired_gain(self.gain, how, blocks)
        yield from warnings.incomplete_blocks(observed, self.unplanned(), self.comparisons)
        yield from warnings.suspicious_values(self.cells, blocks, how)
        yield from warnings.inaccurate(self.accuracy, blocks, how)
        yield from warnings.near_zero(observed, self.differences, how)
        yield from () if single else self.over_instances()

    def over_instances(self) -> Iterator[AnalysisWarning]:
        """Yield warnings about tests over the instances."""
        how, pairs, comparisons = self.settings, self.pairs, self.comparisons
        interim = None if self.replay is None else self.replay.result
        if self.sessions is not None:
            yield from clusters.crossed_warning(self.sessions[1], how)
        elif self.clusters is not None:
            yield from clusters.cluster_warnings(comparisons, self.differences, self.clusters, how)
        elif self.groups:
            yield from self.undeclared_clusters()
        if not self.fixed_runs:
            noise = np.array([diagnosis.noise_share for diagnosis in self.diagnoses])
            yield from warnings.run_noise(noise, pairs, np.array([item.claimed for item in comparisons]))
        yield from warnings.hardly_varying(comparisons, self.sample, test=how.test)
        if self.clusters is None:
            yield from warnings.dominated(self.differences, self.blocks, pairs, how)
        note = None if interim is None else skewed_note(interim, how.difference)
        if note is None:
            yield from warnings.skewed(comparisons, self.sample, self.robustness, how)
            yield from warnings.disputed(comparisons, self.robustness)
        else:
            yield AnalysisWarning("skewness", f"{note[:1].upper()}{note[1:]}.")
        yield from warnings.unreachable(comparisons)
        if interim is not None and how.effect is not None and "undecided" in interim.history[-1]:
            counts = interim.course.looks
            reached = self.power_for(how.effect, counts[-1], looks=tuple(count / counts[-1] for count in counts))
            yield from underpowered_interim(interim, reached, how.power)
        if interim is None and self.course is None:
            effect = None if how.effect is None else how.effect / max(map(_of_one_instance, comparisons))
            yield from warnings.underpowered(
                comparisons,
                detectable=self.detectable_by_fewest,
                effect=how.effect,
                reached=self.power_for(effect, compare.smallest_sample(comparisons)),
                power=how.power,
            )

    def undeclared_clusters(self) -> Iterator[AnalysisWarning]:
        """Yield a warning about undeclared clusters of instances."""
        found = clusters.undeclared_clusters(self.groups, self.differences, self.blocks.instances)
        if found is not None:
            test: Test = "t" if self.settings.test == "bootstrap-t" else self.settings.test
            how = replace(self.settings, cluster=found[0], test=test)
            clustered = replace(self, settings=how, features=self.groups, course=None, looks=None)
            yield clusters.undeclared_warning(
                *found,
                clustered.comparisons,
                {pair for pair, _ in self.claims},
                claims=len(self.claims),
                stay=len(self.claims & clustered.claims),
                planned=self.course is not None or self.looks is not None,
            )

    @property
    def claims(self) -> set[tuple[Pair, str]]:
        """The claim about each pair."""
        differences = {(item.pair, "difference") for item in self.comparisons if item.claimed}
        same = {(row.pair, "same") for row in self.diagnoses if row.equivalence and row.equivalence.established}
        shown = [row.pair for row in self.diagnoses if row.non_inferiority and row.non_inferiority.established]
        return differences | same | {(pair, "not worse") for pair in shown}


def _of_one_instance(comparison: Comparison) -> float:
    """Return the standard deviation of the sample, relative to that of one instance."""
    ratio = 1.0 if comparison.cluster is None else comparison.cluster.sd_of_means
    return 1.0 if math.isnan(ratio) else ratio


def _noise_share(differences: Floats, errors: Floats) -> float:
    """The mean squared standard error as a share of the variance of the differences."""
    there = ~np.isnan(differences)
    if there.sum() < FEWEST:
        return math.nan
    _, sd, exponent = location(differences[there])
    if sd == 0:
        return math.nan
    with np.errstate(over="ignore"):  # noise beyond the range of doubles is infinite
        return float(np.mean((np.ldexp(errors[there], -exponent) / sd) ** 2))
