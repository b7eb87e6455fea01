"""The figure of runs: how many each algorithm got on the instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ampler.analysis import Analysis
from ampler.core.arrays import Counts
from ampler.core.checks import choice
from ampler.report.figures.colours import BLUE, MUTED, ORANGE
from ampler.report.figures.labels import WIDEST, first_of, labels
from ampler.report.figures.rows import beside, fit_rows, lay_rows
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import entitle, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RunsOrder = Literal["given", "name", "runs"]

WIDE_SPREAD = 15.0  # largest over smallest number of runs, above which the axis is logarithmic
QUARTILES = (0, 25, 50, 75, 100)


@dataclass(frozen=True, slots=True, eq=False)
class RunsData:
    """The runs of each algorithm on each instance: algorithms from top to bottom, their counts sorted."""

    algorithms: tuple[str, ...]  # labels
    counts: Counts  # of an algorithm (row) on the instances (columns), smallest first
    reference: int | None  # the row of the reference

    @property
    def totals(self) -> tuple[int, ...]:
        """The runs of each algorithm in all."""
        return tuple(self.counts.sum(axis=1).tolist())

    @property
    def finding(self) -> str:
        """Who took most of the runs."""
        totals = self.totals
        if len(set(totals)) == 1:
            return f"Every algorithm had {totals[0]:,} runs"
        (most, *_), names = first_of(self.algorithms, totals)
        return f"{names} took most: {totals[most]:,} of {sum(totals):,} runs"


def runs_data(analysis: Analysis, *, order: RunsOrder = "given", widest: int = WIDEST) -> RunsData:
    """Return how the runs were distributed over the algorithms (Campelo & Wanner 2019, Figure 4).

    `order` is that of the algorithms ("given"), by "name", or by the total of the "runs", largest first.
    """
    choice("order", order, ("given", "name", "runs"), "it says how the rows follow each other")
    names = [row.algorithm for row in analysis.algorithms]
    counts = np.array([row.runs for row in analysis.accuracy], np.int64).T
    keys = {
        "given": lambda place: place,
        "name": lambda place: names[place].casefold(),
        "runs": lambda place: -int(counts[place].sum()),
    }
    places = sorted(range(len(names)), key=keys[order])
    reference = analysis.settings.reference
    return RunsData(
        algorithms=labels([names[place] for place in places], widest),
        counts=np.sort(counts[places], axis=1),
        reference=None if reference is None else places.index(names.index(reference)),
    )


def draw_runs(data: RunsData, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the runs per instance of each algorithm: every instance, the quartiles, the total."""
    with canvas(ax) as ax:
        for place, counts in enumerate(data.counts):
            _draw_row(ax, place, counts, ORANGE if place == data.reference else BLUE)
        lay_rows(ax, data.algorithms)
        _choose_scale(ax, data)
        for place, total in enumerate(data.totals):
            beside(ax, place, f"{total:,}", color=MUTED)
        entitle(ax, data.finding)
        explain(ax, "Runs on one instance (right: in all)", "Box: quartiles; dots: numbers that occur")
        fit_rows(ax, len(data.algorithms))
    return ax


def _draw_row(ax: Axes, place: int, counts: Counts, color: str) -> None:
    """A dot for each number of runs that occurs, the box from quartile to quartile, and the median."""
    _, first, middle, third, _ = np.percentile(counts, QUARTILES)
    seen = np.unique(counts)
    ax.plot(seen, np.full(len(seen), place), "o", color=color, alpha=0.45, markersize=2.4, markeredgewidth=0)
    ax.barh(place, third - first, left=first, height=0.56, color=color, alpha=0.35, linewidth=0)
    ax.plot([middle, middle], [place - 0.34, place + 0.34], color=color, linewidth=1.4, solid_capstyle="butt")


def _choose_scale(ax: Axes, data: RunsData) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    smallest, largest = int(data.counts.min()), int(data.counts.max())
    if smallest == 0 or largest <= WIDE_SPREAD * smallest:
        ax.set_xlim(left=0)
        return
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlim(0.93 * smallest, 1.07 * largest)
