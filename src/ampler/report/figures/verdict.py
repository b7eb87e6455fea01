"""The figure that carries the verdict: one row for each comparison, with estimate, interval, wins, p and verdict.

It shows the rows that stand first on the page of a report, and the same axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ampler.analysis import Analysis
from ampler.analysis.answer import finding_sentence
from ampler.report.axis import Axis
from ampler.report.figures.colours import EQUIVALENT, INK, LINE, MUTED, PAPER, VERDICTS
from ampler.report.figures.labels import in_short, literal, pair_labels
from ampler.report.figures.style import PAGE, bare_canvas
from ampler.report.figures.titles import WORDS, in_lines, text_width
from ampler.report.forest import SHOWN, Forest, ForestRow, forest_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE_HEIGHT = 0.215  # inches from one row to the next
GAP = 0.14  # inches between two columns
EDGE = 0.06  # inches at the borders
ROOM = 0.4  # inches that lines of words leave free
MARK = 0.16  # inches that a mark before a name takes
NARROWEST = 1.6  # inches of the axis, however wide the columns are
WIDEST = 24  # characters of a name


@dataclass(frozen=True, slots=True)
class VerdictData:
    """The rows that a page shows first with their axis, their names as labels, and what was found in a sentence."""

    forest: Forest
    labels: tuple[str, ...]
    finding: str

    @property
    def rows(self) -> tuple[ForestRow, ...]:
        """The rows that are drawn; the others are counted below."""
        return self.forest.rows[: self.forest.shown]


def verdict_data(analysis: Analysis, *, most: int = SHOWN, widest: int = WIDEST) -> VerdictData:
    """Return the comparisons as rows, those that carry the verdict first, at most so many."""
    forest = forest_of(analysis, most=most)
    pairs = [(row.first, row.second) for row in forest.rows[: forest.shown]]
    names = pair_labels(analysis, pairs, widest)
    return VerdictData(
        forest=replace(forest, wins_head=in_short(forest.wins_head, analysis, widest)),
        labels=tuple(name.replace("\n", " ") for name in names),
        finding=in_short(finding_sentence(analysis), analysis, widest),
    )


def draw_verdict(data: VerdictData, ax: Axes | None = None) -> Axes:
    """Draw the rows with their joint intervals, the margin as a band, and the numbers of each beside it."""
    layout = _Layout(data)
    with bare_canvas(ax, width=PAGE, height=layout.height) as ax:
        for k, line in enumerate(layout.title):
            ax.text(EDGE, EDGE + WORDS * k, line, va="top", fontweight="bold")
        _draw_axis(ax, data.forest, layout)
        for place, (row, name) in enumerate(zip(data.rows, data.labels, strict=True)):
            _draw_row(ax, row, name, layout, layout.y(place), data.forest.axis)
        for x, head in zip(layout.columns, layout.heads, strict=True):
            ax.text(x, layout.head, head, ha="right", va="center", color=MUTED)
        for k, line in enumerate(layout.notes):
            ax.text(EDGE, layout.words + WORDS * k, line, va="center", color=MUTED)
    return ax


class _Layout:
    """Where everything stands, in inches from the upper left corner."""

    def __init__(self, data: VerdictData) -> None:
        forest, rows = data.forest, data.rows
        texts = [_texts(row) for row in rows]
        self.heads = [literal(head) for head in ("estimate", forest.wins_head, forest.p_head, "")]
        widths = [
            max([text_width(head), *(text_width(text[k]) for text in texts)]) for k, head in enumerate(self.heads)
        ]
        self.left = EDGE + MARK + max(map(text_width, data.labels)) + GAP
        ends = [PAGE - EDGE]
        for width in reversed(widths[1:]):
            ends.insert(0, ends[0] - width - GAP)
        self.columns = ends
        self.right = max(ends[0] - widths[0] - 1.6 * GAP, self.left + NARROWEST)
        self.title = in_lines(data.finding, PAGE - ROOM, bold=True)
        self.head = EDGE + WORDS * len(self.title) + 0.16
        self.bottom = self.y(len(rows)) - 0.3 * LINE_HEIGHT
        more = f"{len(forest.folded)} more comparisons are not shown" if forest.folded else ""
        said = [f"{forest.estimate_head}: {'; '.join(forest.notes)}", more]
        self.notes = [line for part in said if part for line in in_lines(literal(part), PAGE - ROOM)]
        self.words = self.bottom + 0.38
        self.height = self.words + WORDS * len(self.notes) - 0.02

    def x(self, place: float) -> float:
        """Where a place in percent of the axis stands."""
        return self.left + (self.right - self.left) * place / 100

    def y(self, place: int) -> float:
        """Where a row stands."""
        return self.head + LINE_HEIGHT * (place + 1)


def _texts(row: ForestRow) -> tuple[str, str, str, str]:
    return row.estimate_text, row.wins, row.p_text, row.word


def _draw_axis(ax: Axes, forest: Forest, layout: _Layout) -> None:
    """Grid, band of the margin, the line that favours neither, and marks; each panel has its own line below."""
    top, bottom, axis = layout.head + 0.1, layout.bottom, forest.axis
    if forest.margin is not None:
        low, high = (layout.x(axis.place(end)) for end in forest.margin)
        ax.fill_between([low, high], top, bottom, color=EQUIVALENT, alpha=0.12, linewidth=0)
    free = 0.0  # inches from which on a number finds room
    for panel in axis.panels:
        ax.plot([layout.x(panel.left), layout.x(panel.right)], [bottom, bottom], color=MUTED, linewidth=0.7)
        for mark in panel.marks:
            ax.plot([layout.x(mark.at)] * 2, [top, bottom], color=LINE, linewidth=0.7, zorder=0)
            half = text_width(mark.text) / 2 + 0.04
            if layout.x(mark.at) - half >= free:
                ax.text(layout.x(mark.at), bottom + 0.13, mark.text, ha="center", va="center")
                free = layout.x(mark.at) + half
    ax.plot([layout.x(axis.place(forest.neutral))] * 2, [top, bottom], color=MUTED, linewidth=0.9)
    for at in axis.breaks:
        ax.text(layout.x(at), bottom, "╱╱", ha="center", va="center", color=MUTED)


def _draw_row(ax: Axes, row: ForestRow, name: str, layout: _Layout, y: float, axis: Axis) -> None:
    color, marker = VERDICTS.get(row.finding, VERDICTS["undecided"])
    ax.plot([EDGE + 0.06], [y], marker, color=color, markersize=5)
    ax.text(EDGE + MARK, y, name, va="center")
    for x, text in zip(layout.columns, _texts(row), strict=True):
        ax.text(x, y, text, ha="right", va="center", color=INK)
    if math.isnan(row.estimate):
        return
    ends = [layout.x(axis.place(end)) for end in (row.low, row.high)]
    ax.plot(ends, [y, y], color=color, linewidth=2.2, solid_capstyle="butt")
    for end, x, arrow in zip((row.low, row.high), ends, "<>", strict=True):
        if math.isinf(end):
            ax.plot([x], [y], arrow, color=color, markersize=5)
    at = layout.x(axis.place(row.estimate))
    ax.plot([at], [y], marker, color=color, markersize=6.5, markeredgecolor=PAPER, markeredgewidth=0.7)
