"""Our estimates beside the published ones: rows, a table in Markdown, and a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ampler as am
from ampler_upmsp.published import Published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OURS, THEIRS = "#0072B2", "#767676"  # blue, grey
ROW = 0.24  # inches that one variant takes in the figure


@dataclass(frozen=True, slots=True)
class OwnEstimate:
    """A variant's comparison with `full` as we find it; the estimate and its interval are shares, not percent."""

    variant: str
    estimate: float
    low: float  # the interval at the Holm level of its rank, as the paper prints it
    high: float
    effect_size: float
    p_value: float
    rejected: bool


@dataclass(frozen=True, slots=True)
class EstimatePair:
    """A variant's comparison, ours and the published one."""

    ours: OwnEstimate
    published: Published

    @property
    def agrees(self) -> bool:
        """Whether both reject with the same sign, or neither rejects."""
        same_sign = (self.ours.estimate < 0) == (self.published.estimate < 0)
        return self.ours.rejected == self.published.rejected and (same_sign or not self.ours.rejected)


def own_estimates(analysis: am.Analysis) -> tuple[OwnEstimate, ...]:
    """Return the comparisons of an analysis."""
    return tuple(
        OwnEstimate(each.second, each.estimate, *each.interval, each.effect_size, each.p_value, each.rejected)
        for each in analysis.comparisons
    )


def estimate_pairs(ours: Iterable[OwnEstimate], published: Sequence[Published]) -> tuple[EstimatePair, ...]:
    """Join our comparisons with the published ones, in the published order."""
    by_variant = {row.variant: row for row in ours}
    return tuple(EstimatePair(by_variant[row.variant], row) for row in published)


def draw_estimate_pairs(rows: Sequence[EstimatePair]) -> Axes:
    """Draw both estimates of every variant with their intervals; filled marks are rejected null hypotheses.

    Variants without the task move, which lose ten times as much as the others, have a scale of their own.
    """
    from ampler.report.figures.canvas import sheet

    groups = [[row for row in rows if ("TSK" in row.ours.variant) == lost] for lost in (True, False)]
    panels = [group for group in groups if group]
    size = (5.2, 0.9 + 0.25 * len(panels) + ROW * len(rows))
    figure = sheet(figsize=size, layout="constrained")
    axes = figure.subplots(len(panels), squeeze=False, height_ratios=[len(panel) for panel in panels])[:, 0]
    for ax, panel in zip(axes, panels, strict=True):
        _draw_panel(panel, ax)
    axes[-1].set_xlabel("percent difference (full − variant) / full; to the left the variant is worse", fontsize=8)
    _legend(axes[0])
    return axes[0]


def markdown_table(rows: Sequence[EstimatePair]) -> str:
    """Return the table: each variant's estimate with the half-width of its interval, d and p, ours and published."""
    lines = [
        "| variant | difference, % | published | d | published | p | published | agrees |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
        *(f"| {' | '.join(table_cells(row))} |" for row in rows),
    ]
    return "\n".join([*lines, "", LEGEND]) + "\n"


LEGEND = (
    "Percent differences (full − variant) / full with the half-width of their interval at the Holm level: where they"
    " are negative, the variant is worse. \\* null hypothesis rejected (Holm, family-wise level 0.05). They agree when"
    " both reject with the same sign or neither rejects."
)


def table_cells(row: EstimatePair) -> tuple[str, ...]:
    """Return the texts of a row of the table."""
    ours, theirs = row.ours, row.published
    return (
        ours.variant,
        _percent(ours.estimate, (ours.high - ours.low) / 2, ours.rejected),
        _percent(theirs.estimate, theirs.half_width, theirs.rejected),
        f"{ours.effect_size:.2g}",
        f"{theirs.effect_size:.2g}",
        f"{ours.p_value:.2g}",
        f"{theirs.p_value:.2g}",
        "yes" if row.agrees else "no",
    )


def _percent(estimate: float, half_width: float, rejected: bool) -> str:
    return f"{100 * estimate:.2g} ± {100 * half_width:.2g}{' *' if rejected else ''}"


def _draw_panel(rows: Sequence[EstimatePair], ax: Axes) -> None:
    for place, row in enumerate(rows):
        ours, theirs = row.ours, row.published
        _mark(ax, place - 0.16, ours.estimate, (ours.low, ours.high), ours.rejected, OURS)
        _mark(ax, place + 0.16, theirs.estimate, theirs.interval, theirs.rejected, THEIRS)
    ax.axvline(0, color="black", linewidth=0.6)
    ax.set_yticks(range(len(rows)), [row.ours.variant for row in rows], fontsize=7)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.tick_params(axis="x", labelsize=7)
    ax.grid(axis="x", linewidth=0.4, color="#DDDDDD")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def _mark(ax: Axes, place: float, estimate: float, interval: tuple[float, float], rejected: bool, colour: str) -> None:
    shape = {"marker": "D", "fillstyle": "full"} if rejected else {"marker": "o", "fillstyle": "none"}
    ax.plot(interval, [place, place], color=colour, linewidth=1.2)
    ax.plot(estimate, place, color=colour, markersize=3.5, markerfacecolor=None if rejected else "white", **shape)


def _legend(ax: Axes) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=OURS, marker="D", markersize=3.5, label="ours"),
        Line2D([], [], color=THEIRS, marker="D", markersize=3.5, label="published"),
        Line2D([], [], color="black", marker="o", fillstyle="none", linestyle="", markersize=3.5, label="not rejected"),
    ]
    ax.legend(handles=handles, fontsize=7, frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
