"""What the looks of a study say: its values replayed look by look, each as it was known then. Pure.

The same replay decides while the study goes on and concludes when it is analysed, so the two cannot disagree. At each
look the differences are estimated from the runs up to there; a comparison that has stopped keeps what it had.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ampler.analysis.observed import observe, placed
from ampler.core.arrays import Bools, Floats, Pair
from ampler.core.choices import Alternative, Test
from ampler.core.errors import InvalidData
from ampler.core.runs import Runs, on_instances
from ampler.core.settings import AnalysisSettings
from ampler.design.looks import equivalence_limits
from ampler.sampling.rules import Accuracy
from ampler.stats.paired import paired_test, present, present_columns, sample_p_value
from ampler.stats.paired.student import t_statistic
from ampler.stats.sequential import (
    Declared,
    EquivalenceStop,
    LookEvidence,
    Schedule,
    Standing,
    Verdict,
    critical_values,
    decide,
    equivalence_p_values,
    named_spending,
    standings,
)
from ampler.stats.sequential.boundaries import Sides
from ampler.stats.shape import skewness


@dataclass(frozen=True, slots=True, kw_only=True)
class LookCourse:
    """What was declared of the looks of a study, and how far it has come.

    `instances` are the new ones of each look that is over, in their order, and `algorithms` those that were run there.
    Without an effect no comparison stops for having no relevant difference. `recorded` are the verdicts after each look
    as the study file has them, as far as it does.
    """

    looks: tuple[int, ...]  # instances at each look, as declared
    alpha: float
    spending: str
    equivalence: float  # the chance of calling a relevant difference none, for each comparison
    effect: float | None
    test: Test
    alternative: Alternative
    instances: tuple[tuple[str, ...], ...]
    algorithms: tuple[tuple[str, ...], ...]
    recorded: tuple[tuple[str, ...], ...] = ()

    @property
    def done(self) -> int:
        """The number of looks that are over."""
        return len(self.instances)

    @property
    def names(self) -> tuple[str, ...]:
        """The instances of all looks that are over, in their order."""
        return tuple(name for group in self.instances for name in group)

    @property
    def asked(self) -> dict[str, tuple[str, ...]]:
        """The algorithms that were run on each instance."""
        looks = zip(self.instances, self.algorithms, strict=True)
        return {name: algorithms for group, algorithms in looks for name in group}

    @property
    def sides(self) -> Sides:
        """Of the tests."""
        return 2 if self.alternative == "two-sided" else 1

    @property
    def declared(self) -> Declared:
        """The looks as the procedure takes them."""
        return Declared(
            looks=self.looks,
            alpha=self.alpha,
            spending=named_spending(self.spending),
            equivalence=self.stop,
            sides=self.sides,
            theory="student" if self.test == "t" else "normal",
        )

    @property
    def stop(self) -> EquivalenceStop | None:
        """How "no relevant difference" spends its level, if it is claimed at all."""
        return None if self.effect is None else EquivalenceStop(self.equivalence)

    @property
    def schedule(self) -> Schedule:
        """When the looks come and how they spend."""
        fractions = tuple(count / self.looks[-1] for count in self.looks)
        instances = self.looks if self.test == "t" else None
        return Schedule(named_spending(self.spending), fractions, instances, self.sides)


@dataclass(frozen=True, slots=True)
class LookLimits:
    """What the statistic of a look must reach for "different", and must not exceed for "no relevant difference"."""

    strictest: float  # at alpha over all comparisons
    mildest: float  # at alpha itself
    equivalent: float  # NaN where nothing is small enough, or the test has another scale


@dataclass(frozen=True, slots=True)
class Looked:
    """What the looks said; rows are looks, columns the comparisons in the order of `pairs`."""

    course: LookCourse
    pairs: tuple[Pair, ...]
    standings: tuple[Standing, ...]
    history: tuple[tuple[Verdict, ...], ...]  # the verdicts after each look
    statistics: tuple[tuple[float, ...], ...]  # t, or the normal score of the p-value; NaN after a comparison stopped
    skewness: tuple[tuple[float, ...], ...]
    limits: tuple[LookLimits, ...]  # of all looks declared

    @property
    def ended(self) -> bool:
        """Whether nothing goes on."""
        return all(each.verdict != "continue" for each in self.standings)

    def standing(self, pair: Pair) -> Standing:
        """Return where a comparison stands."""
        return self.standings[self.pairs.index(pair)]

    def number(self, verdict: Verdict, look: int | None = None) -> int:
        """Return how many comparisons had this verdict after a look (from 1); after the last one if None."""
        return self.history[-1 if look is None else look - 1].count(verdict)


@dataclass(frozen=True, eq=False)
class Replay:
    """The looks of a study taken again, from the differences as each of them saw these."""

    course: LookCourse
    pairs: tuple[Pair, ...]
    tables: tuple[Floats, ...]  # of each look: instances up to there in rows, comparisons in columns; NaN is missing

    @cached_property
    def evidence(self) -> LookEvidence:
        """What each look has to go by; a comparison that has stopped is expected to go on as declared."""
        return self._followed[0]

    @cached_property
    def history(self) -> tuple[tuple[Verdict, ...], ...]:
        """The verdicts after each look."""
        return self._followed[1]

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """Where each comparison stands."""
        return standings(self.evidence, self.course.declared)

    @cached_property
    def differences(self) -> Floats:
        """The differences that each comparison rests on: those of the look at which it stopped; NaN beyond."""
        used = np.full(self.tables[-1].shape, np.nan)
        for k, each in enumerate(self.standings):
            table = self.tables[each.look - 1]
            used[: len(table), k] = table[:, k]
        return used

    @cached_property
    def looked(self) -> Looked:
        """All of it as plain values."""
        stopped = [each.look for each in self.standings]
        return Looked(
            self.course,
            self.pairs,
            self.standings,
            self.history,
            statistics=_rows(self.tables, stopped, lambda column: _statistic(column, self.course)),
            skewness=_rows(self.tables, stopped, lambda column: skewness(present(column))),
            limits=look_limits(self.course, len(self.pairs)),
        )

    @cached_property
    def _followed(self) -> tuple[LookEvidence, tuple[tuple[Verdict, ...], ...]]:
        """Look after look: what is there, and what is decided."""
        declared = self.course.declared
        evidence = _evidence(self.tables[0], self.course)
        history = [_verdicts(evidence, declared)]
        for count, table in zip(self.course.looks[1:], self.tables[1:], strict=False):
            going = np.array([verdict == "continue" for verdict in history[-1]])
            evidence = _stacked(evidence, _evidence(table, self.course), going, count)
            history.append(_verdicts(evidence, declared))
        return evidence, tuple(history)


def replayed(
    runs: Runs,
    course: LookCourse,
    settings: AnalysisSettings,
    deterministic: Collection[str] | None,
    rule: Accuracy | None,
) -> Replay:
    """Take the looks of a study again from its runs; `rule` decided on these by their values, if one did."""
    course = replace(course, test=settings.paired_test)
    tables: list[Floats] = []
    pairs: tuple[Pair, ...] = ()
    for look in range(1, course.done + 1):
        names = [name for group in course.instances[:look] for name in group]
        seen = observe(on_instances(runs, names), settings, deterministic, rule)
        differences = seen.estimates.differences(seen.contrasts, settings.estimate)
        tables.append(placed(differences, seen.estimates.blocks.instances, names))
        pairs = seen.pairs
    replay = Replay(course, pairs, tuple(tables))
    if course.recorded:
        _check_recorded(replay)
    return replay


def _check_recorded(replay: Replay) -> None:
    """Raise InvalidData if the looks say something else now than when they were taken."""
    for look, (recorded, now) in enumerate(zip(replay.course.recorded, replay.history, strict=False), start=1):
        for (first, second), before, after in zip(replay.pairs, recorded, now, strict=False):
            if before != after:
                raise InvalidData(
                    f"the study file records the verdict {before!r} for {first} and {second} after look {look}, and its"
                    f" runs now give {after!r}: the study must stay as it was decided; use the version of ampler that"
                    " the file was made with, or take the file from a backup"
                )


def look_limits(course: LookCourse, comparisons: int) -> tuple[LookLimits, ...]:
    """Return the limits of every look, on the scale of its statistic."""
    student = course.looks if course.test == "t" else None
    strictest, mildest = (
        critical_values(course.schedule.nominal_levels(level), student, sides=course.sides)
        for level in (course.alpha / comparisons, course.alpha)
    )
    equivalent = [math.nan] * len(course.looks)
    if course.stop is not None and student and course.effect is not None:
        found = equivalence_limits(course.looks, course.effect, course.stop)
        equivalent = np.where(found < 0, np.nan, found).tolist()
    return tuple(LookLimits(*each) for each in zip(strictest, mildest, equivalent, strict=True))


def _evidence(table: Floats, course: LookCourse) -> LookEvidence:
    """What one look has to go by: the p-values of the study's test, and those of t for a relevant effect."""
    columns = present_columns(table)
    counts = np.array([[len(column) for column in columns]], dtype=np.int64)
    p_values = np.array([[sample_p_value(paired_test(course.test), each, course.alternative) for each in columns]])
    if course.effect is None:
        return LookEvidence(counts, p_values)
    t = np.array([[_t(column) for column in columns]])
    return LookEvidence(counts, p_values, equivalence_p_values(t, counts, course.effect))


