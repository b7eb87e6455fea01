"""The figure of all comparisons: estimates with their intervals, and which null hypotheses fell."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ampler.analysis import Analysis, Comparison
from ampler.core.arrays import Interval
from ampler.core.checks import choice
from ampler.report.figures.colours import BLUE, GREY, ORANGE
from ampler.report.figures.labels import WIDEST, pair_labels
from ampler.report.figures.style import canvas, difference_name, row_height, size_text, unit_of, write_in_unit
from ampler.stats.paired import ESTIMANDS, paired_test

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IntervalOrder = Literal["rank", "estimate", "name", "given"]
IntervalKind = Literal["holm", "joint", "both"]

MOST = 60  # rows that can still be told apart on one page
MARGIN = 0.08  # of the range of the finite ends, beyond which an open interval is drawn as going on


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One comparison: its label, estimate and both intervals."""

    label: str
    estimate: float
    holm: Interval  # at the Holm level of its rank, as in the paper's tables; not joint
    joint: Interval
    rejected: bool


@dataclass(frozen=True, slots=True)
class Intervals:
    """The comparisons from top to bottom, `left_out` of them not shown, and what their numbers mean."""

    rows: tuple[IntervalRow, ...]
    left_out: int
    difference: str  # "simple", "percent", "log-ratio"; or "share" for the sign test's P(φ>0)
    estimate_of: str
    name: str  # of the axis
    neutral: float  # where there is no difference
    alpha: float  # of the family
    level: str = "Holm"  # whose level the intervals have that are not joint


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
    texts = pair_labels(analysis, [(each.first, each.second) for each in shown], widest)
    return Intervals(
        rows=tuple(
            IntervalRow(text, each.estimate, each.interval, each.joint_interval, each.rejected)
            for text, each in zip(texts, shown, strict=True)
        ),
        left_out=len(found) - len(shown),
        difference="share" if estimand.is_share else unit_of(analysis),
        estimate_of=found[0].estimate_of,
        name=estimand.axis or difference_name(analysis),
        neutral=estimand.neutral,
        alpha=analysis.settings.family_alpha,
        level=paired_test(analysis.settings.test).procedure.level,
    )


def draw_intervals(
    data: Intervals, ax: Axes | None = None, *, interval: IntervalKind = "holm", digits: int | None = None
) -> Axes:
    """Draw the estimates with their Holm-level or joint intervals, or both: the joint ones as thin lines.

    With `digits` the estimates are also written at the right.
    """
    choice("interval", interval, ("holm", "joint", "both"), "joint intervals hold all together")
    with canvas(ax, height=row_height(len(data.rows), top=0.3, labels=[row.label for row in data.rows])) as ax:
        places = range(len(data.rows))
        ax.axvline(data.neutral, color=GREY, linewidth=0.8)
        ends = _ends(data, interval)
        for rejected, color, marker in ((True, ORANGE, "D"), (False, BLUE, "o")):
            chosen = [(place, row) for place, row in zip(places, data.rows, strict=True) if row.rejected is rejected]
            _draw_rows(ax, chosen, ends, interval=interval, color=color, marker=marker)
        ax.set_yticks(list(places), [row.label for row in data.rows])
        ax.set_ylim(len(data.rows) - 0.4, -0.6)  # the first on top
        ax.grid(axis="y", visible=False)
        write_in_unit(ax.xaxis, data.difference)
        _explain(ax, data, interval)
        if digits is not None:
            _write_estimates(ax, data, digits)
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


def _draw_rows(
    ax: Axes,
    rows: Iterable[tuple[int, IntervalRow]],
    ends: Interval,
    *,
    interval: IntervalKind,
    color: str,
    marker: str,
) -> None:
    """Draw rows of one decision: colour and marker say which it is, so that print and every eye can tell."""
    rows = list(rows)
    if not rows:
        return
    places = [place for place, _ in rows]
    wide = 1.4 if interval != "both" else 2.4
    kinds = {"holm": [("holm", wide)], "joint": [("joint", wide)], "both": [("joint", 0.7), ("holm", wide)]}[interval]
    for kind, width in kinds:
        lows = [max(getattr(row, kind)[0], ends[0]) for _, row in rows]
        highs = [min(getattr(row, kind)[1], ends[1]) for _, row in rows]
        ax.hlines(places, lows, highs, color=color, linewidth=width)
    ax.plot(
        [row.estimate for _, row in rows],
        places,
        linestyle="none",
        marker=marker,
        color=color,
        markersize=3.4,
        markeredgecolor="white",
        markeredgewidth=0.4,
        label="Rejected" if marker == "D" else "Not rejected",
    )


def _explain(ax: Axes, data: Intervals, interval: IntervalKind) -> None:
    """Say below which intervals these are, and above what the colours mean."""
    joint = f"joint {100 * (1 - data.alpha):g} % intervals"
    words = {
        "holm": f"Intervals at the {data.level} level of each rank, not joint",
        "joint": joint.capitalize(),
        "both": f"Thick: {data.level} level; thin: joint {100 * (1 - data.alpha):g} %",
    }[interval]
    more = f"\n{data.left_out} more comparisons are not shown" if data.left_out else ""
    ax.set_xlabel(f"{data.name}\n{words}{more}", loc="right")
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, borderpad=0, borderaxespad=0.2, handletextpad=0.2)


def _write_estimates(ax: Axes, data: Intervals, digits: int) -> None:
    for place, row in enumerate(data.rows):
        text = size_text(row.estimate, "simple" if data.difference == "share" else data.difference, digits)
        ax.annotate(
            text, (1.0, place), (3, 0), xycoords=("axes fraction", "data"), textcoords="offset points", va="center"
        ).set(fontsize="small", annotation_clip=False)
