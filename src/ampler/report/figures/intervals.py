"""The figures of all comparisons: estimates with both intervals, the rows with which a report begins, and subgroups."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, get_args

from ampler.analysis import Analysis
from ampler.analysis.rows import ComparisonRow, difference_unit, rows_of
from ampler.analysis.tables import displayed_subgroup
from ampler.analysis.text import finding_sentence
from ampler.core.arrays import Interval
from ampler.core.errors import InvalidInput
from ampler.core.settings import choice
from ampler.core.verdicts import Finding
from ampler.report.axis import axis_of
from ampler.report.figures import canvas as fig
from ampler.report.rows import Forest, Line, forest_of
from ampler.report.theme import CATEGORIES, CONTRAST, EQUIVALENT, INK, LINE, MUTED, PAPER, VERDICTS
from ampler.stats.paired import ESTIMANDS, paired_test

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["IntervalRow", "Intervals", "draw_intervals", "intervals_data"]
__all__ += ["VerdictData", "draw_verdict", "verdict_data"]
__all__ += ["GroupMark", "Subgroups", "draw_subgroups", "subgroups_data"]

IntervalOrder = Literal["rank", "estimate", "name", "given"]
IntervalKind = Literal["holm", "joint", "both"]

MOST = 60  # rows that can still be distinguished on one page
MARGIN = 0.08  # of the range of the finite ends, beyond which an open interval is drawn as continuing
SHAPES = {"better": "▲", "worse": "▼", "rejected": "◆", "equivalent": "■", "inconclusive": "●"}


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One comparison: its label, estimate and both intervals."""

    label: str
    estimate: float
    holm: Interval  # at the Holm level of its rank, as in the paper's tables; not joint
    joint: Interval
    rejected: bool
    finding: Finding | None = None  # verdict of the row's algorithm; None: only rejected or not

    @property
    def kind(self) -> str:
        """Mark and colour of the row."""
        return self.finding or ("rejected" if self.rejected else "inconclusive")

    def ends(self, interval: IntervalKind) -> tuple[float, ...]:
        """Return the ends of one interval or both."""
        return {"holm": self.holm, "joint": self.joint, "both": (*self.holm, *self.joint)}[interval]


@dataclass(frozen=True, slots=True)
class Intervals:
    """The comparisons from top to bottom, `left_out` of them not shown, and the meaning of their numbers."""

    rows: tuple[IntervalRow, ...]
    left_out: int
    difference: str  # "simple", "percent", "ratio"; or "share" for the sign test's P(φ>0)
    estimate_of: str
    name: str  # of the axis
    neutral: float  # where there is no difference
    alpha: float  # of the family
    level: str = "Holm"  # name of the level of the marginal intervals
    margin: float | None = None  # equivalence margin
    finding: str = ""  # in a sentence


def intervals_data(
    analysis: Analysis, *, order: IntervalOrder = "rank", most: int | None = MOST, widest: int = fig.WIDEST
) -> Intervals:
    """Return all comparisons with their intervals (Campelo & Wanner 2019, Figures 5 and 7).

    `order` is Holm's ("rank"), by "estimate", by "name", or that of the pairs ("given"); only the first `most` are kept
    (None: all), with labels of at most `widest` characters.
    """
    choice("order", order, get_args(IntervalOrder), "it is the order of the rows")
    keys: dict[str, Callable[[ComparisonRow], Any]] = {
        "rank": lambda row: row.comparison.rank,
        "estimate": lambda row: math.inf if math.isnan(row.estimate) else row.estimate,
        "name": lambda row: tuple(name.casefold() for name in row.pair),
        "given": lambda row: analysis.pairs.index(row.pair),
    }
    rows = sorted(rows_of(analysis), key=keys[order])
    texts = fig.pair_labels(analysis, [row.pair for row in rows[:most]], widest)
    of, estimand = analysis.comparisons[0].estimate_of, ESTIMANDS[analysis.comparisons[0].estimate_of]
    return Intervals(
        rows=tuple(
            IntervalRow(text, row.estimate, row.interval, row.joint_interval, row.comparison.rejected, row.verdict)
            for text, row in zip(texts, rows, strict=False)
        ),
        left_out=len(rows) - len(texts),
        difference=difference_unit(analysis),
        estimate_of=of,
        name=estimand.axis or fig.difference_name(analysis),
        neutral=estimand.neutral,
        alpha=analysis.settings.family_alpha,
        level=paired_test(analysis.settings.test).procedure.level,
        margin=None if estimand.is_share else analysis.settings.margin,
        finding=fig.in_short(finding_sentence(analysis).removesuffix("."), analysis),
    )


