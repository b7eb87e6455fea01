"""The critical-difference diagram: mean ranks, and which algorithms Nemenyi's test cannot tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from ampler.analysis import Analysis
from ampler.core.errors import InvalidInput
from ampler.report.figures.colours import BLUE, GREY, ORANGE
from ampler.report.figures.labels import labels
from ampler.report.figures.style import PAGE, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 0.17  # inches between two names
WIDEST = 26  # characters of a name


@dataclass(frozen=True, slots=True)
class Ranks:
    """Mean ranks, best first, with Nemenyi's distance and the groups (first and last place) within it."""

    algorithms: tuple[str, ...]  # labels
    mean_ranks: tuple[float, ...]
    critical_difference: float
    groups: tuple[tuple[int, int], ...]  # the longest runs of neighbours no further apart than that
    alpha: float
    instances: int


def ranks_data(analysis: Analysis, *, widest: int = WIDEST) -> Ranks:
    """Return the mean ranks over the complete instances and the groups that are not told apart (Demšar 2006)."""
    if analysis.omnibus is None:
        raise InvalidInput("ranks need two instances or more with values of every algorithm, got fewer")
    by_rank = sorted(analysis.algorithms, key=lambda row: row.mean_rank)
    distance = analysis.omnibus.critical_difference
    means = tuple(row.mean_rank for row in by_rank)
    return Ranks(
        algorithms=labels([row.algorithm for row in by_rank], widest),
        mean_ranks=means,
        critical_difference=distance,
        groups=groups_within(means, distance),
        alpha=analysis.settings.alpha,
        instances=analysis.omnibus.instances,
    )


def groups_within(sorted_ranks: tuple[float, ...], distance: float) -> tuple[tuple[int, int], ...]:
    """Return the maximal groups of two or more ranks that lie within the distance.

    >>> groups_within((1.2, 1.9, 2.4, 4.0), 1.0)
    ((0, 1), (1, 2))
    """
    groups: list[tuple[int, int]] = []
    for first, best in enumerate(sorted_ranks):
        last = max(place for place, rank in enumerate(sorted_ranks) if rank - best <= distance)
        if last > first and not (groups and groups[-1][1] >= last):
            groups.append((first, last))
    return tuple(groups)


def draw_ranks(data: Ranks, ax: Axes | None = None, *, digits: int = 2) -> Axes:
    """Draw the diagram: ranks on a line, the better half named at the left, bars over those not told apart."""
    size = len(data.algorithms)
    left = ceil(size / 2)
    lanes = _lanes(data)
    depth = 1.0 + 0.55 * (max(lanes) + 1 if lanes else 0)  # lines from the axis to the first name
    with canvas(ax, width=PAGE, height=LINE * (left + depth + 4.5)) as ax:
        ax.set_axis_off()
        ax.set_xlim(1 - 0.62 * (size - 1), size + 0.62 * (size - 1))
        ax.set_ylim(depth + left + 0.5, -4.0)
        _draw_scale(ax, size)
        _draw_distance(ax, data, digits)
        for place in range(size):
            row = place if place < left else size - 1 - place
            _draw_name(ax, data, place, depth + row + 0.5, at_left=place < left, digits=digits)
        for (first, last), lane in zip(data.groups, lanes, strict=True):
            ends = data.mean_ranks[first] - 0.006 * size, data.mean_ranks[last] + 0.006 * size
            y = 0.6 + 0.55 * lane
            ax.plot(ends, [y, y], color=ORANGE, linewidth=2.6, solid_capstyle="butt", zorder=3)
    return ax


def _lanes(data: Ranks) -> list[int]:
    """The line on which each bar is drawn: bars that overlap take different ones."""
    lanes: list[int] = []
    ends: list[float] = []
    gap = 0.02 * len(data.algorithms)
    for first, last in data.groups:
        start = data.mean_ranks[first]
        free = next((lane for lane, end in enumerate(ends) if end + gap < start), len(ends))
        ends[free : free + 1] = [data.mean_ranks[last]]
        lanes.append(free)
    return lanes


def _draw_scale(ax: Axes, size: int) -> None:
    ax.plot([1, size], [0, 0], color="black", linewidth=0.8)
    every = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000, 10**6) if size / step <= 14)
    between = [rank for rank in range(every, size, every) if min(rank - 1, size - rank) > every / 2]
    marks = [1, *between, size]
    for mark in marks:
        ax.plot([mark, mark], [0, -0.35], color="black", linewidth=0.8)
        ax.text(mark, -0.5, str(mark), ha="center", va="bottom", fontsize="small")


def _draw_distance(ax: Axes, data: Ranks, digits: int) -> None:
    """The critical difference as a ruler above the scale, with what it is."""
    end = 1 + data.critical_difference
    ax.plot([1, end], [-2.2, -2.2], color=ORANGE, linewidth=1.2, marker="|", markersize=5)
    words = (
        f"Critical difference {data.critical_difference:.{digits}f} (Nemenyi, α = {data.alpha:g},"
        f" {data.instances} instances)"
    )
    ax.text(1, -2.6, words, ha="left", va="bottom", fontsize="small")


def _draw_name(ax: Axes, data: Ranks, place: int, y: float, *, at_left: bool, digits: int) -> None:
    size, rank = len(data.algorithms), data.mean_ranks[place]
    edge = 1 - 0.04 * (size - 1) if at_left else size + 0.04 * (size - 1)
    ax.plot([rank, rank, edge], [0, y, y], color=BLUE, linewidth=0.6)
    number = f"{rank:.{digits}f}"
    text = f"{data.algorithms[place]}  {number}" if at_left else f"{number}  {data.algorithms[place]}"
    shift = -0.01 * (size - 1) if at_left else 0.01 * (size - 1)
    ax.text(edge + shift, y, text, ha="right" if at_left else "left", va="center", fontsize="small")
    ax.plot([rank], [0], "o", color=GREY, markersize=2)
