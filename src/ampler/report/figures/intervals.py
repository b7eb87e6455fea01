"""The figure of all comparisons: estimates with their intervals, and which null hypotheses fell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ampler.analysis import Analysis, Comparison
from ampler.analysis.answer import Finding, finding_sentence, findings
from ampler.core.arrays import Interval
from ampler.core.checks import choice
from ampler.report.axis import Axis, axis_of
from ampler.report.figures.colours import CONTRAST, EQUIVALENT, MUTED, PAPER, VERDICTS
from ampler.report.figures.labels import WIDEST, in_short, pair_labels
from ampler.report.figures.numbers import difference_name, size_text, unit_of
from ampler.report.figures.rows import beside, fit_rows, lay_rows
from ampler.report.figures.split import split_words, write_axis
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import entitle, explain
from ampler.report.forest import TURNED
from ampler.stats.paired import ESTIMANDS, paired_test

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IntervalOrder = Literal["rank", "estimate", "name", "given"]
IntervalKind = Literal["holm", "joint", "both"]

MOST = 60  # rows that can still be told apart on one page
MARGIN = 0.08  # of the range of the finite ends, beyond which an open interval is drawn as going on
PAIRED = {"better": "first better", "worse": "second better"}  # where a row is not about one algorithm


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One comparison: its label, estimate and both intervals."""

    label: str
    estimate: float
    holm: Interval  # at the Holm level of its rank, as in the paper's tables; not joint
    joint: Interval
    rejected: bool
    finding: Finding | None = None  # of the row's algorithm, or of the first of a pair; None: rejected or not

    @property
    def kind(self) -> str:
        """What mark and colour the row has."""
        return self.finding or ("rejected" if self.rejected else "undecided")


@dataclass(frozen=True, slots=True)
class Intervals:
    """The comparisons from top to bottom, `left_out` of them not shown, and what their numbers mean."""

    rows: tuple[IntervalRow, ...]
    left_out: int
    difference: str  # "simple", "percent", "ratio"; or "share" for the sign test's P(φ>0)
    estimate_of: str
    name: str  # of the axis
    neutral: float  # where there is no difference
    alpha: float  # of the family
    level: str = "Holm"  # whose level the intervals have that are not joint
    margin: float | None = None  # differences within it do not matter
    finding: str = ""  # in a sentence
    against_one: bool = False  # whether a row is about an algorithm that is compared with the reference


def intervals_data(
    analysis: Analysis, *, order: IntervalOrder = "rank", most: int | None = MOST, widest: int = WIDEST
) -> Intervals:
    """Return all comparisons with their intervals (Campelo & Wanner 2019, Figures 5 and 7).

    `order` is Holm's ("rank"), by "estimate", by "name", or that of the pairs ("given"); only the first `most` are kept
    (None: all), with labels of at most `widest` characters.
    """
    found = _ordered(analysis, order)
    shown = found[:most]
    estimand = ESTIMANDS[found[0].estimate_of]
    pairs = [(each.first, each.second) for each in shown]
    against_one, said = analysis.settings.reference is not None, findings(analysis)
    return Intervals(
        rows=tuple(
            IntervalRow(text, each.estimate, each.interval, each.joint_interval, each.rejected, kind)
            for text, each, kind in zip(
                pair_labels(analysis, pairs, widest),
                shown,
                (TURNED.get(said[pair], said[pair]) if against_one else said[pair] for pair in pairs),
                strict=True,
            )
        ),
        left_out=len(found) - len(shown),
        difference="share" if estimand.is_share else unit_of(analysis),
        estimate_of=found[0].estimate_of,
        name=estimand.axis or difference_name(analysis),
        neutral=estimand.neutral,
        alpha=analysis.settings.family_alpha,
        level=paired_test(analysis.settings.test).procedure.level,
        margin=None if estimand.is_share else analysis.settings.margin,
        finding=in_short(finding_sentence(analysis).removesuffix("."), analysis),
        against_one=against_one,
    )


def draw_intervals(
    data: Intervals, ax: Axes | None = None, *, interval: IntervalKind = "holm", digits: int | None = None
) -> Axes:
    """Draw the estimates with their Holm-level or joint intervals, or both: the joint ones as thin lines.

    With `digits` the estimates are also written at the right.
    """
    choice("interval", interval, ("holm", "joint", "both"), "joint intervals hold all together")
    with canvas(ax) as ax:
        if data.margin is not None:
            ax.axvspan(-data.margin, data.margin, color=EQUIVALENT, alpha=0.12, linewidth=0)
        ax.axvline(data.neutral, color=MUTED, linewidth=0.9)
        ends = _ends(data, interval)
        for kind in dict.fromkeys(row.kind for row in data.rows):
            chosen = [(place, row) for place, row in enumerate(data.rows) if row.kind == kind]
            _draw_rows(ax, chosen, ends, interval=interval, kind=kind)
        lay_rows(ax, [row.label for row in data.rows])
        axis = _axis(data, interval)
        write_axis(ax, axis, data.difference)
        if digits is not None:
            _write_estimates(ax, data, digits)
        _say(ax, data, interval, axis)
        fit_rows(ax, len(data.rows), labels=[row.label for row in data.rows])
    return ax


