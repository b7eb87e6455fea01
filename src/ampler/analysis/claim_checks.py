"""Significant differences held against unseen failures, run noise, exchanged roles and skewness. Pure.

Failures: where failed runs count as a penalty, an algorithm that fails in one of 200 runs looks good until its first
failure, and no variance shows it. A test cannot know; an exact bound of the failure rate does.

Width: the variance of the differences holds the noise of the runs, so it estimates more than that noise. Where it is
smaller, as when algorithms that sometimes reach their time limit did so equally often, chance has hidden the noise.

Noise: a ratio or a logarithm of noisy means is biased. The differences are corrected to second order; the rest could
make a difference where runs are few and noisy and instances many.

Roles: the mean of percent differences to a reference is not zero for algorithms that are equally good: factors of 2 and
1/2 are +50 % and -100 %, on average -25 %. So a claim must not depend on which algorithm the percentages are of.

Shape: a paired t-test of skewed differences claims too much on the side away from the long tail. So every claim is held
against the skewness that its sample shows in that direction, and where there may be any, against the bootstrap-t test,
which allows for it as far as the sample shows it. A sample shows too little: the errors of bootstrap-t, too, lie on the
side away from the long tail, so a claim surely on this side must pass at that side's half of the level. The constants
were chosen by simulation with one set of seeds and are reported with another. Where a sample shows no skewness nothing
is said: one-sided outliers that happen to be missing in a sample cannot be seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TypeVar

import numpy as np

from ampler.analysis.blocks import Blocks
from ampler.analysis.compare import Comparison, Doubt, Equivalence, NonInferiority, equivalence
from ampler.analysis.differences import Observed
from ampler.core.arrays import Bools, Floats, Interval
from ampler.core.failures import Par, Penalty
from ampler.core.settings import Alternative, Settings, Test
from ampler.core.text import count, digits, named
from ampler.stats.contrasts import Contrasts, contrasts_among
from ampler.stats.dependence import MeanEstimate
from ampler.stats.paired import ESTIMANDS, FEWEST, family_verdict, paired_test, present, present_columns
from ampler.stats.resampling import joint_coverage
from ampler.stats.shape import farthest_difference, normality_p_value, skewness_score
from ampler.stats.summaries import GeometricMean, Mean, summary_of

Differencing = Callable[[Contrasts], Floats]

RATIO = "the ratio"  # as a way to see percent differences
MAX_RUNS = 10**9  # beyond it, more runs do not help
CHANCE = 0.1  # p-value of a variance smaller than run noise, above which the test is unchanged
SURE = 0.025  # level at which the shape of all comparisons together is beyond chance
SKEWED_CLAIM = 0.05  # level of the skewness against all claims together
UNUSUAL = 0.05  # level at which the differences of claims are not normal
POSSIBLY = 0.15  # level above which skewness is no doubt about a claim
FIRM = 0.02  # share of the level below which a p-value of bootstrap-t removes the doubt
HALF = 0.5  # share of the level for a claim surely against the skewness, whose errors lie on one of two sides
SURER = 1.3  # p-value of the skewness over that of the difference by bootstrap-t, below which a claim is fragile
TOO_OFTEN = 1.6  # tolerated inflation of the error of simultaneous intervals: coverage 0.92 instead of 0.95
NOTABLE_BIAS = 0.25  # standard errors of a mean: a bias of this size raises an error rate of 0.05 to at most 0.06
OTHER_TESTS: Mapping[Test, str] = {"bootstrap-t": "bootstrap-t", "wilcoxon": "Wilcoxon", "sign": "the sign test"}


# failures that were not observed --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FailureBound:
    """Failure rate of an algorithm: its upper bound, and the rate at which the difference reverses."""

    algorithm: str
    failures: int
    runs: int
    upper: float  # confidence bound of the failure rate (Clopper and Pearson 1934), for all algorithms together
    reversal: float  # the failure rate at which the difference is zero
    shift: float  # of the difference, if it failed as often as the bound allows
    enough: int | None  # runs that would suffice, at the observed rate; None: no number does

    @property
    def in_doubt(self) -> bool:
        """Whether the runs allow for a failure rate that reverses the difference."""
        return self.upper >= self.reversal

    @property
    def sentence(self) -> str:
        """State how far a claim is from being reversed."""
        return f"{self._rate}; {_percent(self.reversal)} would reverse a claim"

    @property
    def doubt(self) -> Doubt:
        """Return this as a doubt about a claim."""
        return Doubt("failures", self.reason("reverse the difference"))

    def reason(self, effect: str) -> str:
        """Describe the possible effect of unseen failures."""
        enough = "" if self.enough is None else f"; about {count(self.enough, 'run')} of {self.algorithm}"
        settle = f"{enough} would settle it" if enough else ""
        return f"failures may not have been seen: {self._rate}, and {_percent(self.reversal)} would {effect}{settle}"

    @property
    def _rate(self) -> str:
        runs = f"{self.algorithm} failed in {self.failures:,} of {count(self.runs, 'run')}"
        return f"{runs}, which allows for {_percent(self.upper)}"


def failure_bounds(
    comparisons: Sequence[Comparison], limits: Sequence[Sequence[float]], observed: Observed, settings: Settings
) -> list[FailureBound | None]:
    """Return the failure bound with the largest effect on each mean difference, relative to its limits.

    A claim of a difference has the limit 0, one of equivalence has both margins. None where failed runs have no value
    of their own, or no failure rate reaches a limit.
    """
    penalty, summary = None, summary_of(settings.statistic)
    match settings.failures:
        case Penalty(value):
            penalty = value
        case Par(factor, float() | int() as cutoff):
            penalty = factor * cutoff
    geometric = isinstance(summary, GeometricMean)
    if penalty is None or not isinstance(summary, Mean | GeometricMean) or (geometric and penalty <= 0):
        return [None] * len(comparisons)
    table = _FailureTable(observed, penalty, settings.family_alpha / len(observed.runs.algorithms))
    return [table.closest(k, *both) for k, both in enumerate(zip(comparisons, limits, strict=True))]


Shown = TypeVar("Shown", Equivalence, NonInferiority)


def unseen_failures(shown: Sequence[Shown | None], bounds: Sequence[FailureBound | None]) -> list[Shown | None]:
    """Return the verdicts that hold for every plausible failure rate."""
    return [
        replace(item, established=False, doubt=bound.reason("exceed the margin"))
        if item is not None and bound is not None and bound.in_doubt
        else item
        for item, bound in zip(shown, bounds, strict=True)
    ]


def upper_bound(failures: float, runs: float, alpha: float) -> float:
    """Return the upper confidence bound of a failure rate (Clopper and Pearson 1934).

    >>> round(upper_bound(0, 200, 0.025), 4)
    0.0183
    """
    from scipy.special import betaincinv

    return 1.0 if failures >= runs else float(betaincinv(failures + 1, runs - failures, 1 - alpha))


def runs_needed(failures: int, runs: int, rate: float, alpha: float) -> int | None:
    """Return with how many runs the bound falls below a rate if failures stay as frequent; None if it never does.

    >>> runs_needed(0, 200, 0.005, 0.025)
    736
    """
    low, high = runs, runs
    while upper_bound(failures / runs * high, high, alpha) >= rate:
        low, high = high, 2 * high
        if high > MAX_RUNS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        enough = upper_bound(failures / runs * middle, middle, alpha) < rate
        low, high = (low, middle) if enough else (middle, high)
    return high


class _FailureTable:
    """The statistics of an analysis, with the runs and failures of each cell."""

    def __init__(self, observed: Observed, penalty: float, alpha: float) -> None:
        runs, blocks, self.contrasts = observed.runs, observed.estimates.blocks, observed.contrasts
        rows = [runs.instances.index(name) for name in blocks.instances]
        shape = len(runs.instances), len(runs.algorithms)
        cell = np.ravel_multi_index((runs.instance, runs.algorithm), shape)
        self.runs, self.failed = (
            np.bincount(cell[kind], minlength=math.prod(shape)).reshape(shape)[rows]
            for kind in (runs.status >= 0, ~runs.ok)
        )
        self.names, self.theta = runs.algorithms, blocks.statistics
        self.penalty, self.alpha, self.geometric = penalty, alpha, blocks.exact_logs

    def closest(self, k: int, comparison: Comparison, limits: Sequence[float]) -> FailureBound | None:
        if comparison.estimate_of != "mean":
            return None
        first, second = self.contrasts.first[[k]], self.contrasts.second[[k]]
        one, i, j = replace(self.contrasts, first=first, second=second), int(first[0]), int(second[0])
        bounds = [
            bound
            for (who, other), limit in product(((i, j), (j, i)), limits)
            if (bound := self._bound(one, who, other, comparison.estimate - limit)) is not None
        ]
        return max(bounds, key=lambda bound: bound.upper / bound.reversal, default=None)

    def _bound(self, contrast: Contrasts, who: int, other: int, estimate: float) -> FailureBound | None:
        """The bound of one of a pair, on the instances that the other solved: elsewhere failures are the instance's."""
        from scipy.optimize import brentq

        there = ~np.isnan(self.theta[:, [who, other]]).any(axis=1)
        rows = there & (self.failed[:, other] < self.runs[:, other])
        if not rows.any():
            return None
        before = contrast.differences(self.theta)[:, 0]

        def shifted(more: float) -> float:
            """The mean difference if this share of the runs that gave a value failed."""
            return estimate + float(np.nanmean((self._failing(contrast, who, rows, more) - before)[there]))

        if not shifted(1.0) * estimate < 0:
            return None
        more = brentq(shifted, 0.0, 1.0)
        failed, runs = int(self.failed[rows, who].sum()), int(self.runs[rows, who].sum())
        rate = float((self.failed[rows, who] / self.runs[rows, who]).mean())
        reversal, upper = rate + more * (1 - rate), upper_bound(failed, runs, self.alpha)
        shift = shifted(max(0.0, (upper - rate) / (1 - rate))) - estimate
        enough = runs_needed(failed, runs, reversal, self.alpha)
        return FailureBound(self.names[who], failed, runs, upper, reversal, shift, enough)

    def _failing(self, contrast: Contrasts, who: int, rows: Bools, more: float) -> Floats:
        """The differences if more runs failed."""
        single = rows & (self.runs[:, who] == 1)
        means = self.theta.copy()
        several = rows & ~single, who
        if self.geometric:
            means[several] *= (self.penalty / means[several]) ** more
        else:
            means[several] += more * (self.penalty - means[several])
        phi = contrast.differences(means)[:, 0]
        if single.any():
            means[single, who] = self.penalty
            phi[single] += more * (contrast.differences(means)[:, 0] - phi)[single]
        return phi


