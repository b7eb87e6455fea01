"""A family of comparisons: paired tests under Holm, intervals, effect sizes, equivalence. Pure.

Differences come as an array with instances in rows and pairs in columns, NaN where a pair lacks an instance; each pair
is tested on the instances it has. Comparisons are in the order of the columns. Where there is one instance, its runs
are the sample, and what they show holds for this instance only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, get_args

import numpy as np

from ampler.analysis.blocks import check_positive
from ampler.analysis.differences import Estimates
from ampler.analysis.exploration import Signs
from ampler.core.arrays import Codes, Floats, Interval, Pair
from ampler.core.errors import InvalidData, InvalidDesign
from ampler.core.settings import Alternative, Settings, Test
from ampler.core.text import LARGEST_EXPONENT
from ampler.stats import paired
from ampler.stats.contrasts import Contrasts
from ampler.stats.dependence import MeanEstimate
from ampler.stats.holm import StepDown, step_down
from ampler.stats.paired.contract import EVERYTHING, TestedFamily
from ampler.stats.power import effect_intervals, effect_size
from ampler.stats.summaries import summary_of
from ampler.stats.two_samples import MannWhitney, RunComparison, RunTest, run_test, welch_comparisons

ALL = (-math.inf, math.inf)  # an interval without information


class PairTest(Protocol):
    """The test of one pair."""

    def p_value(self, alternative: Alternative, shift: float = 0.0) -> float:
        """Return the p-value of the difference being the shift."""

    def interval(self, alternative: Alternative, alpha: float) -> paired.Bounds:
        """Return the interval of the difference."""


DoubtKind = Literal["roles", "shape", "noise", "noise-width", "failures"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """Doubt about a significant difference: its cause, and a clause that continues "but …"."""

    kind: DoubtKind
    reason: str


@dataclass(frozen=True, slots=True)
class ClusterEffect:
    """Clusters of one comparison: correlation of their instances, and both estimates of the mean."""

    clusters: int
    df: float
    icc: float  # share of the variance of the differences that the instances of a cluster have in common
    icc_interval: Interval  # 95 %
    design_effect: float
    sd_of_means: float  # of the cluster means, in standard deviations of the difference on one instance
    estimate_over_clusters: float
    estimate_over_instances: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One pair, with the decision of the test. φ is first minus second, in the chosen kind of difference.

    A comparison is claimed if the test rejects and nothing casts doubt on it.
    """

    first: str
    second: str
    estimate: float
    estimate_of: str  # "mean" (t), "pseudomedian" (Wilcoxon) or "P(φ>0)" (sign)
    interval: Interval  # at `level`: the Holm level of this rank, not joint
    level: float  # 1 − alpha; below it where so few instances cannot reach it (Wilcoxon)
    joint_interval: Interval  # all of these together cover the true values with probability ≥ 1 − level of the family
    p_value: float
    p_holm: float
    alpha: float  # Holm's level of this rank
    rank: int  # from 1, in Holm's order
    rejected: bool
    effect_size: float  # d = mean/sd of the differences
    effect_interval: Interval  # 95 %, not adjusted for the family
    instances: int  # those on which both algorithms have values
    verdict: str = ""  # as a sentence
    doubts: tuple[Doubt, ...] = ()  # doubts about a significant difference
    cluster: ClusterEffect | None = None  # where clusters of instances were tested
    claimed: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "claimed", self.rejected and not self.doubts)

    @property
    def pair(self) -> Pair:
        """Both algorithms."""
        return self.first, self.second

    @property
    def sample_size(self) -> int:
        """The number of instances, or of clusters where these were tested."""
        return self.instances if self.cluster is None else self.cluster.clusters

    @property
    def in_doubt(self) -> bool:
        """Whether the test rejects, and the difference is not claimed all the same."""
        return self.rejected and not self.claimed


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Equivalence within ±margin: two one-sided tests, in a Holm family of their own.

    For t this speaks of the mean difference, for Wilcoxon of the pseudomedian, for the sign test of the median.
    """

    margin: float
    p_value: float  # the larger one-sided p-value
    p_holm: float
    alpha: float
    rank: int
    established: bool
    doubt: str = ""  # reason if it is not claimed although the tests show it


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """Non-inferiority of the second algorithm to the reference: one-sided tests, Bonferroni-adjusted."""

    margin: float
    bound: float  # of the loss, negative for a gain; all bounds hold together with probability 1 − alpha
    alpha: float
    established: bool
    doubt: str = ""  # reason if it is not claimed although the tests show it


def non_inferiority(two_sided: Comparison, settings: Settings) -> NonInferiority:
    """Return whether a comparison with joint intervals at twice the level shows non-inferiority at the level.

    A loss is the second minus the first, or the share of the first by which the second is worse. What casts doubt on a
    difference casts doubt on its bound.
    """
    margin, phis = settings.non_inferior, two_sided.joint_interval
    assert margin is not None
    ratio = settings.difference == "ratio"
    changes = [math.expm1(min(-phi, LARGEST_EXPONENT)) if ratio else -phi for phi in phis]
    loss = max(changes) if settings.better == "lower" else -min(changes)
    against = "; ".join(doubt.reason for doubt in two_sided.doubts) if loss < margin else ""
    return NonInferiority(margin, loss, settings.alpha, loss < margin and not against, against)


def compare(
    differences: Floats,
    pairs: Sequence[Pair],
    *,
    test: Test = "t",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    family: paired.FamilyVerdict | None = None,
) -> tuple[Comparison, ...]:
    """Test every column and hold the family-wise error at alpha by a step-down procedure, Holm's if the test has none.

    `family` replaces the test alone, for example after a pilot.

    >>> differences = np.array([[1.2, 0.1], [0.8, -0.3], [1.9, 0.4], [1.4, -0.1], [0.7, 0.2]])
    >>> [(c.second, c.rank, c.rejected, round(c.p_holm, 4)) for c in compare(differences, [("a", "b"), ("a", "c")])]
    [('b', 1, True, 0.0104), ('c', 2, False, 0.6455)]
    """
    family = family or paired.family_verdict(differences, test=test, alternative=alternative, alpha=alpha)
    samples, method = paired.present_columns(differences), paired.paired_test(test)
    return comparisons_of(
        pairs,
        family,
        estimates=[paired.sample_estimate(method, sample) for sample in samples],
        estimate_of=method.estimate_of,
        effects=list(zip(map(effect_size, samples), effect_intervals(differences), strict=True)),
        instances=list(map(len, samples)),
    )


def comparisons_of(
    pairs: Sequence[Pair],
    family: paired.FamilyVerdict,
    *,
    estimates: Sequence[float],
    estimate_of: str,
    effects: Sequence[tuple[float, Interval]],
    instances: Sequence[int],
) -> tuple[Comparison, ...]:
    """Return the comparisons of a family, without their verdicts."""
    steps, intervals, joint_intervals = family.steps, family.intervals, family.joint_intervals
    return tuple(
        Comparison(
            *pair,
            estimate=estimates[k],
            estimate_of=estimate_of,
            interval=(intervals[k].lower, intervals[k].upper),
            level=intervals[k].level,
            joint_interval=(joint_intervals[k].lower, joint_intervals[k].upper),
            p_value=float(family.p_values[k]),
            p_holm=float(steps.adjusted[k]),
            alpha=float(steps.levels[k]),
            rank=int(steps.ranks[k]),
            rejected=bool(steps.rejected[k]),
            effect_size=effects[k][0],
            effect_interval=effects[k][1],
            instances=instances[k],
        )
        for k, pair in enumerate(pairs)
    )


def smallest_sample(comparisons: Sequence[Comparison]) -> int:
    """Return the instances of the comparison that has the fewest, of those that can be tested at all."""
    sizes = (comparison.sample_size for comparison in comparisons if comparison.sample_size >= paired.FEWEST)
    return min(sizes, default=paired.FEWEST)  # pairs may have a single cluster


def instances_text(comparisons: Sequence[Comparison]) -> str:
    """Return the number of instances of the comparisons, from the fewest to the most where they differ."""
    numbers = [comparison.instances for comparison in comparisons]
    least, most = min(numbers), max(numbers)
    return f"{most:,} instances" if least == most else f"{least:,} to {most:,} instances"


def pair_text(pair: Pair) -> str:
    """Return the two algorithms of a pair as one name."""
    return f"{pair[0]} × {pair[1]}"


def share_text(some: Sequence[object] | Codes, pairs: Sequence[Pair]) -> str:
    """Return the number of these comparisons with the total."""
    return f"{len(some)} of {len(pairs)} comparisons" if len(pairs) > 1 else "the comparison"


def p_values(differences: Floats, *, test: Test, alternative: Alternative = "two-sided") -> Floats:
    """Return the p-value of each column, unadjusted."""
    method, samples = paired.paired_test(test), paired.present_columns(differences)
    return np.array([paired.sample_p_value(method, sample, alternative) for sample in samples])


def equivalence(
    differences: Floats, *, margin: float, test: Test = "t", alpha: float = 0.05
) -> tuple[Equivalence, ...]:
    """Test every column for equivalence within ±margin (two one-sided tests), as a family of its own.

    >>> equivalence(np.array([[0.1], [-0.2], [0.15], [0.0], [-0.05]]), margin=1.0)[0].established
    True
    """
    method = paired.paired_test(test)
    if method.equivalence is not None:
        return established(*method.equivalence(differences, margin, alpha), margin)
    below = p_values(differences + margin, test=test, alternative="greater")
    p = np.maximum(below, p_values(differences - margin, test=test, alternative="less"))
    return established(p, step_down(p, alpha), margin)


def established(p: Floats, verdict: StepDown, margin: float) -> tuple[Equivalence, ...]:
    """Return the equivalence verdicts, from the p-value of each column and the verdicts of the family."""
    return tuple(
        Equivalence(
            margin=margin,
            p_value=float(p[k]),
            p_holm=float(verdict.adjusted[k]),
            alpha=float(verdict.levels[k]),
            rank=int(verdict.ranks[k]),
            established=bool(verdict.rejected[k]),
        )
        for k in range(len(p))
    )


def tested_family(tests: Sequence[PairTest | None], settings: Settings) -> TestedFamily:
    """Return Holm's verdict on tests that were made pair by pair; None is a test that could not be made."""
    alternative, alpha = settings.alternative, settings.family_alpha
    p_values = np.array([1.0 if test is None else test.p_value(alternative) for test in tests])
    steps = step_down(p_values, alpha)

    def intervals_at(joint: bool) -> tuple[paired.Bounds, ...]:
        levels = np.full(len(tests), alpha / len(tests)) if joint else steps.levels
        with_levels = zip(tests, levels.tolist(), strict=True)
        return tuple(EVERYTHING if test is None else test.interval(alternative, level) for test, level in with_levels)

    return TestedFamily(p_values, steps, intervals_at)


