"""Failures that were not seen: at which failure rate a claim would reverse, and which rates the runs allow for. Pure.

Where failed runs count as a penalty, an algorithm that fails in one of 200 runs looks good until its first failure,
and no variance shows it. A test cannot know; an exact bound of the failure rate does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ampler.analysis.blocks import Blocks
from ampler.analysis.compare import Comparison, Doubt
from ampler.core.arrays import Bools, Counts, Floats
from ampler.core.failures import FailurePolicy, Par, Penalty
from ampler.core.runs import Runs
from ampler.core.settings import AnalysisSettings
from ampler.core.wording import count, digits
from ampler.stats.contrasts import Contrasts, contrasts_among
from ampler.stats.summaries import GeometricMean, Mean, summary_of

MAX_RUNS = 10**9  # beyond it nothing is settled by runs


@dataclass(frozen=True, slots=True)
class FailureBound:
    """How often an algorithm may fail, and how often it would have to for the difference to reverse."""

    algorithm: str
    failures: int
    runs: int
    upper: float  # confidence bound of the failure rate (Clopper and Pearson 1934), for all algorithms together
    reversal: float  # the failure rate at which the difference is zero
    shift: float  # of the difference, if it failed as often as the bound allows
    enough: int | None  # runs that would settle it, at the rate seen; None: no number would

    @property
    def in_doubt(self) -> bool:
        """Whether the runs allow for a failure rate that reverses the difference."""
        return self.upper >= self.reversal

    @property
    def words(self) -> str:
        """Say how far a claim is from being reversed."""
        return (
            f"{self.algorithm} failed in {self.failures:,} of {count(self.runs, 'run')}, which allows for"
            f" {_percent(self.upper)}; {_percent(self.reversal)} would reverse a claim"
        )

    @property
    def doubt(self) -> Doubt:
        """Say so, as what speaks against a claim."""
        settle = (
            f"; about {count(self.enough, 'run')} of {self.algorithm} would settle it"
            if self.enough is not None
            else ""
        )
        return Doubt(
            "failures",
            f"failures may not have been seen: {self.algorithm} failed in {self.failures:,} of"
            f" {count(self.runs, 'run')}, which allows for {_percent(self.upper)}, and"
            f" {_percent(self.reversal)} would reverse the difference{settle}",
        )


def failure_bounds(
    comparisons: Sequence[Comparison], runs: Runs, blocks: Blocks, contrasts: Contrasts, *, settings: AnalysisSettings
) -> list[FailureBound | None]:
    """Return the bound that comes closest to reversing each significant difference of means, or passes it furthest.

    None where failed runs have no value of their own, or no failure rate reverses the difference.
    """
    penalty, summary = _penalty(settings.failures), summary_of(settings.statistic)
    geometric = isinstance(summary, GeometricMean)
    if penalty is None or not isinstance(summary, Mean | GeometricMean) or (geometric and penalty <= 0):
        return [None] * len(comparisons)
    table = _Table(runs, blocks, contrasts, penalty, settings.family_alpha / len(runs.algorithms), geometric=geometric)
    return [table.closest(k, comparison) for k, comparison in enumerate(comparisons)]


def with_failures(comparison: Comparison, bound: FailureBound | None) -> Comparison:
    """Return a comparison whose intervals hold what the difference may be if failures were not seen."""
    if bound is None or not bound.in_doubt:
        return comparison
    intervals = [
        (min(low, low + bound.shift), max(high, high + bound.shift))
        for low, high in (comparison.interval, comparison.joint_interval)
    ]
    return replace(comparison, interval=intervals[0], joint_interval=intervals[1])


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


def _penalty(policy: FailurePolicy | None) -> float | None:
    match policy:
        case Penalty(value):
            return value
        case Par(factor, float() | int() as cutoff):
            return factor * cutoff
    return None


class _Table:
    """The statistics of an analysis, with the runs and failures of each cell."""

    def __init__(
        self, runs: Runs, blocks: Blocks, contrasts: Contrasts, penalty: float, alpha: float, *, geometric: bool
    ) -> None:
        self.geometric = geometric
        rows = [runs.instances.index(name) for name in blocks.instances]
        shape = len(runs.instances), len(runs.algorithms)
        cell = np.ravel_multi_index((runs.instance, runs.algorithm), shape)
        made, failed = (np.bincount(cell[kind], minlength=math.prod(shape)) for kind in (runs.status >= 0, ~runs.ok))
        self.runs: Counts = made.reshape(shape)[rows]
        self.failed: Counts = failed.reshape(shape)[rows]
        self.names, self.theta, self.penalty, self.alpha = runs.algorithms, blocks.statistics, penalty, alpha
        self.contrasts = contrasts

    def closest(self, k: int, comparison: Comparison) -> FailureBound | None:
        if not comparison.rejected or comparison.estimate_of != "mean":
            return None
        pair = int(self.contrasts.first[k]), int(self.contrasts.second[k])
        found = [self._bound(k, who, other, comparison.estimate) for who, other in (pair, pair[::-1])]
        return max(
            (each for each in found if each is not None), key=lambda each: each.upper / each.reversal, default=None
        )

    def _bound(self, k: int, who: int, other: int, estimate: float) -> FailureBound | None:
        """The bound of one of a pair, on the instances that the other solved: elsewhere failures are the instance's."""
        from scipy.optimize import brentq

        there = ~np.isnan(self.theta[:, [who, other]]).any(axis=1)
        rows = there & (self.failed[:, other] < self.runs[:, other])
        if not rows.any():
            return None
        before = self._differences(k, self.theta)

        def shifted(more: float) -> float:
            """The mean difference if this share of the runs that gave a value failed."""
            return estimate + float(np.nanmean((self._failing(k, who, rows, more) - before)[there]))

        if not shifted(1.0) * estimate < 0:
            return None
        more = brentq(shifted, 0.0, 1.0)
        failed, runs = int(self.failed[rows, who].sum()), int(self.runs[rows, who].sum())
        seen = float((self.failed[rows, who] / self.runs[rows, who]).mean())
        reversal, upper = seen + more * (1 - seen), upper_bound(failed, runs, self.alpha)
        return FailureBound(
            self.names[who],
            failed,
            runs,
            upper,
            reversal,
            shifted(max(0.0, (upper - seen) / (1 - seen))) - estimate,
            runs_needed(failed, runs, reversal, self.alpha),
        )

    def _failing(self, k: int, who: int, rows: Bools, more: float) -> Floats:
        """The differences if more runs failed: their means move; where there is one run, it fails as a whole."""
        single = rows & (self.runs[:, who] == 1)
        means = self.theta.copy()
        several = rows & ~single, who
        if self.geometric:
            means[several] *= (self.penalty / means[several]) ** more
        else:
            means[several] += more * (self.penalty - means[several])
        found = self._differences(k, means)
        if single.any():
            means[single, who] = self.penalty
            found[single] += more * (self._differences(k, means) - found)[single]
        return found

    def _differences(self, k: int, theta: Floats) -> Floats:
        contrasts = self.contrasts
        if contrasts.difference == "percent" and contrasts.reference is None:  # of the mean of all
            return contrasts.differences(theta)[:, k]
        pair = contrasts_among(2, difference=contrasts.difference, reference=None if contrasts.reference is None else 0)
        return pair.differences(theta[:, [contrasts.first[k], contrasts.second[k]]])[:, 0]


def _percent(rate: float) -> str:
    return f"{digits(100 * rate, 2)} %"