def _percent(rate: float) -> str:
    return f"{digits(100 * rate, 2)} %"


# intervals narrower than run noise allows ---------------------------------------------------------------------


def noise_tests(
    comparisons: Sequence[Comparison], differences: Floats, errors: Floats, freedom: Floats
) -> list[MeanEstimate | None]:
    """Return for each mean its test by the noise of the runs, where that exceeds the differences' by more than chance.

    `freedom` are the degrees of freedom of each squared error.
    """
    return list(map(_noise_test, comparisons, differences.T, errors.T, freedom.T))


def _noise_test(comparison: Comparison, differences: Floats, errors: Floats, freedom: Floats) -> MeanEstimate | None:
    from scipy.special import chdtr

    there = ~np.isnan(differences)
    size = int(there.sum())
    usable = there & np.isfinite(errors) & (errors > 0)
    if comparison.estimate_of != "mean" or size < 2 or not usable.any():
        return None
    largest = float(errors[usable].max())  # so that squares are doubles
    squares = (errors[usable] / largest) ** 2
    noise = largest * math.sqrt(float(squares.sum())) / size
    with np.errstate(over="ignore"):
        own = float(np.std(differences[there], ddof=1)) / math.sqrt(size)
    if not noise > own or chdtr(size - 1, (size - 1) * (own / noise) ** 2) >= CHANCE:
        return None
    degrees = float(squares.sum() ** 2 / (squares**2 / freedom[usable]).sum())  # Satterthwaite 1946
    return MeanEstimate(comparison.estimate, noise, degrees)


