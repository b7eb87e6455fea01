"""Holm's procedure over looks: which comparisons stop, with which verdict, and who needs no more runs. Pure.

"Different" is claimed with family-wise error at most alpha. "No relevant difference" is a statement of its own, with
error at most `equivalence.alpha` for each comparison. It is not binding: a comparison stopped by it stays in Holm's
count, so that it frees no level for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from ampler.core.arrays import Bools, Counts, Floats
from ampler.core.errors import InvalidDesign
from ampler.stats.holm import step_down
from ampler.stats.sequential.boundaries import Sides, equivalence_levels
from ampler.stats.sequential.evidence import LookEvidence
from ampler.stats.sequential.p_values import repeated_p_values
from ampler.stats.sequential.schedule import Schedule
from ampler.stats.sequential.spending import KimDeMets, OBrienFleming, Spending
from ampler.stats.sequential.student import FEWEST_NEW, checked_looks

Verdict = Literal["continue", "different", "no relevant difference", "undecided"]
Theory = Literal["student", "normal"]


@dataclass(frozen=True, slots=True)
class EquivalenceStop:
    """How "no relevant difference" spends its own level, per comparison."""

    alpha: float = 0.05
    spending: Spending = field(default_factory=lambda: KimDeMets(2.0))


@dataclass(frozen=True, slots=True)
class Declared:
    """What is fixed before the first look."""

    looks: tuple[int, ...]  # instances at each look; the last has all of them
    alpha: float = 0.05
    spending: Spending = field(default_factory=OBrienFleming)
    equivalence: EquivalenceStop | None = field(default_factory=EquivalenceStop)
    sides: Sides = 2
    theory: Theory = "student"  # "normal" for p-values of tests that are not t-tests

    def __post_init__(self) -> None:
        checked_looks(self.looks)
        levels = [self.alpha] if self.equivalence is None else [self.alpha, self.equivalence.alpha]
        for level in levels:
            if not 0 < level <= 0.5:
                raise InvalidDesign(f"alpha must lie above 0 and at most at 0.5, got {level!r}: 0.05 is usual")


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one comparison stands."""

    verdict: Verdict
    look: int  # from 1: where it was decided, or the last one so far
    instances: int  # that it has at that look
    p_sequential: float
    p_adjusted: float  # Holm's, over the sequential p-values of the family
    level: float  # of Holm's rank
    nominal: float  # an ordinary interval at this level is the repeated one; NaN: too few instances for any
    joint: float  # the same for alpha over all comparisons: those intervals hold together


def decide(evidence: LookEvidence, declared: Declared) -> tuple[tuple[Verdict, int], ...]:
    """Return the verdict of each comparison and the look (from 1) at which it was reached, or the last one so far.

    Every look is replayed, so that the answer depends on the evidence alone. A comparison that passed an earlier look
    at the level that it has only now, since others were decided, passes now (Maurer & Bretz 2013).
    """
    timings = _timings(evidence, declared)
    verdicts = _verdicts(_reach(evidence, declared, timings), _equivalent(evidence, declared, timings))
    if len(evidence.counts) == len(declared.looks):
        verdicts = [("undecided" if verdict == "continue" else verdict, look) for verdict, look in verdicts]
    return tuple(verdicts)


def standings(evidence: LookEvidence, declared: Declared) -> tuple[Standing, ...]:
    """Return the verdicts with their p-values, levels and instances."""
    decided = decide(evidence, declared)
    timings = _timings(evidence, declared)
    repeated = _repeated(evidence.p_values, timings)
    p = np.array([repeated[:look, k].min() for k, (_, look) in enumerate(decided)])
    adjusted = step_down(p, declared.alpha).adjusted
    levels = _levels(p, np.array([verdict == "different" for verdict, _ in decided]), declared.alpha)
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
    """Return the algorithms none of whose comparisons goes on.

    >>> needless([(0, 1), (0, 2), (1, 2)], ["different", "continue", "different"])
    (1,)
    """
    algorithms = {algorithm for pair in pairs for algorithm in pair}
    needed = {a for pair, verdict in zip(pairs, verdicts, strict=True) if verdict == "continue" for a in pair}
    return tuple(sorted(algorithms - needed))