def _ordered(analysis: Analysis, order: IntervalOrder) -> list[Comparison]:
    choice("order", order, ("rank", "estimate", "name", "given"), "it says how the rows follow each other")
    places = {pair: place for place, pair in enumerate(analysis.pairs)}
    keys = {
        "rank": lambda each: each.rank,
        "estimate": lambda each: math.inf if math.isnan(each.estimate) else each.estimate,
        "name": lambda each: (each.first.casefold(), each.second.casefold()),
        "given": lambda each: places[each.first, each.second],
    }
    return sorted(analysis.comparisons, key=keys[order])


def _ends(data: Intervals, interval: IntervalKind) -> Interval:
    """The ends of the drawing, where open intervals are cut."""
    rows = data.rows
    bounds = [end for row in rows for end in (*_of(row, interval), row.estimate) if math.isfinite(end)]
    low, high = min([*bounds, data.neutral]), max([*bounds, data.neutral])
    margin = MARGIN * (high - low) or 1.0
    return low - margin, high + margin


def _of(row: IntervalRow, interval: IntervalKind) -> tuple[float, ...]:
    return {"holm": row.holm, "joint": row.joint, "both": (*row.holm, *row.joint)}[interval]


def _axis(data: Intervals, interval: IntervalKind) -> Axis:
    """One scale, or two where one estimate dwarfs the others."""
    rows = [(min(_of(row, interval)), row.estimate, max(_of(row, interval))) for row in data.rows]
    margin = () if data.margin is None else (-data.margin, data.margin)
    return axis_of(rows, data.difference, always=(data.neutral, *margin))


def _draw_rows(
    ax: Axes, rows: Sequence[tuple[int, IntervalRow]], ends: Interval, *, interval: IntervalKind, kind: str
) -> None:
    """Draw rows of one finding: colour and mark say which it is, so that print and every eye can tell."""
    color, marker = (CONTRAST, "D") if kind == "rejected" else VERDICTS.get(kind, VERDICTS["undecided"])
    places = [place for place, _ in rows]
    wide = 1.6 if interval != "both" else 2.8
    kinds = {"holm": [("holm", wide)], "joint": [("joint", wide)], "both": [("joint", 0.9), ("holm", wide)]}[interval]
    for which, width in kinds:
        lows = [max(getattr(row, which)[0], ends[0]) for _, row in rows]
        highs = [min(getattr(row, which)[1], ends[1]) for _, row in rows]
        ax.hlines(places, lows, highs, color=color, linewidth=width)
    look = {"linestyle": "none", "marker": marker, "color": color, "markersize": 5.5, "markeredgecolor": PAPER}
    ax.plot([row.estimate for _, row in rows], places, **look, label=kind)  # type: ignore[arg-type]


def _say(ax: Axes, data: Intervals, interval: IntervalKind, axis: Axis) -> None:
    """Say above what was found, and below which intervals these are and what the marks mean."""
    joint = f"joint {100 * (1 - data.alpha):g} %"
    words = {
        "holm": f"Intervals at the {data.level} level of each rank, not joint",
        "joint": f"{joint.capitalize()} intervals",
        "both": f"Thick: {data.level} level; thin: {joint}",
    }[interval]
    more = f"{data.left_out} more comparisons are not shown" if data.left_out else ""
    band = "" if data.margin is None else "Band: the margin"
    if data.finding:
        entitle(ax, data.finding)
    explain(ax, data.name, words, _marks(data), band, split_words(axis), more)


def _marks(data: Intervals) -> str:
    """What the marks mean that there are."""
    shapes = {"better": "▲", "worse": "▼", "rejected": "◆", "equivalent": "■", "undecided": "●"}
    there = [kind for kind in shapes if any(row.kind == kind for row in data.rows)]
    words = {"undecided": "inconclusive"} | ({} if data.against_one else PAIRED)
    return "  ".join(f"{shapes[kind]} {words.get(kind, kind)}" for kind in there)


def _write_estimates(ax: Axes, data: Intervals, digits: int) -> None:
    for place, row in enumerate(data.rows):
        text = size_text(row.estimate, "simple" if data.difference == "share" else data.difference, digits)
        beside(ax, place, text)