def width_doubt(comparison: Comparison, noise: MeanEstimate | None, alternative: Alternative) -> Doubt | None:
    """Return the doubt that a significant difference is within the noise of the runs."""
    if noise is None or not comparison.rejected:
        return None
    low, high, _ = noise.interval(alternative, comparison.alpha)
    if not low <= 0 <= high:
        return None
    return Doubt(
        "noise-width",
        "run noise alone makes the mean less certain than the differences suggest (p ="
        f" {digits(noise.p_value('two-sided'), 2)} from run noise); make more runs per instance",
    )


def widened(
    comparison: Comparison,
    noise: MeanEstimate | None,
    bound: FailureBound | None,
    alternative: Alternative,
    joint: float,
) -> Comparison:
    """Return a comparison with intervals as wide as run noise implies, and failures that were not observed.

    `joint` is the level of each of the simultaneous intervals.
    """
    shift = bound.shift if bound is not None and bound.in_doubt else 0.0

    def wide(interval: Interval, alpha: float) -> Interval:
        own = interval if noise is None else noise.interval(alternative, alpha)
        low, high = min(interval[0], own[0]), max(interval[1], own[1])
        return min(low, low + shift), max(high, high + shift)

    interval, simultaneous = wide(comparison.interval, comparison.alpha), wide(comparison.joint_interval, joint)
    return replace(comparison, interval=interval, joint_interval=simultaneous)


