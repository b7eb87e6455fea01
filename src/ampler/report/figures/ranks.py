"""The critical-difference diagram: mean ranks, and which algorithms are not told apart.

Bars come from Nemenyi's test of all pairs, from Bonferroni and Dunn's against a reference (Demšar 2006), or from the
decisions of the analysis itself, which stand on the values and not on ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Literal

import numpy as np

from ampler.analysis import Analysis
from ampler.core.arrays import Floats
from ampler.core.checks import choice, share
from ampler.core.choices import Better
from ampler.core.errors import InvalidInput
from ampler.core.wording import named
from ampler.report.figures.colours import ACCENT, INK, MUTED, ORANGE
from ampler.report.figures.labels import labels
from ampler.report.figures.style import PAGE, bare_canvas
from ampler.report.figures.titles import text_width
from ampler.stats.omnibus import critical_difference, ranks, reference_difference
from ampler.stats.paired import FEWEST, paired_test

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RankGroups = Literal["nemenyi", "bonferroni-dunn", "decisions"]

LINE = 0.19  # inches from one name to the next
LANE = 0.11  # and from one bar to the next
GAP = 0.08  # between a line and its name
WIDEST = 26  # characters of a name
ALPHA = 0.05
MOST_GROUPS = 60  # bars that anyone can still tell apart


@dataclass(frozen=True, slots=True)
class Ranks:
    """Mean ranks, best first, with what the bars rest on and the groups (first and last place) under a bar."""

    algorithms: tuple[str, ...]  # labels
    mean_ranks: tuple[float, ...]
    critical_difference: float  # NaN where the bars are decisions
    groups: tuple[tuple[int, int], ...]  # Nemenyi: the longest runs of neighbours no further apart than that
    alpha: float
    instances: int
    by: str = "Nemenyi"  # whose test the bars are of
    members: tuple[tuple[int, ...], ...] = ()  # of each group, where some between first and last do not belong to it
    reference: int | None = None  # the place of what all others are compared with
    highlighted: int | None = None

    @property
    def finding(self) -> str:
        """Who ranks best, and how many others are not told apart from it; or from the reference."""
        centre = 0 if self.reference is None else self.reference
        near = {place for group in self._whole_groups() if centre in group for place in group} - {centre}
        are = "is" if len(near) == 1 else "are"
        rest = f"{len(near)} of {len(self.algorithms) - 1} others {are} not told apart from"
        alike = [place for place, rank in enumerate(self.mean_ranks) if rank == self.mean_ranks[centre]]
        if self.reference is not None:
            verb = "ranks" if len(alike) == 1 else "shares rank"
            return f"{rest} {self.algorithms[centre]}, which {verb} {alike[0] + 1} of {len(self.algorithms)}"
        if len(alike) > 1:
            return f"{named([self.algorithms[place] for place in alike])} share the best rank"
        return f"{self.algorithms[0]} ranks best; {rest} it" if near else f"{self.algorithms[0]} ranks best, alone"

    def _whole_groups(self) -> list[Sequence[int]]:
        return list(self.members) or [range(first, last + 1) for first, last in self.groups]


def ranks_data(
    analysis: Analysis,
    *,
    groups: RankGroups = "nemenyi",
    reference: str | None = None,
    highlight: str | None = None,
    widest: int = WIDEST,
) -> Ranks:
    """Return the mean ranks over the complete instances and the groups that are not told apart (Demšar 2006).

    `groups` are Nemenyi's, Bonferroni and Dunn's (those that are not told apart from `reference`, by default that of
    the analysis), or the "decisions" of the analysis. `highlight` names the algorithm that a reader should find.
    """
    choice("groups", groups, ("nemenyi", "bonferroni-dunn", "decisions"), "it says whose bars are drawn")
    if analysis.omnibus is None:
        raise InvalidInput("ranks need two instances or more with values of every algorithm, got fewer")
    by_rank = sorted(analysis.algorithms, key=lambda row: row.mean_rank)
    names = [row.algorithm for row in by_rank]
    means = tuple(row.mean_rank for row in by_rank)
    centre = _centre(analysis, groups, reference, names)
    found = _Bars.of(analysis, groups, names, means, centre)
    return Ranks(
        algorithms=labels(names, widest),
        mean_ranks=means,
        critical_difference=found.distance,
        groups=found.groups,
        alpha=analysis.settings.family_alpha if groups == "decisions" else analysis.settings.alpha,
        instances=analysis.omnibus.instances,
        by=found.by,
        members=found.members,
        reference=centre,
        highlighted=None if highlight is None else _place(names, highlight, "highlight"),
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

    For who wants the diagram and nothing else: a data frame or a mapping of names to values; columns of words are left
    out, and so are rows with a value missing. Bars are Nemenyi's, or with a `reference` Bonferroni and Dunn's.

    >>> table = {"dataset": ["a", "b", "c"], "old": [9.0, 8.0, 7.0], "new": [5.0, 4.0, 8.0]}
    >>> table_ranks(table, better="lower").mean_ranks
    (1.3333333333333333, 1.6666666666666667)
    """
    choice("better", better, ("lower", "higher"), "it says which values rank first")
    share("alpha", alpha, "0.05 is usual")
    names, values = _columns(table)
    means = ranks(values, better=better).mean(axis=0)
    order = np.argsort(means, kind="stable").tolist()
    names, placed = [names[k] for k in order], tuple(means[order].tolist())
    centre = None if reference is None else _place(names, reference, "reference")
    near = critical_difference if centre is None else reference_difference
    distance = near(len(names), len(values), alpha=alpha)
    return Ranks(
        algorithms=labels(names, widest),
        mean_ranks=placed,
        critical_difference=distance,
        groups=groups_within(placed, distance) if centre is None else _around(placed, centre, distance),
        alpha=alpha,
        instances=len(values),
        by="Nemenyi" if centre is None else "Bonferroni–Dunn",
        reference=centre,
        highlighted=None if highlight is None else _place(names, highlight, "highlight"),
    )


