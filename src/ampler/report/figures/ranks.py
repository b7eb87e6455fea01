"""The critical-difference diagram: mean ranks, and groups without significant differences.

Bars come from Nemenyi's test of all pairs, from Bonferroni and Dunn's against a reference (Demšar 2006), or from the
decisions of the analysis itself, which are based on values instead of ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil, isnan, nan
from typing import TYPE_CHECKING, Literal

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.text import finding_sentence
from ampler.core.errors import InvalidInput
from ampler.core.settings import Better, choice, share
from ampler.core.text import count, named
from ampler.report.figures import canvas as fig
from ampler.report.theme import ACCENT, INK, MUTED, ORANGE
from ampler.stats.groups import MOST_GROUPS, cliques
from ampler.stats.omnibus import critical_difference, ranks, reference_difference
from ampler.stats.paired import FEWEST, paired_test

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Ranks", "draw_ranks", "ranks_data", "table_ranks"]

RankGroups = Literal["nemenyi", "bonferroni-dunn", "decisions"]

LINE = 0.19  # inches from one name to the next
LANE = 0.11  # and from one bar to the next
GAP = 0.08  # between a line and its name
WIDEST = 26  # characters of a name
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Ranks:
    """Mean ranks, best first, with what the bars rest on and the groups (first and last index) under a bar."""

    algorithms: tuple[str, ...]  # labels
    mean_ranks: tuple[float, ...]
    critical_difference: float  # NaN where the bars are decisions
    groups: tuple[tuple[int, int], ...]  # Nemenyi: the longest runs of neighbours no further apart than that
    alpha: float
    instances: int
    by: str = "Nemenyi"  # whose test the bars are of
    members: tuple[tuple[int, ...], ...] = ()  # members of each group, if it has gaps
    reference: int | None = None  # the index of the reference
    highlighted: int | None = None
    title: str = ""  # of decisions: the finding of the analysis
    unit: str = "instance"  # that has ranks; "cluster" where clusters are the sample

    @property
    def finding(self) -> str:
        """State the best rank, or the number of algorithms without a significant difference from the reference."""
        if self.title:
            return self.title
        centre = 0 if self.reference is None else self.reference
        groups = self.members or [range(first, last + 1) for first, last in self.groups]
        near = {index for group in groups if centre in group for index in group} - {centre}
        alike = [index for index, rank in enumerate(self.mean_ranks) if rank == self.mean_ranks[centre]]
        if self.reference is not None:
            verb = "ranks" if len(alike) == 1 else "shares rank"
            do = "does" if len(near) == 1 else "do"
            rest = f"{len(near)} of {len(self.algorithms) - 1} others {do} not differ significantly from"
            return f"{rest} {self.algorithms[centre]}, which {verb} {alike[0] + 1} of {len(self.algorithms)}"
        if len(alike) > 1 or near:
            group = sorted({*alike, *near, centre})
            return f"{named([self.algorithms[index] for index in group])} share the best rank"
        return f"{self.algorithms[0]} ranks best, alone"


def ranks_data(
    analysis: Analysis,
    *,
    groups: RankGroups = "nemenyi",
    reference: str | None = None,
    highlight: str | None = None,
    widest: int = WIDEST,
) -> Ranks:
    """Return the mean ranks over the complete instances and the groups that do not differ significantly (Demšar 2006).

    `groups` are Nemenyi's, Bonferroni and Dunn's (those that do not differ significantly from `reference`, by default
    that of the analysis), or the "decisions" of the analysis. `highlight` names the algorithm that a reader should
    find."""
    choice("groups", groups, ("nemenyi", "bonferroni-dunn", "decisions"), "it says whose bars are drawn")
    if analysis.omnibus is None:
        raise InvalidInput("ranks need two instances or more with values of every algorithm, got fewer")
    by_rank = sorted(analysis.algorithms, key=lambda row: row.mean_rank)
    names, means = [row.algorithm for row in by_rank], tuple(row.mean_rank for row in by_rank)
    settings, instances = analysis.settings, analysis.omnibus.instances
    unit = "cluster" if instances < analysis.instances and settings.cluster is not None else "instance"
    marked = _index_of(names, highlight, "highlight")
    labels = fig.labels(names, widest)
    ranked = Ranks(labels, means, nan, (), settings.alpha, instances, highlighted=marked, unit=unit)
    if groups != "decisions":
        reference = reference or settings.reference
        if reference is None and groups == "bonferroni-dunn":
            raise InvalidInput(
                'Bonferroni and Dunn\'s test needs a reference: ranks_data(analysis, reference="name", …)'
            )
        return _by_ranks(ranked, None if groups == "nemenyi" else _index_of(names, reference, "reference"))
    index = None if settings.reference is None else names.index(settings.reference)
    members = _undecided_groups(analysis, names, index)
    return replace(
        ranked,
        groups=tuple((group[0], group[-1]) for group in members),
        alpha=settings.family_alpha,
        by=paired_test(settings.test).procedure.name,
        members=members,
        reference=index,
        title=fig.in_short(finding_sentence(analysis).removesuffix(".").partition(";")[0], analysis),
    )


def table_ranks(
    table: Mapping[str, Iterable[float]],
    *,
    better: Better,
    alpha: float = ALPHA,
    reference: str | None = None,
    highlight: str | None = None,
    widest: int = WIDEST,
) -> Ranks:
    """Return the mean ranks of a table, a column of numbers for each algorithm and a row for each instance.

    For the diagram alone: a data frame or a mapping of names to values; text columns are left
    out, and so are rows with a value missing. Bars are Nemenyi's, or with a `reference` Bonferroni and Dunn's.

    >>> table = {"dataset": ["a", "b", "c"], "old": [9.0, 8.0, 7.0], "new": [5.0, 4.0, 8.0]}
    >>> table_ranks(table, better="lower").mean_ranks
    (1.3333333333333333, 1.6666666666666667)
    """
    choice("better", better, ("lower", "higher"), "it is the better direction")
    share("alpha", alpha, "0.05 is usual")
    columns = {str(name): np.asarray(list(table[name])) for name in table}
    numbers = {name: column.astype(float) for name, column in columns.items() if column.dtype.kind in "fiu"}
    values = np.column_stack(list(numbers.values())) if len(numbers) > 1 else np.empty((0, 2))
    values = values[np.isfinite(values).all(axis=1)]
    if len(values) < FEWEST:
        raise InvalidInput(
            f"ranks need at least two columns of numbers and two complete rows, got {len(numbers)} columns with"
            f" {len(values)} complete rows; give a column per algorithm and a row per instance"
        )
    means = ranks(values, better=better).mean(axis=0)
    order = np.argsort(means, kind="stable").tolist()
    names = [list(numbers)[k] for k in order]
    labels, marked = fig.labels(names, widest), _index_of(names, highlight, "highlight")
    ranked = Ranks(labels, tuple(means[order].tolist()), nan, (), alpha, len(values), highlighted=marked)
    return _by_ranks(ranked, _index_of(names, reference, "reference"))


def _by_ranks(ranked: Ranks, centre: int | None) -> Ranks:
    """Add the bars of Nemenyi's test, or those of Bonferroni and Dunn's around a reference."""
    means, near = ranked.mean_ranks, critical_difference if centre is None else reference_difference
    distance = near(len(means), ranked.instances, alpha=ranked.alpha)
    bars, by = groups_within(means, distance), "Nemenyi"
    if centre is not None:  # one group, of those that do not differ significantly from the reference
        close = [index for index, rank in enumerate(means) if abs(rank - means[centre]) <= distance]
        bars, by = ((close[0], close[-1]),) if len(close) > 1 else (), "Bonferroni–Dunn"
    return replace(ranked, critical_difference=distance, groups=bars, by=by, reference=centre)


def groups_within(sorted_ranks: tuple[float, ...], distance: float) -> tuple[tuple[int, int], ...]:
    """Return the maximal groups of two or more ranks that lie within the distance.

    >>> groups_within((1.2, 1.9, 2.4, 4.0), 1.0)
    ((0, 1), (1, 2))
    """
    groups: list[tuple[int, int]] = []
    for first, best in enumerate(sorted_ranks):
        last = max(index for index, rank in enumerate(sorted_ranks) if rank - best <= distance)
        if last > first and not (groups and groups[-1][1] >= last):
            groups.append((first, last))
    return tuple(groups)


def draw_ranks(data: Ranks, ax: Axes | None = None, *, digits: int = 2, one_sided: bool = False) -> Axes:
    """Draw the diagram: ranks on a line, the better half named at the left, bars over those without significant
    difference.

    `one_sided` names all at the left, one below the other, which suits a narrow column of text next to it."""
    layout = _Layout(data, digits, one_sided=one_sided)
    members = data.members or [()] * len(data.groups)
    with fig.bare_canvas(ax, width=fig.PAGE, height=layout.height) as ax:
        _draw_scale(ax, data, layout)
        _draw_stems(ax, data, layout)
        ax.text(0.05, 0.05, data.finding, ha="left", va="top", fontweight="bold")
        distance = f"critical difference {data.critical_difference:.{digits}f}"
        bars = "decisions on the values" if isnan(data.critical_difference) else distance
        note = f"Mean rank; {bars}, {data.by}, α = {data.alpha:g}, {count(data.instances, data.unit)}"
        ax.text(0.05, 0.24, note, ha="left", va="top", color=MUTED)
        for (first, last), lane, group in zip(data.groups, layout.lanes, members, strict=True):
            y = layout.axis + LANE * (lane + 1)
            ends = [layout.x(data.mean_ranks[first]) - 0.05, layout.x(data.mean_ranks[last]) + 0.05]
            ax.plot(ends, [y, y], color=ORANGE, linewidth=3.0, solid_capstyle="butt", zorder=3)
            if 0 < len(group) <= last - first:  # the bar also spans other algorithms: mark its members
                at = [layout.x(data.mean_ranks[index]) for index in group]
                ax.plot(at, [y] * len(at), "o", color=ORANGE, markersize=5, zorder=4)
    return ax


def _undecided_groups(analysis: Analysis, names: list[str], centre: int | None) -> tuple[tuple[int, ...], ...]:
    """Groups without a significant difference by the comparisons; with a reference a single group."""
    index = {name: at for at, name in enumerate(names)}
    alike = {frozenset((index[row.first], index[row.second])) for row in analysis.comparisons if not row.claimed}
    if centre is not None:
        near = sorted({centre, *(other for pair in alike for other in pair)})
        return (tuple(near),) if len(near) > 1 else ()
    groups = list(islice(cliques(len(names), alike), MOST_GROUPS + 1))
    if len(groups) > MOST_GROUPS:
        raise InvalidInput(f"the decisions make more than {MOST_GROUPS} groups; draw Nemenyi's groups")
    return tuple(sorted(groups))


def _index_of(names: list[str], name: str | None, what: str) -> int | None:
    if name is None:
        return None
    if name not in names:
        raise InvalidInput(f"{what} must be one of the algorithms, such as {names[0]!r}, got {name!r}")
    return names.index(name)


# the drawing, in inches -------------------------------------------------------------------------------------------


class _Layout:
    """Layout, in inches from the upper left corner."""

    def __init__(self, data: Ranks, digits: int, *, one_sided: bool) -> None:
        size = len(data.algorithms)
        self.at_left = size if one_sided else ceil(size / 2)
        labels = [(name, f"{rank:.{digits}f}") for name, rank in zip(data.algorithms, data.mean_ranks, strict=True)]
        self.texts = ["  ".join(both if k < self.at_left else both[::-1]) for k, both in enumerate(labels)]
        widths = [fig.text_width(text, bold=index == data.highlighted) for index, text in enumerate(self.texts)]
        self.left = max(widths[: self.at_left]) + 4 * GAP
        self.right = fig.PAGE - max([*widths[self.at_left :], 0.2]) - 4 * GAP
        self.size = size
        gap = 0.18 * (size - 1) / (self.right - self.left)
        self.lanes, ends = list[int](), list[float]()  # bars that overlap take different lanes
        for first, last in data.groups:
            lane = next((k for k, end in enumerate(ends) if end + gap < data.mean_ranks[first]), len(ends))
            ends[lane : lane + 1] = [data.mean_ranks[last]]
            self.lanes.append(lane)
        self.axis = 0.92
        self.names = self.axis + LANE * (max(self.lanes, default=-1) + 1) + LINE
        self.height = self.names + LINE * (self.at_left - 0.35)

    def x(self, rank: float) -> float:
        """Position of a rank on the scale."""
        return self.left + (self.right - self.left) * (rank - 1) / max(self.size - 1, 1)

    def y(self, index: int) -> float:
        """Position of the name of an index."""
        return self.names + LINE * (index if index < self.at_left else self.size - 1 - index)


def _draw_scale(ax: Axes, data: Ranks, layout: _Layout) -> None:
    size = layout.size
    every = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000, 10**6) if size / step <= 14)
    marks = [1, *(rank for rank in range(every, size, every) if min(rank - 1, size - rank) > every / 2), size]
    y = layout.axis
    ticks = [[(layout.x(mark), y), (layout.x(mark), y - 0.06)] for mark in marks]
    _lines(ax, [[(layout.x(1), y), (layout.x(size), y)], *ticks], color=MUTED, linewidth=0.8)
    for mark in marks:
        ax.text(layout.x(mark), y - 0.08, str(mark), ha="center", va="bottom")
    if not isnan(data.critical_difference):  # above the scale: from its beginning, or to both sides of the reference
        start = layout.x(1 if data.reference is None else data.mean_ranks[data.reference])
        reach = layout.x(1 + data.critical_difference) - layout.x(1)
        ends = [max(start - reach, layout.x(1)), min(start + reach, layout.x(size))]
        ax.plot(ends, [y - 0.32] * 2, color=ORANGE, linewidth=1.3, marker="|", markersize=5)


def _draw_stems(ax: Axes, data: Ranks, layout: _Layout) -> None:
    stems = []
    for index, (rank, text) in enumerate(zip(data.mean_ranks, layout.texts, strict=True)):
        at_left, y = index < layout.at_left, layout.y(index)
        edge = layout.left - 2 * GAP if at_left else layout.right + 2 * GAP
        stems.append([(layout.x(rank), layout.axis), (layout.x(rank), y), (edge, y)])
        is_special = index in (data.highlighted, data.reference)
        note = ax.text(edge - GAP if at_left else edge + GAP, y, text, ha="right" if at_left else "left", va="center")
        note.set(color=ACCENT if is_special else INK, fontweight="bold" if index == data.highlighted else "normal")
    _lines(ax, stems, color=MUTED, linewidth=0.7)
    special = [index for index in (data.highlighted, data.reference) if index is not None]
    _lines(ax, [stems[index] for index in special], color=ACCENT, linewidth=1.6)
    ax.plot([layout.x(rank) for rank in data.mean_ranks], [layout.axis] * layout.size, "o", color=INK, markersize=3)


def _lines(ax: Axes, lines: list[list[tuple[float, float]]], *, color: str, linewidth: float) -> None:
    """Draw many lines as one collection, for speed."""
    from matplotlib.collections import LineCollection

    ax.add_collection(LineCollection(lines, colors=color, linewidths=linewidth, zorder=2), autolim=False)