def not_equivalent(same: Equivalence | None, noise: MeanEstimate | None) -> Equivalence | None:
    """Return the equivalence verdicts that hold under run noise."""
    if same is None or noise is None:
        return same
    low, high, _ = noise.interval("two-sided", 2 * same.alpha)
    return replace(same, established=same.established and -same.margin < low and high < same.margin)


# ratios and percent differences ---------------------------------------------------------------------------------------


def noise_doubts(
    comparisons: Sequence[Comparison], differences: Floats, blocks: Blocks, contrasts: Contrasts, *, corrected: bool
) -> list[Doubt | None]:
    """Return a doubt for each comparison, in the order of the columns, that run noise alone may have made."""
    from scipy.special import stdtrit

    doubts: list[Doubt | None] = [None] * len(comparisons)
    rejected = [k for k, comparison in enumerate(comparisons) if comparison.rejected]
    if contrasts.difference == "simple" or not rejected:
        return doubts
    bias = bias_left(blocks, contrasts) if corrected else bias_left(blocks, contrasts) + uncorrected(blocks, contrasts)
    for k in rejected:
        sample = present(differences[:, k])
        if len(sample) < FEWEST:
            continue
        error = float(sample.std(ddof=1)) / np.sqrt(len(sample))
        needed = -float(stdtrit(len(sample) - 1, comparisons[k].alpha / 2)) * error
        if bias[k] > NOTABLE_BIAS * error and abs(float(sample.mean())) - bias[k] < needed:
            ratios = "" if contrasts.difference == "ratio" else "ratios of "
            doubts[k] = Doubt(
                "noise",
                f"the noise of so few runs may bias it by {digits(bias[k], 2)}: make more runs, or compare {ratios}"
                "geometric means",
            )
    return doubts


