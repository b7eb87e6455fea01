"""The Pareto map: algorithms by two measures, as differences to one of them, with joint intervals both ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ampler.analysis.measures import MeasuresAnalysis, Standing
from ampler.core.arrays import Floats
from ampler.core.errors import InvalidInput
from ampler.report.figures import canvas as fig
from ampler.report.theme import ACCENT, INK, MUTED
from ampler.stats import paired

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS: dict[Standing, tuple[str, str, str]] = {  # marker, colour of its face and of its edge
    "front": ("o", ACCENT, ACCENT),
    "dominated": ("X", "white", MUTED),
    "not known": ("o", "white", INK),
}
KINDS = {"simple": "difference to", "percent": "share more than", "ratio": "log ratio to"}


@dataclass(frozen=True, slots=True)
class ParetoData:
    """Differences to one algorithm: algorithms in rows; estimate, lower and upper limit in columns."""

    algorithms: tuple[str, ...]
    standings: tuple[Standing, ...]
    labels: tuple[str, str]
    x: Floats
    y: Floats
    level: float

    @property
    def finding(self) -> str:
        """How many are on the front, and how many are dominated."""
        front, dominated = (self.standings.count(what) for what in ("front", "dominated"))
        return f"{front} of {len(self.standings)} on the Pareto front, {dominated} dominated"


def pareto_data(
    analysis: MeasuresAnalysis, x: str | None = None, y: str | None = None, *, base: str | None = None
) -> ParetoData:
    """Return the map of two measures, by default the first two that are tested.

    The intervals hold jointly over all pairs and both measures, so `base` (by default the first algorithm) may be
    chosen after the results. Differences are those of the analyses: logarithms for ratios.
    """
    if not analysis.front:
        raise InvalidInput("the Pareto map needs all pairs and two tested measures; omit the reference")
    tested = [measure.name for measure in analysis.measures if measure.role != "descriptive"]
    algorithms = tuple(row.algorithm for row in analysis.front)
    names, base = (x or tested[0], y or tested[1]), base or algorithms[0]
    for name, options in ((names[0], tested), (names[1], tested), (base, algorithms)):
        if name not in options:
            raise InvalidInput(f"there is no {name!r} to draw; choose one of {', '.join(options)}")
    level = analysis.alpha / (2 * len(analysis.pairs))

    def coordinates(measure: str) -> Floats:
        own = analysis.analyses[measure]
        method, rows = paired.paired_test(own.settings.paired_test), []
        for name in algorithms:
            if name == base:
                rows.append((0.0, 0.0, 0.0))
                continue
            column = own.differences[:, next(k for k, pair in enumerate(own.pairs) if {*pair} == {name, base})]
            sample = paired.present(column if (name, base) in own.pairs else -column)
            bounds = paired.sample_interval(method, sample, "two-sided", level)
            rows.append((paired.sample_estimate(method, sample), bounds.lower, bounds.upper))
        return np.array(rows)

    standings = tuple(row.standing for row in analysis.front)
    kinds = {measure.name: measure.difference for measure in analysis.measures}
    labels = [f"{name}, {KINDS[kinds[name]]} {base}" for name in names]
    return ParetoData(
        algorithms,
        standings,
        (labels[0], labels[1]),
        x=coordinates(names[0]),
        y=coordinates(names[1]),
        level=1 - analysis.alpha,
    )


def draw_pareto(data: ParetoData, ax: Axes | None = None) -> Axes:
    """Draw a cross for each algorithm; the marker shows whether it is on the front, dominated or not known."""
    with fig.canvas(ax, width=fig.COLUMN, height=3.0) as ax:
        for name, standing, x, y in zip(data.algorithms, data.standings, data.x, data.y, strict=True):
            marker, face, edge = MARKERS[standing]
            ends = [np.nan_to_num(np.abs(side[1:, None] - side[0]), posinf=0.0) for side in (x, y)]
            ax.errorbar(x[0], y[0], xerr=ends[0], yerr=ends[1], color=MUTED, linewidth=0.9, zorder=2)
            ax.plot(x[0], y[0], marker, markerfacecolor=face, markeredgecolor=edge, markersize=6, zorder=3)
            ax.annotate(name, (x[0], y[0]), textcoords="offset points", xytext=(5, 4), color=INK)
        ax.set_ylabel(data.labels[1])
        level = f"Lines: simultaneous {100 * data.level:g} % CIs"
        marks = "Filled: on the front", "Cross: dominated", "Open: not known"
        fig.describe(ax, data.finding, data.labels[0], level, *marks)
    return ax