def _columns(table: Mapping[str, Iterable[float]]) -> tuple[list[str], Floats]:
    """The columns of numbers with their names, in the rows that have all of them."""
    found = {str(name): np.asarray(list(table[name])) for name in table}
    numbers = {name: column.astype(float) for name, column in found.items() if column.dtype.kind in "fiu"}
    values = np.column_stack(list(numbers.values())) if len(numbers) > 1 else np.empty((0, 0))
    whole = values[np.isfinite(values).all(axis=1)] if len(values) else values
    if len(whole) < FEWEST:
        raise InvalidInput(
            f"ranks need two columns of numbers and two complete rows or more, got {len(numbers)} such columns with"
            f" {len(whole)} complete rows; give a column for each algorithm and a row for each instance"
        )
    return list(numbers), whole


def _around(means: tuple[float, ...], centre: int, distance: float) -> tuple[tuple[int, int], ...]:
    """The one group of those that are not told apart from the reference."""
    near = [place for place, rank in enumerate(means) if abs(rank - means[centre]) <= distance]
    return ((near[0], near[-1]),) if len(near) > 1 else ()


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


def cliques(size: int, alike: set[frozenset[int]]) -> Iterator[tuple[int, ...]]:
    """Yield the largest groups of two or more in which every pair is alike (Bron and Kerbosch 1973, with a pivot).

    >>> sorted(cliques(4, {frozenset(pair) for pair in [(0, 1), (1, 2), (0, 2), (2, 3)]}))
    [(0, 1, 2), (2, 3)]
    """
    near = {place: {other for other in range(size) if frozenset((place, other)) in alike} for place in range(size)}

    def grown(group: set[int], open_: set[int], done: set[int]) -> Iterator[tuple[int, ...]]:
        if not open_ and not done and len(group) > 1:
            yield tuple(sorted(group))
        pivot = max(open_ | done, key=lambda place: len(near[place] & open_), default=None)
        for place in sorted(open_ - (near[pivot] if pivot is not None else set())):
            yield from grown(group | {place}, open_ & near[place], done & near[place])
            open_, done = open_ - {place}, done | {place}

    yield from grown(set(), {place for place in near if near[place]}, set())


