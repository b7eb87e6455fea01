"""The panel of subgroups: the same comparison on groups of instances. Exploratory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from ampler.analysis import Analysis, Subgroup
from ampler.core.arrays import Interval
from ampler.core.errors import InvalidInput
from ampler.report.axis import axis_of
from ampler.report.figures.colours import LOOKS, MUTED
from ampler.report.figures.labels import WIDEST, labels, pair_labels
from ampler.report.figures.numbers import difference_name, unit_of
from ampler.report.figures.rows import fit_rows, lay_rows, legend_above
from ampler.report.figures.split import split_words, write_axis
from ampler.report.figures.style import COLUMN, canvas
from ampler.report.figures.titles import WORDS, entitle, explain
from ampler.stats.paired import ESTIMANDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 12  # comparisons in one panel
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
        """How many comparisons look different from group to group. Exploratory."""
        sides = [
            {(low > self.neutral) - (high < self.neutral) for mark in row for low, high in [mark.interval]}
            for row in self.marks
        ]
        turned = sum(len(side) > 1 for side in sides)
        one = len(self.pairs) == 1
        return f"{turned} of {len(self.pairs)} comparison{'' if one else 's'} look different by {self.feature}"


def subgroups_data(
    analysis: Analysis, feature: str | None = None, *, most: int | None = MOST, widest: int = WIDEST
) -> Subgroups:
    """Return the first comparisons, in Holm's order, on every group of a feature (the first feature if none is named).

    Exploratory: the intervals are not adjusted for the number of comparisons or groups.
    """
    feature = _feature(analysis, feature)
    cells = {(each.value, each.first, each.second): each for each in analysis.subgroups if each.feature == feature}
    sizes: dict[str, int] = {}
    for each in cells.values():  # a pair may lack some instances of a group
        sizes[each.value] = max(each.instances, sizes.get(each.value, 0))
    found = analysis.comparisons[:most]
    estimand = ESTIMANDS[found[0].estimate_of]
    return Subgroups(
        feature=labels([feature])[0],
        groups=tuple(f"{text} ({sizes[value]})" for value, text in zip(sizes, labels(list(sizes), 16), strict=True)),
        pairs=pair_labels(analysis, [(each.first, each.second) for each in found], widest),
        marks=tuple(tuple(_mark(cells.get((value, each.first, each.second))) for value in sizes) for each in found),
        left_out=len(analysis.comparisons) - len(found),
        alpha=analysis.settings.alpha,
        neutral=estimand.neutral,
        name=estimand.axis or difference_name(analysis),
        difference="share" if estimand.is_share else unit_of(analysis),
    )


def draw_subgroups(data: Subgroups, ax: Axes | None = None) -> Axes:
    """Draw each comparison with a mark per group; colours and markers tell the groups apart."""
    size = len(data.groups)
    with canvas(ax, width=COLUMN) as ax:
        ax.axvline(data.neutral, color=MUTED, linewidth=0.9)
        for group, (text, (color, marker)) in enumerate(zip(data.groups, LOOKS, strict=False)):
            offset = 0.7 * ((group + 0.5) / size - 0.5)
            places = [row + offset for row in range(len(data.pairs))]
            _draw_group(ax, [row[group] for row in data.marks], places, text, color, marker)
        lay_rows(ax, data.pairs)
        axis = axis_of(list(_ends(data)), data.difference, always=(data.neutral,), most=4)
        write_axis(ax, axis, data.difference)
        more = f"{data.left_out} more comparisons are not shown" if data.left_out else ""
        entitle(ax, data.finding)
        explain(ax, data.name, f"{100 * (1 - data.alpha):g} % intervals, unadjusted", split_words(axis), more)
        across = max(1, min(3, LEGEND // (5 + max(map(len, data.groups)))))
        legend_above(ax, columns=across, title=data.feature)
        above = WORDS * (1.4 + ceil(size / across))
        fit_rows(ax, len(data.pairs) * max(1.4, 0.7 * size), labels=data.pairs, above=above)
    return ax


def _feature(analysis: Analysis, wanted: str | None) -> str:
    known = list(dict.fromkeys(each.feature for each in analysis.subgroups))
    if not known:
        raise InvalidInput("the analysis must have subgroups to draw, got none; give features of the instances")
    if wanted is not None and wanted not in known:
        raise InvalidInput(f"the feature must be one of {', '.join(map(repr, known))}, got {wanted!r}")
    return wanted if wanted is not None else known[0]


def _mark(group: Subgroup | None) -> GroupMark:
    """A mark; one that is nowhere where a pair lacks the group."""
    return GroupMark(math.nan, (math.nan, math.nan)) if group is None else GroupMark(group.estimate, group.interval)


def _ends(data: Subgroups) -> Iterator[tuple[float, float, float]]:
    """Lower end, estimate and upper end of every mark."""
    for row in data.marks:
        for mark in row:
            yield mark.interval[0], mark.estimate, mark.interval[1]


def _draw_group(ax: Axes, marks: list[GroupMark], places: list[float], text: str, color: str, marker: str) -> None:
    lows = [mark.interval[0] if math.isfinite(mark.interval[0]) else mark.estimate for mark in marks]
    highs = [mark.interval[1] if math.isfinite(mark.interval[1]) else mark.estimate for mark in marks]
    ax.hlines(places, lows, highs, color=color, linewidth=1.1)
    ax.plot([mark.estimate for mark in marks], places, marker, color=color, markersize=4, label=text)
