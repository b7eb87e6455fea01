"""The figures of a study that found its own size: what the pilot showed of each comparison, and where the runs went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.grown import pilot_test
from ampler.core.arrays import Interval
from ampler.core.errors import InvalidData
from ampler.design.pilot import PilotReport
from ampler.report.figures.colours import BLUE, GREY, MUTED, ORANGE, PAPER, SKY
from ampler.report.figures.labels import WIDEST, labels, pair_labels
from ampler.report.figures.numbers import difference_name, write_in_unit
from ampler.report.figures.rows import fit_rows, lay_rows, legend_above
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import entitle, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 60  # rows that can still be told apart on one page
USUAL = 0.05  # level of the intervals where the pilot's tests decide nothing


@dataclass(frozen=True, slots=True)
class PilotData:
    """The comparisons after the pilot, in the order of pairs: means, intervals at the pilot's levels, who was clear."""

    labels: tuple[str, ...]
    means: tuple[float, ...]
    intervals: tuple[Interval, ...]
    clear: tuple[bool, ...]
    detect: float
    difference: str
    name: str  # of the axis
    instances: int
    left_out: int  # comparisons that are not shown


@dataclass(frozen=True, slots=True)
class SpendingData:
    """The runs of each algorithm: in the pilot, on its instances later, and on the others."""

    algorithms: tuple[str, ...]
    pilot: tuple[int, ...]  # on its instances, at first
    topped_up: tuple[int, ...]  # on its instances, later
    new: tuple[int, ...]  # on the others
    planned: int  # instances
    total: int


def pilot_data(analysis: Analysis, *, most: int = MOST, widest: int = WIDEST) -> PilotData:
    """Return what the pilot showed of the comparisons, the first `most` of them."""
    course = _course(analysis)
    level = (course.share or USUAL / course.alpha) * course.alpha / len(course.pairs)
    intervals = pilot_test(course).intervals(level)[:most]
    shown = len(intervals)
    return PilotData(
        labels=pair_labels(analysis, course.pairs[:most], widest),
        means=course.means[:most],
        intervals=tuple((low, high) for low, high in intervals.tolist()),
        clear=course.clear[:most],
        detect=course.detect,
        difference=course.difference,
        name=difference_name(analysis),
        instances=course.pilot,
        left_out=len(course.pairs) - shown,
    )


def spending_data(analysis: Analysis, *, widest: int = WIDEST) -> SpendingData:
    """Return where the runs of a study went that found its own size."""
    course = _course(analysis)
    names = [row.algorithm for row in analysis.algorithms]
    counts = np.array([row.runs for row in analysis.accuracy], np.int64)
    first = np.array([row.instance in set(course.instances) for row in analysis.accuracy])
    of_pilot = np.minimum(counts[first], course.start)
    return SpendingData(
        algorithms=labels(names, widest),
        pilot=tuple(of_pilot.sum(axis=0).tolist()),
        topped_up=tuple((counts[first] - of_pilot).sum(axis=0).tolist()),
        new=tuple(counts[~first].sum(axis=0).tolist()),
        planned=course.planned,
        total=int(counts.sum()),
    )


def draw_pilot(data: PilotData, ax: Axes | None = None) -> Axes:
    """Draw the means of the pilot with their intervals; diamonds were clear, the band is what need not be found."""
    with canvas(ax) as ax:
        ax.axvspan(-data.detect, data.detect, color=GREY, alpha=0.15, linewidth=0)
        ax.axvline(0.0, color=MUTED, linewidth=0.9)
        for clear, color, marker in ((True, ORANGE, "D"), (False, BLUE, "o")):
            _draw_rows(ax, data, [place for place, each in enumerate(data.clear) if each is clear], color, marker)
        lay_rows(ax, data.labels)
        write_in_unit(ax.xaxis, data.difference)
        more = f"{data.left_out} more comparisons are not shown" if data.left_out else ""
        entitle(ax, f"{sum(data.clear)} of {len(data.clear)} comparisons were clear after the pilot")
        explain(ax, data.name, f"after {data.instances} instances; diamonds: clear; band: too small to be found", more)
        fit_rows(ax, len(data.labels), labels=data.labels)
    return ax


def draw_spending(data: SpendingData, ax: Axes | None = None) -> Axes:
    """Draw the runs of each algorithm as a bar: those of the pilot, those added on its instances, those on others."""
    with canvas(ax) as ax:
        left = np.zeros(len(data.algorithms))
        for part, name, color, hatch in (
            (data.pilot, "Pilot", ORANGE, ""),
            (data.topped_up, "Added there", SKY, "////"),
            (data.new, "Other", BLUE, ""),
        ):
            bars = ax.barh(range(len(left)), part, left=left, height=0.62, label=name)
            for bar in bars:
                bar.set(facecolor=color, hatch=hatch, edgecolor=PAPER, linewidth=0)
            left = left + np.array(part)
        lay_rows(ax, data.algorithms)
        entitle(ax, f"{sum(data.pilot):,} of {data.total:,} runs were the pilot's")
        explain(ax, f"Runs on {data.planned} instances")
        legend_above(ax, columns=3)
        fit_rows(ax, len(data.algorithms), above=0.25)
    return ax


def _draw_rows(ax: Axes, data: PilotData, places: list[int], color: str, marker: str) -> None:
    if not places:
        return
    lows, highs = zip(*(data.intervals[place] for place in places), strict=True)
    reach = [abs(end) for bounds in data.intervals for end in bounds if np.isfinite(end)]
    far = 1.1 * max([*reach, data.detect, *map(abs, data.means)])
    ax.hlines(places, np.maximum(lows, -far), np.minimum(highs, far), color=color, linewidth=1.4)
    name = "Clear after the pilot" if marker == "D" else "Went on"
    means = [data.means[place] for place in places]
    ax.plot(means, places, linestyle="none", marker=marker, color=color, markersize=3.4, label=name)


def _course(analysis: Analysis) -> PilotReport:
    if analysis.course is None:
        raise InvalidData("this figure is of a study that found its own size (detect), and the analysis is of another")
    return analysis.course
