"""The comparisons, one row each: estimate, interval, wins, p and verdict on one line of a figure that is also a table.

Pure: `forest_of` makes the rows from an analysis; `forest_html` draws them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ampler.analysis import Analysis, Comparison
from ampler.analysis.answer import Finding, findings, leader
from ampler.analysis.units import supported
from ampler.analysis.wins import Wins, wins_of
from ampler.core.wording import digits, shortened
from ampler.report.axis import Axis, axis_of, told, told_alike
from ampler.report.tables import p_text
from ampler.stats.paired import ESTIMANDS, paired_test

SHOWN = 24  # rows that are not folded away
LONGEST_HEAD = 18  # characters of a name in a head
TURNED: Mapping[Finding, Finding] = {"better": "worse", "worse": "better"}


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One comparison in texts and numbers; `finding` is that of the algorithm the row is named after."""

    first: str
    second: str
    name: str
    finding: Finding
    word: str
    estimate: float
    low: float
    high: float
    estimate_text: str
    interval_text: str
    wins: str
    wins_share: float
    p: float
    p_text: str
    key: str = ""  # of the place where its instances are shown; empty: nowhere


@dataclass(frozen=True, slots=True)
class Forest:
    """All rows with their heads and their axis.

    Those from `shown` on are folded away.
    """

    rows: tuple[ForestRow, ...]
    shown: int
    name_head: str
    estimate_head: str
    wins_head: str
    p_head: str
    axis: Axis
    neutral: float
    margin: tuple[float, float] | None
    sides: tuple[str, str]  # who is better where the estimate lies left, and right
    notes: tuple[str, ...]
    unit: str

    @property
    def folded(self) -> tuple[ForestRow, ...]:
        """The rows that are folded away."""
        return self.rows[self.shown :]


def forest_of(analysis: Analysis, *, most: int = SHOWN, detailed: int = 0) -> Forest:
    """Return the comparisons as rows, those that carry the verdict first; the first `detailed` have a key."""
    rows = tuple(_rows(analysis, detailed))
    neutral = ESTIMANDS[analysis.comparisons[0].estimate_of].neutral
    margin, unit = _margin(analysis), difference_unit(analysis)
    always = (neutral, *(margin or ()))
    axis = axis_of([(row.low, row.estimate, row.high) for row in rows], unit, always=always)
    return Forest(
        rows=rows,
        shown=len(rows) if len(rows) <= most + 1 else most,
        **_heads(analysis),
        axis=axis,
        neutral=neutral,
        margin=margin,
        sides=_sides(analysis),
        notes=tuple(_notes(analysis, axis, most)),
        unit=unit,
    )


def difference_unit(analysis: Analysis) -> str:
    """Return the unit in which estimates are told: a kind of difference, "points" of rates or a "share"."""
    if ESTIMANDS[analysis.comparisons[0].estimate_of].is_share:
        return "share"
    return "points" if analysis.settings.are_rates else analysis.settings.difference


def carrying_order(analysis: Analysis, most: int = SHOWN) -> list[Comparison]:
    """Return the comparisons in Holm's order; where they are many, first those of the algorithm that leads."""
    found = list(analysis.comparisons)
    if analysis.settings.reference is not None or len(found) <= most + 1:
        return found
    best, _ = leader(findings(analysis))
    return sorted(found, key=lambda each: best not in (each.first, each.second))


def _rows(analysis: Analysis, detailed: int) -> list[ForestRow]:
    found, wins, unit = findings(analysis), wins_of(analysis), difference_unit(analysis)
    rows = []
    for place, each in enumerate(carrying_order(analysis)):
        pair = each.first, each.second
        key = f"pair-of-{each.rank}" if place < detailed else ""
        rows.append(_row(each, found[pair], wins[pair], analysis, unit, key))
    return rows


def _row(each: Comparison, found: Finding, wins: Wins, analysis: Analysis, unit: str, key: str) -> ForestRow:
    against_one = analysis.settings.reference is not None
    shown = TURNED.get(found, found) if against_one else found
    low, high = each.joint_interval
    estimate, *limits = told_alike(unit, each.estimate, low, high)
    return ForestRow(
        first=each.first,
        second=each.second,
        name=each.second if against_one else f"{each.first} − {each.second}",
        finding=shown,
        word=_word(shown, against_one=against_one)
        if analysis.looks is None or shown != "equivalent"
        else "not relevant",
        estimate=each.estimate,
        low=low,
        high=high,
        estimate_text=estimate,
        interval_text="–" if math.isnan(low) else " to ".join(limits),
        wins=_won(wins) if analysis.single is None else "–",
        wins_share=wins.first / wins.instances if wins.instances else math.nan,
        p=each.p_holm,
        p_text=p_text(supported(each.p_holm, each.instances, analysis.settings)),
        key=key,
    )


def _word(found: Finding, *, against_one: bool) -> str:
    if against_one or found not in ("better", "worse"):
        return "inconclusive" if found == "undecided" else found
    return "first better" if found == "better" else "second better"


def _won(wins: Wins) -> str:
    ties = f", {wins.ties} tie" + ("" if wins.ties == 1 else "s") if wins.ties else ""
    return f"{wins.first} of {wins.instances}{ties}"


def _heads(analysis: Analysis) -> dict[str, str]:
    ours = analysis.settings.reference
    first, second = _names(ours)
    joined = " / " if difference_unit(analysis) == "ratio" else " − "
    estimand = ESTIMANDS[analysis.comparisons[0].estimate_of]
    return {
        "name_head": f"{first} compared with" if ours is not None else "pair",
        "estimate_head": f"{first}{joined}{second}" if not estimand.is_share else f"{first} larger on",
        "wins_head": f"{first} better on",
        "p_head": f"p ({paired_test(analysis.settings.test).procedure.name})",
    }


def _names(reference: str | None) -> tuple[str, str]:
    return ("first", "second") if reference is None else (shortened(reference, LONGEST_HEAD), "other")


def _sides(analysis: Analysis) -> tuple[str, str]:
    ours = analysis.settings.reference
    first, second = _names(ours)
    sides = f"{first} better", f"{second} better"
    return sides if analysis.settings.better == "lower" else (sides[1], sides[0])


def _margin(analysis: Analysis) -> tuple[float, float] | None:
    """The band within which differences do not matter, where there is one of estimates."""
    margin = analysis.settings.margin
    if margin is None or difference_unit(analysis) == "share":
        return None
    return -margin, margin


def _notes(analysis: Analysis, axis: Axis, most: int) -> list[str]:
    """What the figure shows, in a few words."""
    unit, margin = difference_unit(analysis), analysis.settings.margin
    repeated = "" if analysis.looks is None else ", repeated over the looks"
    notes = [f"Joint {digits(100 * (1 - analysis.settings.family_alpha))} % intervals{repeated}"]
    if margin is not None and unit != "share":
        around = f"{told(-margin, unit)} to {told(margin, unit)}"
        notes.append(f"band: the margin, {around}")
    if axis.is_split:
        notes.append("the axis is split: ╱╱ parts two scales, as the largest differences would dwarf the others")
    if not np.isfinite([end for each in analysis.comparisons for end in each.joint_interval]).all():
        notes.append("an arrow: the interval has no end there")
    return notes