@dataclass(frozen=True, slots=True)
class _Timing:
    """The looks at which one comparison is tested: all of them, unless failures left it too few new instances."""

    looks: int
    used: tuple[int, ...]
    schedule: Schedule
    equivalence: Schedule | None

    def nominal(self, level: float, look: int) -> float:
        """Return the nominal level of a look (from 1) for this level; NaN at a look that is not used."""
        return float(self.spread(self.schedule.nominal_levels(level))[look - 1])

    def spread(self, nominal: Sequence[float]) -> Floats:
        """Put values of the used looks in their places; NaN is met by no p-value."""
        result = np.full(self.looks, np.nan)
        if self.used:
            result[list(self.used)] = nominal
        return result


def _timings(evidence: LookEvidence, declared: Declared) -> list[_Timing]:
    if not 0 < len(evidence.counts) <= len(declared.looks):
        raise InvalidDesign(f"{len(declared.looks)} looks were declared, got the results of {len(evidence.counts)}")
    return [_timing(tuple(column), declared) for column in evidence.counts.T.tolist()]


@lru_cache(maxsize=4096)
def _timing(counts: tuple[int, ...], declared: Declared) -> _Timing:
    """Looks still to come are expected as declared; the level is spent by the instances that are really there."""
    expected = (*counts, *declared.looks[len(counts) :])
    used: list[int] = []
    for look, count in enumerate(expected):
        if count - (expected[used[-1]] if used else 0) >= FEWEST_NEW:
            used.append(look)
    instances = tuple(expected[look] for look in used) or declared.looks
    fractions = (*(count / declared.looks[-1] for count in instances[:-1]), 1.0)
    schedule = Schedule(
        declared.spending, fractions, instances if declared.theory == "student" else None, sides=declared.sides
    )
    stop = None if declared.equivalence is None else Schedule(declared.equivalence.spending, fractions)
    return _Timing(len(expected), tuple(used), schedule, stop)


@lru_cache(maxsize=4096)
def _thresholds(timing: _Timing, alpha: float, comparisons: int) -> Floats:
    """The nominal levels of each look (rows) at alpha/1, …, alpha/K."""
    return np.array([timing.spread(timing.schedule.nominal_levels(alpha / m)) for m in range(1, comparisons + 1)]).T


def _reach(evidence: LookEvidence, declared: Declared, timings: Sequence[_Timing]) -> Counts:
    """The largest m at whose level alpha/m each comparison has passed some look so far; 0 for none."""
    passed = [
        p[:, None] <= _thresholds(timing, declared.alpha, len(timings))[: len(p)]
        for p, timing in zip(evidence.p_values.T, timings, strict=True)
    ]
    return np.maximum.accumulate(np.sum(passed, axis=2, dtype=np.int64).T, axis=0)


def _equivalent(evidence: LookEvidence, declared: Declared, timings: Sequence[_Timing]) -> Bools:
    """Where the difference is shown to be smaller than the relevant effect."""
    found = evidence.equivalence
    if found is None or declared.equivalence is None:
        return np.zeros(evidence.p_values.shape, dtype=np.bool_)
    levels = np.array([_equivalence_levels(timing, declared.equivalence.alpha) for timing in timings]).T
    return np.asarray(found <= levels[: len(found)])


@lru_cache(maxsize=4096)
def _equivalence_levels(timing: _Timing, alpha: float) -> Floats:
    assert timing.equivalence is not None
    return timing.spread(equivalence_levels(timing.equivalence.spending, alpha, timing.equivalence.fractions))


def _verdicts(reach: Counts, equivalent: Bools) -> list[tuple[Verdict, int]]:
    """Look after look: reject as Holm does until nothing changes, then stop what is equivalent."""
    comparisons = reach.shape[1]
    verdicts: list[tuple[Verdict, int]] = [("continue", len(reach))] * comparisons
    for look, (passed, same) in enumerate(zip(reach, equivalent, strict=True), start=1):
        going = [k for k, (verdict, _) in enumerate(verdicts) if verdict == "continue"]
        for k in sorted(going, key=lambda k: -passed[k]):
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


def _levels(p: Floats, different: Bools, alpha: float) -> Floats:
    """The level of each comparison: of its rank among those found different, else what is left for the others."""
    order = np.lexsort((p, ~different))
    ranks = np.empty(len(p), dtype=np.int64)
    ranks[order] = np.arange(len(p))
    return np.asarray(alpha / (len(p) - np.minimum(ranks, max(0, min(different.sum(), len(p) - 1)))))
