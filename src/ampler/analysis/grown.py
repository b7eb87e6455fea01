"""Tests of a study whose size was chosen after a pilot: decided in the pilot, or by all instances. Pure.

They answer as every family of tests does, so that all that comes after need not know. The pilot's own tests come from
the report that the study file keeps, as they saw the first runs only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ampler.analysis.compare import Comparison, Equivalence, established
from ampler.core.arrays import Bools, Floats
from ampler.core.choices import Alternative
from ampler.core.wording import amount
from ampler.design.pilot import PilotReport
from ampler.stats.effect_size import EFFECT_LEVEL, effect_intervals_of
from ampler.stats.growth import GrowthTest, growth_test, resized_t_test
from ampler.stats.holm import StepDown, step_down
from ampler.stats.paired import Bounds


@dataclass(frozen=True, eq=False)
class GrownFamily:
    """Comparisons that a pilot decided, or the end: each half has its share of every level.

    The p-value of a comparison is that of its stronger half, divided by the share of the level which that half has; so
    it may be held against the level as any other.
    """

    report: PilotReport
    differences: Floats  # instances in rows, first those whose variance decided on the size
    since: int  # rows of these
    alpha: float

    @cached_property
    def pilot(self) -> GrowthTest:
        """The ordinary tests of the pilot."""
        return pilot_test(self.report)

    @cached_property
    def end(self) -> GrowthTest:
        """The tests of all instances; NaN where a comparison got no more after the pilot."""
        return end_test(self.report, self.differences, self.since, self.report.alternative)

    @cached_property
    def p_values(self) -> Floats:
        """The p-value of each comparison by itself."""
        return weighted(self.report, self.pilot.p_values, self.end.p_values)

    @cached_property
    def steps(self) -> StepDown:
        """What Holm's procedure rejects."""
        return step_down(self.p_values, self.alpha)

    @property
    def intervals(self) -> tuple[Bounds, ...]:
        """The interval of each comparison at Holm's level of its rank."""
        return self._intervals(self.steps.levels)

    @property
    def joint_intervals(self) -> tuple[Bounds, ...]:
        """Intervals at level 1 − alpha/K, so that all K hold together with probability 1 − alpha."""
        return self._intervals(np.full(len(self.p_values), self.alpha / len(self.p_values)))

    def _intervals(self, levels: Floats) -> tuple[Bounds, ...]:
        early = self.pilot.intervals(self.report.share * levels)
        late = self.end.intervals((1 - self.report.share) * levels)
        chosen = np.where(self._clear[:, None], early, late)
        return tuple(Bounds(*_known(*ends), 1 - level) for ends, level in zip(chosen.tolist(), levels, strict=True))

    @property
    def _clear(self) -> Bools:
        return np.array(self.report.clear)


def grown_family(report: PilotReport, differences: Floats, instances: Sequence[str], alpha: float) -> GrownFamily:
    """Return the family of the differences on these instances, in any order."""
    ordered, since = pilot_first(report, differences, instances)
    return GrownFamily(report, ordered, since, alpha)


def grown_equivalence(family: GrownFamily, margin: float, alpha: float) -> tuple[Equivalence, ...]:
    """Test whether each difference lies within ±margin, by the half that decided it and at its share of the level."""
    p = np.maximum(_one_sided(family, margin, "greater"), _one_sided(family, -margin, "less"))
    return established(p, step_down(p, alpha), margin)


def _one_sided(family: GrownFamily, shift: float, alternative: Alternative) -> Floats:
    """The p-values of the differences moved by `shift`; 1 where they are not known."""
    from scipy.special import stdtr

    report, pilot = family.report, family.pilot
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (pilot.means + shift) / pilot.errors
    early = stdtr(pilot.freedom, t if alternative == "less" else -t) / report.share
    late = end_test(report, family.differences + shift, family.since, alternative).p_values / (1 - report.share)
    return np.asarray(np.fmin(1.0, np.where(report.clear, early, late)))


def as_decided(comparisons: Sequence[Comparison], family: GrownFamily) -> tuple[Comparison, ...]:
    """Return the comparisons, in the order of pairs, each with the numbers of what decided it."""
    decided = tuple(_decided(each, family.report, place) for place, each in enumerate(comparisons))
    if family.report.final_test == "growth":
        return decided
    clear, share = family.report.clear, family.report.share
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(clear, family.pilot.means / family.pilot.errors, family.end.statistics)
    freedom = np.where(clear, family.pilot.freedom, family.end.freedom)
    late = replace(family.end, alternative="two-sided").nominal((1 - share) * (1 - EFFECT_LEVEL))
    levels = np.where(clear, share * (1 - EFFECT_LEVEL), late)
    sizes = t / np.sqrt(freedom + 1)
    intervals = effect_intervals_of(t, freedom.astype(int) + 1, levels)
    return tuple(
        replace(each, effect_size=float(size), effect_interval=interval)
        for each, size, interval in zip(decided, sizes, intervals, strict=True)
    )


def decided_when(report: PilotReport | None, place: int) -> str:
    """Return when a comparison was decided, in a word."""
    return "" if report is None or report.is_fixed else "pilot" if report.clear[place] else "end"


def would_be_found(report: PilotReport) -> str:
    """Say what the study could find, for those comparisons in which nothing was found."""
    return (
        f"a difference of {amount(report.detect, report.difference)} would have been found with mean power"
        f" {report.mean_power:.2f}, as planned after the pilot"
    )


def pilot_test(report: PilotReport) -> GrowthTest:
    """Return the pilot's ordinary tests as they were."""
    means, errors, freedom, p_values = map(np.array, (report.means, report.errors, report.freedom, report.p_values))
    return GrowthTest(means, errors, freedom, np.full(len(p_values), np.nan), p_values, report.alternative)


def end_test(report: PilotReport, differences: Floats, since: int, alternative: Alternative) -> GrowthTest:
    """Return the tests of all instances; of a growth test all is unknown where no instance came after the pilot."""
    if report.final_test == "t":
        pilots = np.array(report.freedom, dtype=int) + 1
        return resized_t_test(differences, pilots, report.available, alternative=alternative)
    if since < len(differences):
        return growth_test(differences, since, alternative=alternative)
    nothing = np.full(differences.shape[1], np.nan)
    return GrowthTest(nothing, nothing, np.ones_like(nothing), nothing, nothing, alternative)


def weighted(report: PilotReport, pilot: Floats, end: Floats) -> Floats:
    """Return the p-value of each comparison by its stronger half; the pilot's alone where that was clear."""
    early, late = pilot / report.share, end / (1 - report.share)
    return np.minimum(1.0, np.where(report.clear, early, np.fmin(early, late)))


def pilot_first(report: PilotReport, differences: Floats, instances: Sequence[str]) -> tuple[Floats, int]:
    """Return the differences with those first whose variance decided on the size, and how many these are."""
    decided = set(report.since)
    first = np.array([name in decided for name in instances], dtype=bool)
    return np.concatenate([differences[first], differences[~first]]), int(first.sum())


def _decided(comparison: Comparison, report: PilotReport, place: int) -> Comparison:
    if not report.clear[place]:
        return comparison
    return replace(comparison, estimate=report.means[place], instances=int(report.freedom[place]) + 1)


def _known(lower: float, upper: float) -> tuple[float, float]:
    """An interval that is not known is the whole line."""
    return (-np.inf if np.isnan(lower) else lower), (np.inf if np.isnan(upper) else upper)
