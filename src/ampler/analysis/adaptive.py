"""Studies with an internal pilot: the tests of the pilot and the final tests, as one family. Pure.

They have the interface of every family of tests. The pilot's own tests come
from the report that the results file keeps, as they saw the first runs only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ampler.analysis.compare import Comparison, Equivalence, established
from ampler.core.arrays import Floats
from ampler.core.settings import Alternative
from ampler.core.text import amount
from ampler.design.detect import PilotReport
from ampler.stats.holm import step_down
from ampler.stats.internal_pilot import GrowthTest, growth_test, resized_t_test
from ampler.stats.paired import Bounds
from ampler.stats.paired.contract import TestedFamily
from ampler.stats.power import EFFECT_LEVEL, effect_intervals_of


@dataclass(frozen=True, eq=False)
class PilotFamily:
    """Comparisons decided at the pilot stage or by the final tests: each has its share of every level.

    The p-value of a comparison in `tests` is that of its stronger half, the pilot's where that was clear, divided by
    the share of the level which that half has; so it may be held against the level as any other.
    """

    report: PilotReport
    differences: Floats  # instances in rows, first those that determined the size
    since: int  # number of those rows
    pilot: GrowthTest  # the ordinary tests of the pilot
    end: GrowthTest  # the final tests; NaN where a comparison stopped after the pilot
    tests: TestedFamily  # under Holm


def pilot_family(report: PilotReport, differences: Floats, instances: Sequence[str], alpha: float) -> PilotFamily:
    """Return the family of the differences on these instances, in any order."""
    decided = set(report.since)
    first = np.array([name in decided for name in instances], dtype=bool)
    ordered, since = np.concatenate([differences[first], differences[~first]]), int(first.sum())
    pilot, end = pilot_test(report), end_test(report, ordered, since, report.alternative)
    early, late = pilot.p_values / report.share, end.p_values / (1 - report.share)
    p_values = np.minimum(1.0, np.where(report.clear, early, np.fmin(early, late)))
    steps = step_down(p_values, alpha)

    def intervals_at(joint: bool) -> tuple[Bounds, ...]:
        levels = np.full(len(p_values), alpha / len(p_values)) if joint else steps.levels
        early, late = pilot.intervals(report.share * levels), end.intervals((1 - report.share) * levels)
        chosen = np.where(np.array(report.clear)[:, None], early, late)
        chosen = np.where(np.isnan(chosen), [-np.inf, np.inf], chosen)  # unknown: the whole line
        return tuple(Bounds(low, high, 1 - level) for (low, high), level in zip(chosen.tolist(), levels, strict=True))

    return PilotFamily(report, ordered, since, pilot, end, TestedFamily(p_values, steps, intervals_at))


def pilot_equivalence(family: PilotFamily, margin: float, alpha: float) -> tuple[Equivalence, ...]:
    """Test whether each difference lies within ±margin, by the half that decided it and at its share of the level."""
    p = np.maximum(_one_sided(family, margin, "greater"), _one_sided(family, -margin, "less"))
    return established(p, step_down(p, alpha), margin)


def _one_sided(family: PilotFamily, shift: float, alternative: Alternative) -> Floats:
    """The p-values of the differences moved by `shift`; 1 where they are not known."""
    from scipy.special import stdtr

    report, pilot = family.report, family.pilot
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (pilot.means + shift) / pilot.errors
    early = stdtr(pilot.freedom, t if alternative == "less" else -t) / report.share
    late = end_test(report, family.differences + shift, family.since, alternative).p_values / (1 - report.share)
    return np.asarray(np.fmin(1.0, np.where(report.clear, early, late)))


def decisive_estimates(comparisons: Sequence[Comparison], family: PilotFamily) -> tuple[Comparison, ...]:
    """Return the comparisons, in the order of pairs, each with the numbers of what decided it."""
    report, clear, share = family.report, family.report.clear, family.report.share
    decided = [
        replace(item, estimate=report.means[k], instances=int(report.freedom[k]) + 1) if clear[k] else item
        for k, item in enumerate(comparisons)
    ]
    if report.final_test == "growth":
        return tuple(decided)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(clear, family.pilot.means / family.pilot.errors, family.end.statistics)
    freedom = np.where(clear, family.pilot.freedom, family.end.freedom)
    late = replace(family.end, alternative="two-sided").nominal((1 - share) * (1 - EFFECT_LEVEL))
    levels = np.where(clear, share * (1 - EFFECT_LEVEL), late)
    sizes = t / np.sqrt(freedom + 1)
    intervals = effect_intervals_of(t, freedom.astype(int) + 1, levels)
    return tuple(
        replace(item, effect_size=float(size), effect_interval=interval)
        for item, size, interval in zip(decided, sizes, intervals, strict=True)
    )


def decision_stage(report: PilotReport | None, index: int) -> str:
    """Return the stage that decided a comparison."""
    return "" if report is None or report.is_fixed else "pilot" if report.clear[index] else "end"


def planned_power_clause(report: PilotReport) -> str:
    """Describe the detectable difference of the inconclusive comparisons."""
    return (
        f"this study had {100 * report.mean_power:.0f} % power for a difference of"
        f" {amount(report.detect, report.difference)}, as planned after the pilot"
    )


def pilot_test(report: PilotReport) -> GrowthTest:
    """Return the pilot's ordinary tests."""
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