def draw_intervals(
    data: Intervals, ax: Axes | None = None, *, interval: IntervalKind = "holm", digits: int | None = None
) -> Axes:
    """Draw the estimates with their Holm-level or joint intervals, or both: the joint ones as thin lines.

    With `digits` the estimates are also written at the right.
    """
    choice("interval", interval, ("holm", "joint", "both"), "thin intervals are simultaneous")
    names = [row.label for row in data.rows]
    margin = () if data.margin is None else (-data.margin, data.margin)
    with fig.canvas(ax) as ax:
        if margin:
            ax.axvspan(*margin, color=EQUIVALENT, alpha=0.12, linewidth=0)
        ax.axvline(data.neutral, color=MUTED, linewidth=0.9)
        _draw_estimates(ax, data, interval)
        fig.lay_rows(ax, names)
        rows = [(min(row.ends(interval)), row.estimate, max(row.ends(interval))) for row in data.rows]
        split = fig.write_axis(ax, axis_of(rows, data.difference, always=(data.neutral, *margin)), data.difference)
        if digits is not None:
            unit = "simple" if data.difference == "share" else data.difference
            for index, row in enumerate(data.rows):
                fig.beside(ax, index, fig.size_text(row.estimate, unit, digits))
        joint = f"simultaneous {100 * (1 - data.alpha):g} % CI"
        intervals = {
            "holm": f"Intervals at the {data.level} level of each rank, not simultaneous",
            "joint": f"Simultaneous {100 * (1 - data.alpha):g} % CIs",
            "both": f"Thick: {data.level} level; thin: {joint}",
        }[interval]
        kinds = [kind for kind in SHAPES if any(row.kind == kind for row in data.rows)]
        marks = "  ".join(f"{SHAPES[kind]} {kind}" for kind in kinds)
        words = "Band: the margin" if margin else "", split, fig.not_shown(data.left_out)
        fig.describe(ax, data.finding, data.name, intervals, marks, *words)
        fig.fit_rows(ax, len(data.rows), labels=names)
    return ax


def _draw_estimates(ax: Axes, data: Intervals, interval: IntervalKind) -> None:
    """Draw the rows grouped by verdict, with a colour and a mark for each verdict."""
    bounds = [end for row in data.rows for end in (*row.ends(interval), row.estimate) if math.isfinite(end)]
    low, high = min([*bounds, data.neutral]), max([*bounds, data.neutral])
    margin = MARGIN * (high - low) or 1.0  # where open intervals are cut
    lines = {"holm": [("holm", 1.6)], "joint": [("joint", 1.6)], "both": [("joint", 0.9), ("holm", 2.8)]}[interval]
    for kind in dict.fromkeys(row.kind for row in data.rows):
        color, marker = (CONTRAST, "D") if kind == "rejected" else VERDICTS.get(kind, VERDICTS["inconclusive"])
        places = [index for index, row in enumerate(data.rows) if row.kind == kind]
        rows = [data.rows[index] for index in places]
        for name, width in lines:
            lows = [max(getattr(row, name)[0], low - margin) for row in rows]
            highs = [min(getattr(row, name)[1], high + margin) for row in rows]
            ax.hlines(places, lows, highs, color=color, linewidth=width)
        marks: dict[str, Any] = {"marker": marker, "markersize": 5.5, "markeredgecolor": PAPER}
        ax.plot([row.estimate for row in rows], places, linestyle="none", color=color, label=kind, **marks)


# the rows with which a page begins --------------------------------------------------------------------------------

