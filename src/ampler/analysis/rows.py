"""The comparisons, one row each, as every output shows them: numbers, texts and verdict have the row's subject. Pure.

An analysis, its JSON and its CSV have first − second. A row turns the sign where there is a reference: its subject is
then the second algorithm, and its numbers are second − reference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ampler.analysis.compare import Comparison
from ampler.analysis.results import Analysis
from ampler.analysis.standings import Wins, wins_of
from ampler.analysis.text import findings
from ampler.analysis.units import exchanged, quantity_texts, range_text, settings_unit, signed, supported
from ampler.core.arrays import Interval, Pair
from ampler.core.verdicts import MARKS, Finding, opposite

LEAST_P = 0.001  # smaller p-values are written as "<0.001"


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One comparison as every output shows it.

    Its subject is the algorithm that names the row: the other one where all are compared with a reference, else the
    first of the pair. Verdict, mark, numbers and wins are about the subject: numbers are subject − other.
    """

    comparison: Comparison  # as analysed, first − second: rank, level, doubts
    subject: str
    other: str
    name: str
    verdict: Finding
    wins: Wins  # of the subject
    estimate: float
    interval: Interval  # at Holm's level
    joint_interval: Interval
    effect_size: float
    effect_interval: Interval
    p_value: float  # no smaller than the instances support
    p_adjusted: float
    texts: tuple[str, ...]  # estimate, interval and joint interval in their unit, with the same decimals
    wins_text: str
    key: str = ""  # link target of its instances; empty: none
    verdict_text: str = ""  # the verdict as in the sentences

    @property
    def mark(self) -> str:
        """The mark of the verdict, used in addition to colour."""
        return MARKS.get(self.verdict, "–")

    @property
    def pair(self) -> Pair:
        """Both algorithms as analysed: first and second."""
        return self.comparison.pair

    @property
    def estimate_text(self) -> str:
        """The estimate in its unit."""
        return self.texts[0]

    @property
    def interval_text(self) -> str:
        """The simultaneous interval in its unit."""
        return "–" if math.isnan(self.joint_interval[0]) else range_text(*self.texts[3:])

    @property
    def bracket_text(self) -> str:
        """The simultaneous interval in the form of narrow tables."""
        low, high = (text.removeprefix("+") for text in self.texts[3:])
        return "–" if math.isnan(self.joint_interval[0]) else f"[{low}, {high}]"

    @property
    def label(self) -> str:
        """The comparison in one line."""
        return f"{self.subject} − {self.other}: {self.estimate_text}, {self.interval_text}"

    @property
    def is_known(self) -> bool:
        """Whether there is an estimate."""
        return not math.isnan(self.estimate)

    @property
    def ends(self) -> tuple[float, ...]:
        """The ends of the simultaneous interval; the estimate where there is none."""
        return tuple(self.estimate if math.isnan(end) else end for end in self.joint_interval)

    @property
    def wins_share(self) -> float:
        """The share of the instances on which the subject is better."""
        return self.wins.first / self.wins.instances if self.wins.instances else math.nan

    @property
    def p_text(self) -> str:
        """The adjusted p-value."""
        return p_text(self.p_adjusted)


def rows_of(analysis: Analysis, *, leader: str | None = None) -> list[ComparisonRow]:
    """Return the comparisons as rows, in Holm's order; with a leader only its own, about the others."""
    verdicts, wins, settings = findings(analysis), wins_of(analysis), analysis.settings
    base, unit = leader or settings.reference, difference_unit(analysis)
    same = {row.pair for row in analysis.diagnoses if row.equivalence is not None and row.equivalence.established}
    rows = []
    for comparison in analysis.comparisons:
        pair = comparison.pair
        if leader is not None and leader not in pair:
            continue
        is_turned = base == comparison.first
        shown = exchanged(comparison) if is_turned else comparison
        own = wins[pair].turned if is_turned else wins[pair]
        verdict = opposite(verdicts[pair]) if is_turned else verdicts[pair]
        texts = quantity_texts(unit, shown.estimate, *shown.interval, *shown.joint_interval)
        verdict_text = f"{verdict}, but equivalent" if comparison.claimed and pair in same else str(verdict)
        if analysis.looks is not None and analysis.looks.standing(pair).verdict == "continue":
            verdict_text = "continuing"
        verdict_text = "–" if analysis.unfinished else verdict_text
        row = ComparisonRow(
            comparison=comparison,
            subject=shown.first,
            other=shown.second,
            name=" − ".join(pair) if base is None else shown.first,
            verdict=verdict,
            wins=own,
            estimate=shown.estimate,
            interval=shown.interval,
            joint_interval=shown.joint_interval,
            effect_size=shown.effect_size,
            effect_interval=shown.effect_interval,
            p_value=supported(comparison.p_value, comparison.instances, settings),
            p_adjusted=supported(comparison.p_holm, comparison.instances, settings),
            texts=(texts[0] if unit == "share" else signed(texts[0]), *texts[1:]),
            wins_text=wins_text(own) if analysis.single is None else "–",
            verdict_text=verdict_text,
        )
        rows.append(row)
    return rows


def difference_unit(analysis: Analysis) -> str:
    """Return the unit in which estimates are written: a kind of difference, "points" of rates or a "share"."""
    return settings_unit(analysis.comparisons[0], analysis.settings)


def difference_head(analysis: Analysis, leader: str | None = None) -> str:
    """Return the heading of the column of estimates."""
    reference = leader or analysis.settings.reference
    if difference_unit(analysis) == "share":
        return "larger on"
    return "difference" if reference is None else f"difference from {reference}"


def p_text(value: float) -> str:
    """Write a p-value with two digits.

    >>> p_text(0.0394), p_text(1.63e-05), p_text(math.nan)
    ('0.039', '<0.001', '–')
    """
    if math.isnan(value):
        return "–"
    return f"<{LEAST_P:g}" if value < LEAST_P else f"{value:.2g}"


def wins_text(wins: Wins) -> str:
    """Write the wins of the subject."""
    ties = f", {wins.ties} tie" + ("" if wins.ties == 1 else "s") if wins.ties else ""
    return f"{wins.first} of {wins.instances}{ties}"
