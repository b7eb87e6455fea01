"""Evidence at interim analyses, p-values that stay valid over them, and which comparisons stop. Pure.

The repeated p-value of an interim analysis is the level at which its result would just have stopped the comparison; the
sequential p-value is the smallest so far. Holm's procedure on sequential p-values gives the decisions of `decide`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from ampler.core.arrays import Bools, Counts, Floats
from ampler.core.errors import InvalidDesign
from ampler.core.settings import Alternative
from ampler.stats.holm import step_down
from ampler.stats.power import upper_tail
from ampler.stats.sequential import boundaries
from ampler.stats.sequential.boundaries import FEWEST_NEW, Schedule, Sides, Spending
from ampler.stats.shape import error_inflation

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline


@dataclass(frozen=True, slots=True, eq=False)
class LookEvidence:
    """Interim analyses in rows, comparisons in columns; a p-value is NaN where there are too few instances."""

    counts: Counts  # instances that both algorithms of the comparison have
    p_values: Floats
    equivalence: Floats | None = None  # p-values of "the difference is as large as the relevant effect"


def equivalence_p_values(t: Floats, counts: Counts, effect: float) -> Floats:
    """Return P(|T| is as small as |t|, on its side) when the true effect is as large as the relevant one."""
    # mirrored: an upper tail keeps its digits where it is tiny
    return upper_tail(-np.abs(t), np.maximum(counts - 1, 1), -effect * np.sqrt(counts))


SMALLEST = 1e-12  # smaller p-values need no distinction
POINTS = 20  # levels computed, equidistant in the square root of their normal quantile: p-values are good to 4e-5


def repeated_p_values(schedule: Schedule, p_values: ArrayLike) -> Floats:
    """Return the repeated p-value of each look (first axis) for the ordinary p-values found there.

    Fewer rows than looks are the first looks. NaN, where a look had nothing to test, counts as 1.

    >>> from ampler.stats.sequential.boundaries import named_spending
    >>> schedule = Schedule(named_spending("OF"), (24 / 58, 35 / 58, 47 / 58, 1.0), (24, 35, 47, 58))
    >>> repeated_p_values(schedule, [0.03, 0.004]).round(4).tolist()
    [0.2353, 0.0337]
    """
    repeated = []
    for row, curve in zip(np.asarray(p_values, dtype=float), _curves(schedule), strict=False):
        lowest, highest = curve.x[[0, -1]]
        observed = -ndtri(np.nan_to_num(row, nan=1.0) / schedule.sides)
        level = schedule.sides * ndtr(-curve(np.clip(observed, lowest, highest)))
        repeated.append(np.where(observed < lowest, 1.0, np.clip(level, SMALLEST, 1.0)))
    return np.array(repeated)


@lru_cache(maxsize=256)
def _curves(schedule: Schedule) -> tuple[CubicSpline, ...]:
    """For each look a smooth curve through levels computed exactly: nominal level to level, both as normal quantiles.

    On that scale it is nearly straight. A level so small that a look never stops at it is left out.
    """
    from scipy.interpolate import CubicSpline

    smallest = -1.01 * float(ndtri(SMALLEST / 2))
    quantiles = smallest * np.linspace(0, 1, POINTS) ** 2
    nominal = np.array([schedule.nominal_levels(float(level)) for level in schedule.sides * ndtr(-quantiles)])
    limits = -ndtri(nominal.T / schedule.sides)
    return tuple(CubicSpline(own[np.isfinite(own)], quantiles[np.isfinite(own)]) for own in limits)


OBRIEN_FLEMING, QUADRATIC = Spending("OF"), Spending("KD", 2.0)
OBRIEN_FLEMING, QUADRATIC = Spending("OF"), Spending("KD", 2.0)
Verdict = Literal["continue", "different", "no relevant difference", "undecided"]
Theory = Literal["student", "normal"]


@dataclass(frozen=True, slots=True)
class EquivalenceStop:
    """Spending of the level of equivalence, per comparison."""

    alpha: float = 0.05
    spending: Spending = QUADRATIC


@dataclass(frozen=True, slots=True)
class Declared:
    """Settings fixed before the first interim analysis."""

    looks: tuple[int, ...]  # instances at each look; the last has all of them
    alpha: float = 0.05
    spending: Spending = OBRIEN_FLEMING
    equivalence: EquivalenceStop | None = EquivalenceStop()
    sides: Sides = 2
    theory: Theory = "student"  # "normal" for p-values of tests that are not t-tests

    def __post_init__(self) -> None:
        boundaries.checked_looks(self.looks)
        levels = [self.alpha] if self.equivalence is None else [self.alpha, self.equivalence.alpha]
        for level in levels:
            if not 0 < level <= 0.5:
                raise InvalidDesign(f"alpha must lie above 0 and at most at 0.5, got {level!r}: 0.05 is usual")


@dataclass(frozen=True, slots=True)
class Standing:
    """State of one comparison."""

    verdict: Verdict
    look: int  # from 1: the analysis that decided it, or the last one so far
    instances: int  # instances of the comparison at that analysis
    p_sequential: float
    p_adjusted: float  # Holm's, over the sequential p-values of the family
    level: float  # of Holm's rank
    nominal: float  # an ordinary interval at this level is the repeated one; NaN: too few instances for any
    joint: float  # the same for alpha over all comparisons: those intervals hold together


def decide(evidence: LookEvidence, declared: Declared) -> tuple[tuple[Verdict, int], ...]:
    """Return the verdict of each comparison with its interim analysis (from 1), or the last one so far.

    Every look is replayed, so that the answer depends on the evidence alone. A comparison that passed an earlier look
    at the level that it has only now, since others were decided, passes now (Maurer & Bretz 2013).
    """
    timings = [_timing(tuple(column), declared) for column in evidence.counts.T.tolist()]
    # The largest m at whose level alpha/m each comparison has passed some look so far; 0 for none.
    passed = [
        p[:, None] <= _thresholds(timing, declared.alpha, len(timings))[: len(p)]
        for p, timing in zip(evidence.p_values.T, timings, strict=True)
    ]
    reach = np.maximum.accumulate(np.sum(passed, axis=2, dtype=np.int64).T, axis=0)
    verdicts = _verdicts(reach, _equivalent(evidence, declared, timings))
    if len(evidence.counts) == len(declared.looks):
        verdicts = [("undecided" if verdict == "continue" else verdict, look) for verdict, look in verdicts]
    return tuple(verdicts)


def standings(evidence: LookEvidence, declared: Declared) -> tuple[Standing, ...]:
    """Return the verdicts with their p-values, levels and instances."""
    decided = decide(evidence, declared)
    timings = [_timing(tuple(column), declared) for column in evidence.counts.T.tolist()]
    repeated = _repeated(evidence.p_values, timings)
    p = np.array([repeated[:look, k].min() for k, (_, look) in enumerate(decided)])
    adjusted = step_down(p, declared.alpha).adjusted
    # of the rank of each among those found different, else what is left for the others
    different = np.array([verdict == "different" for verdict, _ in decided])
    ranks = np.argsort(np.lexsort((p, ~different)))
    levels = declared.alpha / (len(p) - np.minimum(ranks, max(0, min(different.sum(), len(p) - 1))))
    return tuple(
        Standing(
            verdict=verdict,
            look=look,
            instances=int(evidence.counts[look - 1, k]),
            p_sequential=float(p[k]),
            p_adjusted=float(adjusted[k]),
            level=float(levels[k]),
            nominal=timing.nominal(float(levels[k]), look),
            joint=timing.nominal(declared.alpha / len(decided), look),
        )
        for k, (timing, (verdict, look)) in enumerate(zip(timings, decided, strict=True))
    )


def needless(pairs: Sequence[tuple[int, int]], verdicts: Sequence[Verdict]) -> tuple[int, ...]:
    """Return the algorithms without a continuing comparison.

    >>> needless([(0, 1), (0, 2), (1, 2)], ["different", "continue", "different"])
    (1,)
    """
    algorithms = {algorithm for pair in pairs for algorithm in pair}
    needed = {a for pair, verdict in zip(pairs, verdicts, strict=True) if verdict == "continue" for a in pair}
    return tuple(sorted(algorithms - needed))


@dataclass(frozen=True, slots=True)
class _Timing:
    """The interim analyses that test one comparison: all, unless failures left too few new instances."""

    looks: int
    used: tuple[int, ...]
    schedule: Schedule

    def nominal(self, level: float, look: int) -> float:
        """Return the nominal level of a look (from 1) for this level; NaN at a look that is not used."""
        return float(self.spread(self.schedule.nominal_levels(level))[look - 1])

    def spread(self, nominal: Sequence[float]) -> Floats:
        """Put values of the used analyses in their places; no p-value is below NaN."""
        result = np.full(self.looks, np.nan)
        if self.used:
            result[list(self.used)] = nominal
        return result


@lru_cache(maxsize=4096)
def _timing(counts: tuple[int, ...], declared: Declared) -> _Timing:
    """Future analyses are expected as declared; the level is spent by the actual numbers of instances."""
    expected = (*counts, *declared.looks[len(counts) :])
    used: list[int] = []
    for look, count in enumerate(expected):
        if count - (expected[used[-1]] if used else 0) >= FEWEST_NEW:
            used.append(look)
    instances = tuple(expected[look] for look in used) or declared.looks
    fractions = (*(count / declared.looks[-1] for count in instances[:-1]), 1.0)
    exact = instances if declared.theory == "student" else None
    return _Timing(len(expected), tuple(used), Schedule(declared.spending, fractions, exact, declared.sides))


@lru_cache(maxsize=4096)
def _thresholds(timing: _Timing, alpha: float, comparisons: int) -> Floats:
    """The nominal levels of each look (rows) at alpha/1, …, alpha/K."""
    return np.array([timing.spread(timing.schedule.nominal_levels(alpha / m)) for m in range(1, comparisons + 1)]).T


def _equivalent(evidence: LookEvidence, declared: Declared, timings: Sequence[_Timing]) -> Bools:
    """Comparisons with a difference shown to be smaller than the relevant effect."""
    observed = evidence.equivalence
    if observed is None or declared.equivalence is None:
        return np.zeros(evidence.p_values.shape, dtype=np.bool_)
    stop = declared.equivalence
    levels = np.array(
        [t.spread(boundaries.equivalence_levels(stop.spending, stop.alpha, t.schedule.fractions)) for t in timings]
    ).T
    return np.asarray(observed <= levels[: len(observed)])


def _verdicts(reach: Counts, equivalent: Bools) -> list[tuple[Verdict, int]]:
    """At each analysis, reject as Holm does until nothing changes, then stop equivalent comparisons."""
    comparisons = reach.shape[1]
    verdicts: list[tuple[Verdict, int]] = [("continue", len(reach))] * comparisons
    for look, (passed, same) in enumerate(zip(reach, equivalent, strict=True), start=1):
        continuing = [k for k, (verdict, _) in enumerate(verdicts) if verdict == "continue"]
        for k in sorted(continuing, key=lambda k: -passed[k]):
            rest = comparisons - sum(verdict == "different" for verdict, _ in verdicts)
            if passed[k] >= rest:
                verdicts[k] = ("different", look)
            elif same[k]:
                verdicts[k] = ("no relevant difference", look)
    return verdicts


def _repeated(p_values: Floats, timings: Sequence[_Timing]) -> Floats:
    """The repeated p-value of each look and comparison; 1 at a look that a comparison does not use."""
    repeated = np.ones_like(p_values)
    for timing in set(timings):
        columns = [k for k, own in enumerate(timings) if own == timing]
        used = [look for look in timing.used if look < len(p_values)]
        if used:
            repeated[np.ix_(used, columns)] = repeated_p_values(timing.schedule, p_values[np.ix_(used, columns)])
    return repeated


def interim_inflation(
    skewness: float, schedule: Schedule, level: float, alternative: Alternative = "two-sided"
) -> float:
    """Return the inflation of the error rate at this level and skewness.

    Each look errs as a t-test on its instances does at its nominal level (`shape.error_inflation`), and what it may
    spend is its weight. An early look has few instances and a strict level, where skewness does most
    harm. Against simulation it is a little too large (exponential differences, four looks at 57 instances: 2.0 and 6.0
    for 1.6 and 5.1 at 0.05 and at a twenty-first of it; at 200 instances 2.5 for 2.4).

    >>> from ampler.stats.sequential.boundaries import named_spending
    >>> schedule = Schedule(named_spending("OF"), (23 / 57, 35 / 57, 46 / 57, 1.0), (23, 35, 46, 57))
    >>> round(interim_inflation(2.0, schedule, 0.05 / 21), 1), round(error_inflation(2.0, 57, 0.05 / 21), 1)
    (6.0, 4.1)
    """
    instances = schedule.instances
    if instances is None:
        return 1.0
    shares = boundaries.spent_shares(schedule.spending, level, schedule.fractions, schedule.sides).tolist()
    errors = (
        share * (error_inflation(skewness, count, nominal, alternative) if nominal > 0 else 1.0)
        for share, count, nominal in zip(shares, instances, schedule.nominal_levels(level), strict=True)
    )
    return float(sum(errors)) / level