def bias_left(blocks: Blocks, contrasts: Contrasts) -> Floats:
    """Return a bound of the bias of each pair's mean difference: the first term that is not corrected for.

    With u the squared relative standard error, that of a logarithm is u²/2 at most for normal to lognormal runs (log-sd
    up to 0.8), that of a percent difference 2u² of the ratio. A reference without noise has none.
    """
    u = np.nan_to_num(np.minimum(blocks.in_logs(contrasts).relative_errors() ** 2, 1.0))
    first, second, base = contrasts.first, contrasts.second, contrasts.reference
    if contrasts.difference == "percent" and base is not None:
        with np.errstate(all="ignore"):
            left = 2 * u[:, [base]] ** 2 * np.abs(blocks.theta[:, second] / blocks.theta[:, [base]])
    else:
        left = np.maximum(u[:, first], u[:, second]) ** 2 / 2
    exact = contrasts.difference == "ratio" and blocks.exact_logs
    return np.zeros(left.shape[1]) if exact else _column_means(left)


def uncorrected(blocks: Blocks, contrasts: Contrasts) -> Floats:
    """Return the bias of each pair's mean difference that is known and was not corrected for."""
    if contrasts.difference == "ratio" and not blocks.unbiased:
        exact = blocks.exact_logs
        return np.zeros(len(contrasts.first)) if exact else np.abs(_column_means(blocks.curvature(contrasts)))
    newest = replace(contrasts, formula="corrected")
    return np.abs(_column_means(blocks.differences(newest) - blocks.differences(contrasts)))


def _column_means(values: Floats) -> Floats:
    """The mean of each column over the instances that it has; 0 where there is none."""
    there = np.isfinite(values)
    return np.asarray(np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1))