def draw_ranks(data: Ranks, ax: Axes | None = None, *, digits: int = 2, one_sided: bool = False) -> Axes:
    """Draw the diagram: ranks on a line, the better half named at the left, bars over those not told apart.

    `one_sided` names all at the left, one below the other, which suits a narrow column of text beside it.
    """
    layout = _Layout(data, digits, one_sided=one_sided)
    with bare_canvas(ax, width=PAGE, height=layout.height) as ax:
        _draw_scale(ax, data, layout)
        _draw_stems(ax, data, layout)
        _draw_words(ax, data, layout, digits)
        for (first, last), lane, group in zip(data.groups, layout.lanes, layout.marked(data), strict=True):
            y = layout.axis + LANE * (lane + 1)
            ends = [layout.x(data.mean_ranks[first]) - 0.05, layout.x(data.mean_ranks[last]) + 0.05]
            ax.plot(ends, [y, y], color=ORANGE, linewidth=3.0, solid_capstyle="butt", zorder=3)
            if group:
                at = [layout.x(data.mean_ranks[place]) for place in group]
                ax.plot(at, [y] * len(at), "o", color=ORANGE, markersize=5, zorder=4)
    return ax


# what the bars rest on --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Bars:
    """Groups, and whose they are."""

    by: str
    distance: float
    groups: tuple[tuple[int, int], ...]
    members: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(
        cls, analysis: Analysis, groups: RankGroups, names: list[str], means: tuple[float, ...], centre: int | None
    ) -> _Bars:
        assert analysis.omnibus is not None
        if groups == "nemenyi":
            distance = analysis.omnibus.critical_difference
            return cls("Nemenyi", distance, groups_within(means, distance))
        if groups == "bonferroni-dunn":
            assert centre is not None
            distance = reference_difference(len(names), analysis.omnibus.instances, alpha=analysis.settings.alpha)
            return cls("Bonferroni–Dunn", distance, _around(means, centre, distance))
        found = _decided(analysis, names, centre)
        steps = paired_test(analysis.settings.test).procedure.name
        return cls(steps, float("nan"), tuple((group[0], group[-1]) for group in found), found)


def _decided(analysis: Analysis, names: list[str], centre: int | None) -> tuple[tuple[int, ...], ...]:
    """The groups in which the comparisons of the analysis tell no pair apart; one group around a reference."""
    place = {name: at for at, name in enumerate(names)}
    alike = {frozenset((place[each.first], place[each.second])) for each in analysis.comparisons if not each.claimed}
    if centre is not None:
        near = sorted({centre, *(other for pair in alike for other in pair)})
        return (tuple(near),) if len(near) > 1 else ()
    found: list[tuple[int, ...]] = []
    for group in cliques(len(names), alike):
        found.append(group)
        if len(found) > MOST_GROUPS:
            raise InvalidInput(f"the decisions make more than {MOST_GROUPS} groups; draw Nemenyi's groups")
    return tuple(sorted(found))


def _centre(analysis: Analysis, groups: RankGroups, asked: str | None, names: list[str]) -> int | None:
    """The place of the reference, where the bars are around one."""
    if groups == "nemenyi":
        return None
    known = analysis.settings.reference
    if groups == "decisions":
        return None if known is None else names.index(known)
    if asked is None and known is None:
        raise InvalidInput('Bonferroni and Dunn\'s test needs a reference: ranks_data(analysis, reference="name", …)')
    return _place(names, asked or str(known), "reference")


def _place(names: list[str], name: str, what: str) -> int:
    if name not in names:
        raise InvalidInput(f"{what} must be one of the algorithms, such as {names[0]!r}, got {name!r}")
    return names.index(name)


# the drawing, in inches -------------------------------------------------------------------------------------------


class _Layout:
    """Where everything stands, in inches from the upper left corner."""

    def __init__(self, data: Ranks, digits: int, *, one_sided: bool) -> None:
        size = len(data.algorithms)
        self.at_left = size if one_sided else ceil(size / 2)
        self.texts = [self._text(data, place, digits) for place in range(size)]
        widths = [text_width(text, bold=place == data.highlighted) for place, text in enumerate(self.texts)]
        self.left = max(widths[: self.at_left]) + 4 * GAP
        self.right = PAGE - max([*widths[self.at_left :], 0.2]) - 4 * GAP
        self.size = size
        self.lanes = _lanes(data, 0.18 * (size - 1) / (self.right - self.left))
        self.axis = 0.92
        self.names = self.axis + LANE * (max(self.lanes, default=-1) + 1) + LINE
        self.height = self.names + LINE * (self.at_left - 0.35)

    def _text(self, data: Ranks, place: int, digits: int) -> str:
        number = f"{data.mean_ranks[place]:.{digits}f}"
        name = data.algorithms[place]
        return f"{name}  {number}" if place < self.at_left else f"{number}  {name}"

    def x(self, rank: float) -> float:
        """Where a rank stands on the scale."""
        return self.left + (self.right - self.left) * (rank - 1) / max(self.size - 1, 1)

    def y(self, place: int) -> float:
        """Where the name of a place stands."""
        return self.names + LINE * (place if place < self.at_left else self.size - 1 - place)

    def marked(self, data: Ranks) -> list[tuple[int, ...]]:
        """The members of each bar that are marked: all, where the bar also passes others."""
        if not data.members:
            return [() for _ in data.groups]
        return [group if len(group) <= group[-1] - group[0] else () for group in data.members]