def two_one_sided(tests: Sequence[PairTest | None], margin: float, alpha: float) -> tuple[Equivalence, ...]:
    """Return the equivalence of each difference within ±margin, under Holm."""
    p = np.ones(len(tests))
    for k, test in enumerate(tests):
        if test is not None:
            p[k] = max(test.p_value("greater", -margin), test.p_value("less", margin))
    return established(p, step_down(p, alpha), margin)


# one instance, whose runs are compared --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RunFamily:
    """The comparisons of the runs of one instance, tested together; None where one of a pair lacks values."""

    settings: Settings
    pairs: Sequence[Pair]
    test: RunTest
    results: tuple[RunComparison | None, ...]
    effects: Floats  # standardised differences, in the order of the pairs
    numbers: tuple[int, ...] = ()  # of instances by pair, where there are several

    @cached_property
    def family(self) -> TestedFamily:
        """Their tests under Holm."""
        return tested_family(self.results, self.settings)

    @property
    def signs(self) -> Signs:
        """The direction found for each pair: 1, −1, or 0 for none."""
        leaning = [0.0 if result is None else np.sign(result.estimate) for result in self.results]
        return np.where(self.family.steps.rejected, leaning, 0).astype(np.int8)

    def comparisons(self) -> tuple[Comparison, ...]:
        """Return the comparisons in the order of the pairs, without their verdicts."""
        of_means = self.test != "t" or self.settings.are_rates or self.settings.statistic == "mean"
        return comparisons_of(
            self.pairs,
            self.family,
            estimates=[math.nan if own is None else own.estimate for own in self.results],
            estimate_of=run_test(self.test).estimate_of if of_means else "difference",
            effects=[(float(effect), (math.nan, math.nan)) for effect in self.effects],
            instances=self.numbers or [int(own is not None) for own in self.results],
        )