@dataclass(frozen=True, eq=False)
class Roles:
    """Percent differences compared with those of exchanged roles and with the ratio."""

    contrasts: Contrasts
    differencing: Differencing
    settings: Settings

    def doubts(self, comparisons: Sequence[Comparison], differences: Floats) -> list[Doubt | None]:
        """Return the doubts about each comparison, by column.

        The other views are tested on the instances of the comparison, at the level at which it was decided.
        """
        doubts: list[Doubt | None] = [None] * len(comparisons)
        for k, comparison in enumerate(comparisons):
            there = ~np.isnan(differences[:, k])
            if self.contrasts.difference != "percent" or not comparison.rejected or there.sum() < FEWEST:
                continue
            against = {
                where: self._objection(comparison, view[there], where) for where, view in self._views(comparison, k)
            }
            by_roles = any(reason for where, reason in against.items() if where != RATIO)
            cause = "percentages favour their reference" if by_roles else "percentages and ratios disagree"
            if reasons := [reason for reason in against.values() if reason]:
                doubts[k] = Doubt("roles", f"{cause}: {' and '.join(reasons)}")
        return doubts

    def equivalences(
        self, same: Sequence[Equivalence | None], comparisons: Sequence[Comparison]
    ) -> list[Equivalence | None]:
        """Return the equivalences of percent differences that hold for the exchanged roles and the ratio, too."""

        def doubt(k: int, item: Equivalence) -> str:
            for where, view in self._views(comparisons[k], k):
                margin = math.log1p(item.margin) if where == RATIO else item.margin
                sample = present(view)[:, np.newaxis]
                [other] = equivalence(sample, margin=margin, test=self.settings.paired_test, alpha=item.alpha)
                if not other.established:
                    by = "by " if where == RATIO else ""
                    return (
                        f"equivalence depends on the reference: {by}{where} it is not shown (p = {other.p_value:.2g})"
                    )
            return ""

        result = list(same)
        for k, item in enumerate(same):
            checked = self.contrasts.difference == "percent" and item is not None and item.established
            if item is not None and checked and (why := doubt(k, item)):
                result[k] = replace(item, established=False, doubt=why)
        return result

    def non_inferiorities(self, shown: Sequence[NonInferiority]) -> list[NonInferiority]:
        """Return the non-inferiorities by percent differences that hold for the ratio, too."""
        if self.contrasts.difference != "percent":
            return list(shown)
        limit = loss_limit(replace(self.settings, difference="ratio"))
        side: Alternative = "greater" if self.settings.better == "lower" else "less"
        result = list(shown)
        for k, item in enumerate(shown):
            if item.established:
                p = float(paired_test(self.settings.paired_test).p_value(present(self._ratios[:, k]) - limit, side))
                if p > item.alpha / len(shown):
                    why = f"percentages favour their reference: the ratio does not show it (p = {p:.2g})"
                    result[k] = replace(item, established=False, doubt=why)
        return result

    @cached_property
    def _ratios(self) -> Floats:
        return self.differencing(replace(self.contrasts, difference="ratio"))

    def _views(self, comparison: Comparison, k: int) -> Iterator[tuple[str, Floats]]:
        """Yield the percent differences of a pair with its roles exchanged, and the logarithms of its ratios.

        All have the sign of first minus second.
        """
        own = self.contrasts
        if own.reference is not None:  # as a share of the second algorithm's value
            base = int(own.second[k])
            exchanged = contrasts_among(own.size, difference="percent", reference=base, formula=own.formula)
            column = int(np.flatnonzero(exchanged.second == own.reference)[0])
            yield f"in percent of {comparison.second}'s value", -self.differencing(exchanged)[:, column]
        yield RATIO, self._ratios[:, k]

    def _objection(self, comparison: Comparison, differences: Floats, where: str) -> str:
        """Return the doubt about a claim from another kind of difference; None if that supports it."""
        how, sample = self.settings, present(differences)
        method = paired_test(how.paired_test)
        p, larger = method.p_value(sample, how.alternative), method.estimate(sample) > method.estimand.neutral
        is_ratio = where == RATIO
        if p > comparison.alpha:
            verb = "is" if is_ratio else "the difference is"
            return f"{where} {verb} not significant (p = {p:.2g})"
        if larger == (comparison.estimate > ESTIMANDS[comparison.estimate_of].neutral):
            return ""
        winner = comparison.first if larger == (how.better == "higher") else comparison.second
        return f"{'by ' if is_ratio else ''}{where} {winner} seems better (p = {p:.2g})"


def loss_limit(settings: Settings) -> float:
    """Return the difference, first minus second, at which the second is worse by the margin of non-inferiority."""
    margin = settings.non_inferior or 0.0
    if settings.better == "lower":
        return -math.log1p(margin) if settings.difference == "ratio" else -margin
    return -math.log1p(-min(margin, 1 - 1e-12)) if settings.difference == "ratio" else margin


# skewness -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Robustness:
    """Shape of the differences of a family, in the order of the comparisons."""

    skewed: Bools  # comparisons whose differences are skewed beyond chance
    far: Bools  # those with one difference too far from the others for chance
    fragile: Bools  # claims that skewness may explain
    doubtful: Bools  # those of them that bootstrap-t does not make, or not at half the level
    disputed: Bools  # other claims with differences that are not normal, which some test does not find
    resampled: Floats  # adjusted p-values of bootstrap-t where it was needed, else 1
    agree: tuple[tuple[Test, ...], ...]  # other tests that confirm each claim
    disagree: tuple[tuple[Test, ...], ...]  # and those that do not; bootstrap-t only for skewed differences
    coverage: float  # of the simultaneous t intervals, estimated; NaN where no shape is beyond chance

    def are_optimistic(self, alpha: float) -> bool:
        """Whether the simultaneous intervals are too narrow, whatever is claimed."""
        return self.coverage < 1 - TOO_OFTEN * alpha

    def doubt(self, k: int) -> Doubt | None:
        """Return the doubt about a comparison from the shape of its differences."""
        if not self.doubtful[k]:
            return None
        hardly = f"bootstrap-t hardly finds it (p = {digits(self.resampled[k], 2)})"
        return Doubt(
            "shape", f"the differences are skewed: {hardly if 'bootstrap-t' in self.agree[k] else self.agreement(k)}"
        )

    def agreement(self, k: int) -> str:
        """State which other tests find the difference of a claim; nothing where all agree, or the shape is ordinary."""
        no, yes = ([OTHER_TESTS[test] for test in tests[k]] for tests in (self.disagree, self.agree))
        if not no or not (self.skewed | self.far | self.fragile | self.disputed)[k]:
            return ""
        without = f"{named(no)} {'do' if len(no) > 1 else 'does'} not find it"
        return f"{without}; {named(yes)} {'do' if len(yes) > 1 else 'does'}" if yes else without