def _lanes(data: Ranks, gap: float) -> list[int]:
    """The line on which each bar is drawn: bars that overlap take different ones."""
    lanes: list[int] = []
    ends: list[float] = []
    for first, last in data.groups:
        start = data.mean_ranks[first]
        free = next((lane for lane, end in enumerate(ends) if end + gap < start), len(ends))
        ends[free : free + 1] = [data.mean_ranks[last]]
        lanes.append(free)
    return lanes


def _draw_scale(ax: Axes, data: Ranks, layout: _Layout) -> None:
    size = layout.size
    every = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000, 10**6) if size / step <= 14)
    marks = [1, *(rank for rank in range(every, size, every) if min(rank - 1, size - rank) > every / 2), size]
    y = layout.axis
    lines = [
        [(layout.x(1), y), (layout.x(size), y)],
        *([(layout.x(mark), y), (layout.x(mark), y - 0.06)] for mark in marks),
    ]
    _lines(ax, lines, color=MUTED, linewidth=0.8)
    for mark in marks:
        ax.text(layout.x(mark), y - 0.08, str(mark), ha="center", va="bottom")
    if data.critical_difference == data.critical_difference:
        start = layout.x(1 if data.reference is None else data.mean_ranks[data.reference])
        _draw_ruler(ax, data, layout, start)


def _draw_ruler(ax: Axes, data: Ranks, layout: _Layout, start: float) -> None:
    """The critical difference above the scale: from its beginning, or to both sides of the reference."""
    reach = layout.x(1 + data.critical_difference) - layout.x(1)
    low = start if data.reference is None else max(start - reach, layout.x(1))
    high = min(start + reach, layout.x(layout.size))
    ax.plot([low, high], [layout.axis - 0.32] * 2, color=ORANGE, linewidth=1.3, marker="|", markersize=5)


def _draw_words(ax: Axes, data: Ranks, layout: _Layout, digits: int) -> None:
    ax.text(0.05, 0.05, data.finding, ha="left", va="top", fontweight="bold")
    known = data.critical_difference == data.critical_difference
    words = f"critical difference {data.critical_difference:.{digits}f}, " if known else "decisions on the values, "
    said = f"Mean rank; {words}{data.by}, α = {data.alpha:g}, {data.instances} instances"
    ax.text(0.05, 0.24, said, ha="left", va="top", color=MUTED)


def _draw_stems(ax: Axes, data: Ranks, layout: _Layout) -> None:
    stems = []
    for place, (rank, text) in enumerate(zip(data.mean_ranks, layout.texts, strict=True)):
        at_left, y = place < layout.at_left, layout.y(place)
        edge = layout.left - 2 * GAP if at_left else layout.right + 2 * GAP
        stems.append([(layout.x(rank), layout.axis), (layout.x(rank), y), (edge, y)])
        found = place in (data.highlighted, data.reference)
        note = ax.text(edge - GAP if at_left else edge + GAP, y, text, ha="right" if at_left else "left", va="center")
        note.set(color=ACCENT if found else INK, fontweight="bold" if place == data.highlighted else "normal")
    _lines(ax, stems, color=MUTED, linewidth=0.7)
    special = [place for place in (data.highlighted, data.reference) if place is not None]
    _lines(ax, [stems[place] for place in special], color=ACCENT, linewidth=1.6)
    ax.plot([layout.x(rank) for rank in data.mean_ranks], [layout.axis] * layout.size, "o", color=INK, markersize=3)


def _lines(ax: Axes, lines: list[list[tuple[float, float]]], *, color: str, linewidth: float) -> None:
    """Many lines as one thing to draw: each by itself would cost more than the whole."""
    from matplotlib.collections import LineCollection

    ax.add_collection(LineCollection(lines, colors=color, linewidths=linewidth, zorder=2), autolim=False)