def fixed_family(
    estimates: Estimates, contrasts: Contrasts, pairs: Sequence[Pair], settings: Settings, errors: Floats
) -> RunFamily:
    """Compare the means over these instances alone: their runs are the sample, stratum by stratum.

    Welch and Satterthwaite's degrees of freedom, each difference with those of its algorithm that has fewer runs.
    `errors` are the standard errors of the differences.
    """
    differences, counts = estimates.differences(contrasts, settings.estimate), estimates.blocks.counts
    both = contrasts.both(estimates.blocks.present)
    if np.isnan(errors[both]).any():
        where = estimates.blocks.instances[int(np.argmax((np.isnan(errors) & both).any(axis=1)))]
        raise InvalidData(
            "conclusions about these instances need two runs of each algorithm on each instance,"
            f" got one on {where!r}; add runs, or use inference 'instances like these'"
        )
    own = np.maximum(np.minimum(counts[:, contrasts.first], counts[:, contrasts.second]) - 1.0, 1.0)
    results: list[MeanEstimate | None] = []
    for k, there in enumerate(both.T):
        variances, number = errors[there, k] ** 2, int(there.sum())
        total = float(variances.sum())
        df = total**2 / float((variances**2 / own[there, k]).sum()) if total else math.inf
        estimate = float(differences[there, k].mean()) if number else math.nan
        results.append(MeanEstimate(estimate, math.sqrt(total) / number, df) if number else None)
    numbers = tuple(both.sum(axis=0).tolist())
    return RunFamily(settings, pairs, "t", tuple(results), np.full(len(pairs), np.nan), numbers)