def robustness(differences: Floats, claimed: Bools, *, alternative: Alternative, alpha: float) -> Robustness:
    """Hold the claims of a family of t-tests, or sign-flip tests, against the shape of the differences and other tests.

    >>> rng = np.random.default_rng(6)
    >>> differences = -rng.lognormal(size=(40, 1))
    >>> robustness(differences, np.array([True]), alternative="two-sided", alpha=0.05).skewed.tolist()
    [True]
    """
    from scipy.special import ndtr

    columns = present_columns(differences)
    size = len(columns)
    scores = np.array([skewness_score(column) for column in columns])
    means = _sides("t", columns)
    skewed = skewed_beyond_chance(differences)
    far = np.array([farthest_difference(column).p_value for column in columns]) * size < SURE
    number = (claimed.sum() * size) ** 0.5  # between the claims, which were chosen by the data, and all comparisons
    against = np.where(claimed, ndtr(means * scores) * number, np.nan)
    odd = claimed & (np.array(list(map(normality_p_value, columns))) * size < UNUSUAL)
    unusual = odd & (means * scores < 0)

    confirmed: dict[Test, Bools] = {}
    fragile = doubtful = np.zeros(size, dtype=bool)
    p_values = np.ones(size)
    if claimed.any():
        resampled = (unusual | (against < POSSIBLY) | (claimed & (skewed | far))).any()
        for test in OTHER_TESTS if resampled else ("wilcoxon", "sign"):
            steps = family_verdict(differences, test=test, alternative=alternative, alpha=alpha).steps
            confirmed[test] = steps.rejected & (_sides(test, columns) == means)
            if test == "bootstrap-t":
                p_values = steps.adjusted
                likely = against < np.minimum(POSSIBLY, SURER * 0.05 / alpha * p_values)
                fragile = (likely | unusual) & (p_values > FIRM * alpha)
                doubtful = ~confirmed[test] & (against < SKEWED_CLAIM)
                doubtful |= (p_values > HALF * alpha) & (against < SURE)
    agree, disagree = (
        tuple(
            tuple(test for test, same in confirmed.items() if claim and bool(same[k]) == wish)
            for k, claim in enumerate(claimed)
        )
        for wish in (True, False)
    )
    coverage = joint_coverage(differences, alternative=alternative, alpha=alpha) if skewed.any() else np.nan
    disputed = odd & ~(fragile | doubtful) & np.array([len(tests) > 0 for tests in disagree], dtype=bool)
    return Robustness(skewed, far, fragile | doubtful, doubtful, disputed, p_values, agree, disagree, coverage)


def _sides(test: Test, columns: Sequence[Floats]) -> Floats:
    """The side to which each column leans: 1, −1, or 0."""
    return np.sign([paired_test(test).leaning(column) if len(column) else 0.0 for column in columns])


def skewed_beyond_chance(differences: Floats) -> Bools:
    """Return which comparisons have skewed differences, allowing for their number; unknown with fewer than eight."""
    from scipy.special import ndtr

    scores = np.array([skewness_score(column) for column in present_columns(differences)])
    return np.asarray(2 * ndtr(-np.abs(scores)) * len(scores) < SURE)
