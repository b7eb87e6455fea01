"""The figure of two algorithms over the instances: the value of one against that of the other, and who is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ampler.analysis import Analysis
from ampler.core.arrays import Bools, Floats
from ampler.core.choices import Better
from ampler.core.errors import InvalidInput
from ampler.core.wording import named
from ampler.report.figures.colours import ACCENT, CONTRAST, MUTED, UNDECIDED
from ampler.report.figures.labels import instance_labels, labels
from ampler.report.figures.style import COLUMN, canvas
from ampler.report.figures.titles import entitle, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDEST = 20  # characters of a name on an axis
WIDE_SPREAD = 50.0  # largest over smallest value, above which both axes are logarithmic
BEYOND = 0.04  # of the range, around the values


@dataclass(frozen=True, slots=True, eq=False)
class ScatterData:
    """The statistic of two algorithms on each instance that both have."""

    names: tuple[str, str]  # labels
    instances: tuple[str, ...]  # labels
    first: Floats
    second: Floats
    statistic: str
    better: Better

    @property
    def wins(self) -> tuple[int, int, int]:
        """On how many instances the first is better, on how many they tie, on how many the second is better."""
        return int(self.ahead.sum()), int((self.first == self.second).sum()), int(self.behind.sum())

    @property
    def ahead(self) -> Bools:
        """Where the first is better."""
        return self.first < self.second if self.better == "lower" else self.first > self.second

    @property
    def behind(self) -> Bools:
        """Where the second is better."""
        return np.asarray(~self.ahead & (self.first != self.second))

    @property
    def finding(self) -> str:
        """Who is better on how many instances."""
        won, _, lost = self.wins
        if won == lost:
            return f"{named(self.names)} are each better on {won} of {len(self.first)} instances"
        (winner, loser), most = (self.names, won) if won >= lost else (self.names[::-1], lost)
        return f"{winner} is better than {loser} on {most} of {len(self.first)} instances"


def scatter_data(analysis: Analysis, first: str, second: str, *, widest: int = WIDEST) -> ScatterData:
    """Return the values of two algorithms on the instances that both have, any two of the analysis."""
    names = [row.algorithm for row in analysis.algorithms]
    for name in (first, second):
        if name not in names:
            raise InvalidInput(f"the algorithms must be of the analysis, such as {names[0]!r}, got {name!r}")
    x, y = (analysis.statistics[:, names.index(name)] for name in (first, second))
    there = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    places = instance_labels(analysis)
    both = labels([first, second], widest)
    return ScatterData(
        names=(both[0], both[1]),
        instances=tuple(places[k] for k in there),
        first=x[there],
        second=y[there],
        statistic=analysis.settings.statistic_name,
        better=analysis.settings.better,
    )


def draw_scatter(data: ScatterData, ax: Axes | None = None) -> Axes:
    """Draw one against the other; on the diagonal they are equal, and each side says who is better there."""
    with canvas(ax, width=COLUMN, height=COLUMN + 0.35) as ax:
        low, high = _range(ax, data)
        ax.plot([low, high], [low, high], color=MUTED, linewidth=0.9)
        rest = ~data.ahead & ~data.behind
        for chosen, color, marker in ((data.ahead, ACCENT, "^"), (data.behind, CONTRAST, "v"), (rest, UNDECIDED, "o")):
            ax.plot(data.first[chosen], data.second[chosen], marker, color=color, markersize=4.2, alpha=0.8)
        ax.set(xlim=(low, high), ylim=(low, high))
        ax.set_aspect("equal")
        ax.set_ylabel(f"{data.names[1]}, {data.statistic}")
        above, below = data.names if data.better == "lower" else data.names[::-1]
        ax.text(0.03, 0.97, f"{above} better", transform=ax.transAxes, ha="left", va="top", color=MUTED)
        ax.text(0.97, 0.03, f"{below} better", transform=ax.transAxes, ha="right", va="bottom", color=MUTED)
        entitle(ax, data.finding)
        explain(ax, f"{data.names[0]}, {data.statistic}", "A mark is an instance; on the line both are equal")
    return ax


def _range(ax: Axes, data: ScatterData) -> tuple[float, float]:
    """The common range of both axes, which are logarithmic where values differ very much."""
    values = np.concatenate([data.first, data.second])
    low, high = float(values.min()), float(values.max())
    if low > 0 and high > WIDE_SPREAD * low:
        ax.set_xscale("log")
        ax.set_yscale("log")
        around = (high / low) ** BEYOND
        return low / around, high * around
    around = BEYOND * (high - low) or abs(low) or 1.0
    return low - around, high + around