def _stacked(before: LookEvidence, now: LookEvidence, going: Bools, count: int) -> LookEvidence:
    """One look more; those that stopped before have nothing new to say, whatever runs there are."""
    same = None
    if before.equivalence is not None and now.equivalence is not None:
        same = np.concatenate([before.equivalence, np.where(going, now.equivalence, np.nan)])
    return LookEvidence(
        np.concatenate([before.counts, np.where(going, now.counts, count)]),
        np.concatenate([before.p_values, np.where(going, now.p_values, np.nan)]),
        same,
    )


def _verdicts(evidence: LookEvidence, declared: Declared) -> tuple[Verdict, ...]:
    return tuple(verdict for verdict, _ in decide(evidence, declared))


def _t(column: Floats) -> float:
    """The t statistic; 0 where all differences are 0, NaN where all are equal or there are not two."""
    if len(column) < 2:
        return math.nan
    return t_statistic(column) if column.any() else 0.0


def _statistic(column: Floats, course: LookCourse) -> float:
    """The statistic of a look on the scale of its limits."""
    from scipy.special import ndtri

    column = present(column)
    if course.test == "t" or len(column) < 2:
        return _t(column)
    p = sample_p_value(paired_test(course.test), column, course.alternative)
    if course.sides == 1:
        return -float(ndtri(p)) * (1 if course.alternative == "greater" else -1)
    return -float(ndtri(p / 2)) * (1 if paired_test(course.test).leaning(column) >= 0 else -1)


def _rows(
    tables: Sequence[Floats], stopped: Sequence[int], of: Callable[[Floats], float]
) -> tuple[tuple[float, ...], ...]:
    """A number for each look and comparison, up to the look at which it stopped."""
    return tuple(
        tuple(of(table[:, k]) if look <= end else math.nan for k, end in enumerate(stopped))
        for look, table in enumerate(tables, start=1)
    )