LINE_HEIGHT = 0.215  # inches from one row to the next
GAP = 0.14  # inches between two columns
EDGE = 0.06  # inches at the borders
ROOM = 0.4  # inches that lines of words leave free
MARK = 0.16  # inches that a mark before a name takes
NARROWEST = 1.6  # inches of the axis, however wide the columns are
MOST_LINES = 26  # on 7.5 inches
NAME_WIDTH = 24  # characters of a name


@dataclass(frozen=True, slots=True)
class VerdictData:
    """The rows that a page shows first with their axis, their names as labels, and what was found in a sentence."""

    forest: Forest
    labels: tuple[str, ...]
    finding: str

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that are drawn; the others are counted below."""
        return self.forest.lines[: self.forest.shown]

    @property
    def rows(self) -> tuple[ComparisonRow, ...]:
        """Their comparisons."""
        return tuple(line.row for line in self.lines if line.row is not None)


def verdict_data(analysis: Analysis, *, most: int = MOST_LINES, widest: int = NAME_WIDTH) -> VerdictData:
    """Return the lines with which a page begins, at most this many."""
    forest = forest_of(analysis, most=most)
    lines = forest.lines[: forest.shown]
    names = fig.labels([line.name for line in lines], widest)
    pairs = [] if forest.ranked else [row.pair for row in forest.rows[: forest.shown]]
    labels = tuple(name.replace("\n", " ") for name in fig.pair_labels(analysis, pairs, widest) or names)
    return VerdictData(forest, labels, fig.in_short(finding_sentence(analysis), analysis, widest))


def draw_verdict(data: VerdictData, ax: Axes | None = None) -> Axes:
    """Draw the rows with their joint intervals, the margin as a band, and the numbers of each next to it."""
    layout = _Layout(data)
    with fig.bare_canvas(ax, width=fig.PAGE, height=layout.height) as ax:
        for k, words in enumerate(layout.title):
            ax.text(EDGE, EDGE + fig.WORDS * k, words, va="top", fontweight="bold")
        _draw_axis(ax, data.forest, layout)
        for index, (line, name) in enumerate(zip(data.lines, data.labels, strict=True)):
            _draw_line(ax, line, name, layout, layout.y(index))
        for x, head in zip(layout.columns, layout.heads, strict=True):
            ax.text(x, layout.head, head, ha="right", va="center", color=MUTED)
        for k, words in enumerate(layout.notes):
            ax.text(EDGE, layout.foot + fig.WORDS * k, words, va="center", color=MUTED)
    return ax


class _Layout:
    """Layout, in inches from the upper left corner."""

    def __init__(self, data: VerdictData) -> None:
        forest, texts = data.forest, [_texts(line) for line in data.lines]
        self.axis = forest.axis
        heads = ("rank", "group") if forest.ranked else (forest.p_head, "")
        self.heads = [fig.literal(head) for head in ("difference", "better on", *heads)]
        columns = zip(self.heads, zip(*texts, strict=True), strict=True)
        widths = [max(map(fig.text_width, (head, *column))) for head, column in columns]
        self.left = EDGE + MARK + max(map(fig.text_width, data.labels)) + GAP
        self.columns = [fig.PAGE - EDGE - sum(widths[k:]) - GAP * len(widths[k:]) for k in range(1, 5)]
        self.right = max(self.columns[0] - widths[0] - 1.6 * GAP, self.left + NARROWEST)
        self.title = fig.in_lines(data.finding, fig.PAGE - ROOM, bold=True)
        self.head = EDGE + fig.WORDS * len(self.title) + 0.16
        self.bottom = self.y(len(data.lines)) - 0.3 * LINE_HEIGHT
        about = f"{forest.axis_head}, {forest.estimate_head}. {'; '.join(forest.notes)}"
        notes = [about, fig.not_shown(len(forest.folded), f"more {forest.noun}s")]
        self.notes = [line for note in notes if note for line in fig.in_lines(fig.literal(note), fig.PAGE - ROOM)]
        self.foot = self.bottom + 0.38
        self.height = self.foot + fig.WORDS * len(self.notes) - 0.02

    def x(self, value: float) -> float:
        """Position of a value of the axis."""
        return self.at(self.axis.position(value))

    def at(self, percent: float) -> float:
        """Position of a percentage of the axis."""
        return self.left + (self.right - self.left) * percent / 100

    def y(self, index: int) -> float:
        """Position of a row."""
        return self.head + LINE_HEIGHT * (index + 1)


def _texts(line: Line) -> tuple[str, str, str, str]:
    row = line.row
    if row is None or line.rank:
        return line.standing if row is None else row.estimate_text, row.wins_text if row else "", line.rank, line.group
    return row.estimate_text, row.wins_text, row.p_text, row.verdict_text


def _draw_axis(ax: Axes, forest: Forest, layout: _Layout) -> None:
    """Grid, band of the margin, the line that favours neither, and marks; each panel has its own line below."""
    top, bottom = layout.head + 0.1, layout.bottom
    if forest.margin is not None:
        band = [layout.x(end) for end in forest.margin]
        ax.fill_between(band, top, bottom, color=EQUIVALENT, alpha=0.12, linewidth=0)
    free = 0.0  # inches from which on a number finds room
    for panel in layout.axis.panels:
        ax.plot([layout.at(panel.left), layout.at(panel.right)], [bottom, bottom], color=MUTED, linewidth=0.7)
        for mark in panel.marks:
            x, half = layout.at(mark.at), fig.text_width(mark.text) / 2 + 0.04
            ax.plot([x, x], [top, bottom], color=LINE, linewidth=0.7, zorder=0)
            if x - half >= free:
                ax.text(x, bottom + 0.13, mark.text, ha="center", va="center")
                free = x + half
    ax.plot([layout.x(forest.neutral)] * 2, [top, bottom], color=MUTED, linewidth=0.9)
    for at in layout.axis.breaks:
        ax.text(layout.at(at), bottom, "╱╱", ha="center", va="center", color=MUTED)


def _draw_line(ax: Axes, line: Line, name: str, layout: _Layout, y: float) -> None:
    """Names and numbers, and where there is an estimate the thick interval inside the thin one."""
    ax.text(EDGE + MARK, y, name, va="center")
    for x, text in zip(layout.columns, _texts(line), strict=True):
        ax.text(x, y, text, ha="right", va="center", color=INK)
    row = line.row
    if row is None or not row.is_known:
        return
    color, marker = VERDICTS.get(row.verdict, VERDICTS["inconclusive"])
    if row.verdict in VERDICTS:
        ax.plot([EDGE + 0.06], [y], marker, color=color, markersize=5)
    for ends, width in ((line.thin, 1.0), (line.thick, 2.8)):
        if ends is not None:
            ax.plot([layout.x(end) for end in ends], [y, y], color=color, linewidth=width, solid_capstyle="butt")
    for end, arrow in zip(line.thin or (), "<>", strict=False):
        if not layout.axis.holds(end):
            ax.plot([layout.x(end)], [y], arrow, color=color, markersize=5)
    edge: dict[str, Any] = {"markeredgecolor": PAPER, "markeredgewidth": 0.7}
    ax.plot([layout.x(row.estimate)], [y], marker, color=color, markersize=6.5, **edge)


# subgroups: the same comparison on groups of instances, exploratory -------------------------------------------------

MOST_PAIRS = 12  # comparisons in one panel
LEGEND = 46  # characters that fit above a column


@dataclass(frozen=True, slots=True)
class GroupMark:
    """The estimate of one comparison on one group of instances, with its unadjusted interval."""

    estimate: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Subgroups:
    """The groups of one feature, and for each comparison (row) a mark per group."""

    feature: str
    groups: tuple[str, ...]  # labels with the number of instances
    pairs: tuple[str, ...]  # labels
    marks: tuple[tuple[GroupMark, ...], ...]
    left_out: int
    alpha: float
    neutral: float
    name: str
    difference: str

    @property
    def finding(self) -> str:
        """State the number of comparisons that differ between groups. Exploratory."""
        intervals = [[mark.interval for mark in row] for row in self.marks]
        sides = [{(low > self.neutral) - (high < self.neutral) for low, high in row} for row in intervals]
        turned, one = sum(len(side) > 1 for side in sides), len(self.pairs) == 1
        return f"{turned} of {len(self.pairs)} comparison{'' if one else 's'} differ by {self.feature}"


def subgroups_data(
    analysis: Analysis, feature: str | None = None, *, most: int | None = MOST_PAIRS, widest: int = fig.WIDEST
) -> Subgroups:
    """Return the first comparisons, in Holm's order, on every group of a feature (the first feature if none is named).

    Exploratory: the intervals are not adjusted for the number of comparisons or groups.
    """
    features = list(dict.fromkeys(group.feature for group in analysis.subgroups))
    if not features:
        raise InvalidInput("the analysis must have subgroups to draw, got none; give features of the instances")
    if feature is not None and feature not in features:
        raise InvalidInput(f"the feature must be one of {', '.join(map(repr, features))}, got {feature!r}")
    feature = features[0] if feature is None else feature
    groups = [displayed_subgroup(group, analysis) for group in analysis.subgroups if group.feature == feature]
    marks = {(group.value, group.first, group.second): GroupMark(group.estimate, group.interval) for group in groups}
    nowhere = GroupMark(math.nan, (math.nan, math.nan))  # where a pair lacks the group
    sizes: dict[str, int] = {}
    for group in groups:  # a pair may lack some instances of a group
        sizes[group.value] = max(group.instances, sizes.get(group.value, 0))
    comparisons = analysis.comparisons[:most]
    pairs = [(comparison.first, comparison.second) for comparison in comparisons]
    estimand, names = ESTIMANDS[comparisons[0].estimate_of], fig.labels(list(sizes), 16)
    return Subgroups(
        feature=fig.labels([feature])[0],
        groups=tuple(f"{name} ({size})" for name, size in zip(names, sizes.values(), strict=True)),
        pairs=fig.pair_labels(analysis, pairs, widest),
        marks=tuple(tuple(marks.get((value, *pair), nowhere) for value in sizes) for pair in pairs),
        left_out=len(analysis.comparisons) - len(comparisons),
        alpha=analysis.settings.alpha,
        neutral=estimand.neutral,
        name=estimand.axis or fig.difference_name(analysis),
        difference=difference_unit(analysis),
    )


def draw_subgroups(data: Subgroups, ax: Axes | None = None) -> Axes:
    """Draw each comparison with a mark per group; colours and markers distinguish the groups."""
    size = len(data.groups)
    with fig.canvas(ax, width=fig.COLUMN) as ax:
        ax.axvline(data.neutral, color=MUTED, linewidth=0.9)
        for group, (text, (color, marker)) in enumerate(zip(data.groups, CATEGORIES, strict=False)):
            places = [row + 0.7 * ((group + 0.5) / size - 0.5) for row in range(len(data.pairs))]
            marks = [row[group] for row in data.marks]
            ends = [[end if math.isfinite(end) else mark.estimate for end in mark.interval] for mark in marks]
            ax.hlines(places, *zip(*ends, strict=True), color=color, linewidth=1.1)
            ax.plot([mark.estimate for mark in marks], places, marker, color=color, markersize=4, label=text)
        fig.lay_rows(ax, data.pairs)
        rows = [(mark.interval[0], mark.estimate, mark.interval[1]) for row in data.marks for mark in row]
        split = fig.write_axis(ax, axis_of(rows, data.difference, always=(data.neutral,), most=4), data.difference)
        level = f"{100 * (1 - data.alpha):g} % intervals, unadjusted"
        fig.describe(ax, data.finding, data.name, level, split, fig.not_shown(data.left_out))
        across = max(1, min(3, LEGEND // (5 + max(map(len, data.groups)))))
        fig.legend_above(ax, columns=across, title=data.feature)
        above = fig.WORDS * (1.4 + ceil(size / across))
        fig.fit_rows(ax, len(data.pairs) * max(1.4, 0.7 * size), labels=data.pairs, above=above)
    return ax