def run_family(
    estimates: Estimates,
    contrasts: Contrasts,
    pairs: Sequence[Pair],
    settings: Settings,
    test: Test,
    errors: Floats | None = None,
) -> RunFamily:
    """Compare the runs of every pair on a single instance, by Welch's test or Mann and Whitney's.

    `errors` are the standard errors of the differences where the runs are paired, as folds or by their seeds.
    """
    if errors is not None and test != "t":
        raise InvalidDesign(f"paired runs of one instance are compared by the t-test ('t'), got {test!r}")
    if test not in get_args(RunTest):
        raise InvalidDesign(
            "on one instance runs are compared, by Welch's t-test ('t') or Mann and Whitney's"
            f" ('wilcoxon'), got {test!r}; choose one of these, or add instances"
        )
    if test == "wilcoxon" and (settings.are_rates or settings.statistic != "mean"):
        raise InvalidDesign(
            "on one instance Mann and Whitney's test compares the runs, not their"
            f" {settings.statistic_name!r}; use test 't', or omit the statistic"
        )
    estimates = estimates.of_first_runs() if settings.estimate == "first-runs" else estimates
    blocks = estimates.blocks
    check_positive(blocks, contrasts)
    both = contrasts.both(blocks.present)[0]
    among = contrasts.among(blocks.present[0]) if not blocks.present.all() else contrasts
    own: Sequence[RunComparison] = (
        _welch(estimates, contrasts, among, settings) if test == "t" else _mann_whitney(estimates, among)
    )
    if errors is not None:
        freedom = float(max(1, blocks.counts[0, blocks.present[0] & ~blocks.certain].min() - 1))
        with_errors = zip(own, errors[0][both].tolist(), strict=True)
        own = [MeanEstimate(result.estimate, error, freedom) for result, error in with_errors]
    remaining = iter(own)
    results = [next(remaining) if there else None for there in both]
    theta, variances = blocks.theta[0], blocks.variances[0]
    spread = (variances[contrasts.first] + variances[contrasts.second]) / 2  # Cohen's d with the mean of both variances
    with np.errstate(all="ignore"):
        effects = (theta[contrasts.first] - theta[contrasts.second]) / np.sqrt(spread)
    kind: RunTest = "t" if test == "t" else "wilcoxon"
    return RunFamily(settings, pairs, kind, tuple(results), np.where(spread > 0, effects, np.nan))


def _welch(
    estimates: Estimates, contrasts: Contrasts, among: Contrasts, settings: Settings
) -> tuple[MeanEstimate, ...]:
    blocks = estimates.blocks
    present = blocks.present[0]
    counts, exponent = blocks.counts[0, present].astype(float), int(blocks.exponents[0])
    degrees = summary_of(estimates.statistic).degrees(counts)
    results = welch_comparisons(
        among,
        estimates.differences(contrasts, settings.estimate)[0][contrasts.both(blocks.present)[0]],
        blocks.theta[0, present],
        blocks.variances[0, present] / counts,
        np.maximum(counts - 1 if degrees is None else degrees, 1.0),
    )
    if contrasts.difference != "simple" or not exponent:
        return results
    with np.errstate(over="ignore"):
        return tuple(result._replace(error=float(np.ldexp(result.error, exponent))) for result in results)


def _mann_whitney(estimates: Estimates, among: Contrasts) -> tuple[MannWhitney, ...]:
    """Runs as they are, as logarithms for ratios, or as shares of the reference or the grand mean."""
    places = np.flatnonzero(estimates.blocks.present[0])
    runs = [estimates.cells.of(0, int(index)) for index in places]
    if among.difference == "ratio":
        runs = [np.log(values) for values in runs]
    unit = 1.0
    if among.difference == "percent":
        theta = estimates.blocks.statistics[0, places]
        unit = float(theta.mean() if among.reference is None else theta[among.reference])
    return tuple(
        MannWhitney(tuple(runs[i].tolist()), tuple(runs[j].tolist()), unit)
        for i, j in zip(among.first, among.second, strict=True)
    )
