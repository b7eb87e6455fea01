"""The figure of rankings: how probably each algorithm is better than each other, and the best of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ampler.analysis import Analysis
from ampler.core.arrays import Floats
from ampler.core.errors import InvalidInput
from ampler.report.figures.colours import BLUE, GREY, ORANGE
from ampler.report.figures.labels import labels
from ampler.report.figures.style import COLUMN, LETTERS, PAGE, canvas
from ampler.report.figures.titles import entitle, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 30  # algorithms whose squares can still be seen
WRITTEN = 12  # up to here every square holds its number
CELL = 0.26  # inches
CELL_LETTERS = 8.0  # points: two digits and a point fit a square
NARROW = 3  # algorithms that fit a column
WIDEST = 24  # characters of a name
BARS = 0.32  # of the width of the squares


@dataclass(frozen=True, slots=True, eq=False)
class BestData:
    """Algorithms, best first by rankings alone; `left_out` of the last are not shown."""

    algorithms: tuple[str, ...]  # labels
    best: Floats  # P(the best of all)
    win: Floats  # the chance to be first on an instance
    better: Floats  # P(row better than column)
    left_out: int
    instances: int

    @property
    def finding(self) -> str:
        """Who is probably the best of all."""
        return f"{self.algorithms[0]} is the best of all with probability {self.best[0]:.2f}"


def best_data(analysis: Analysis, *, most: int | None = MOST, widest: int = WIDEST) -> BestData:
    """Return the ranking of the algorithms (Plackett-Luce), the first `most` of them (None: all)."""
    found = analysis.bayes.ranking
    if found is None:
        raise InvalidInput(f"there is no ranking to draw: {analysis.bayes.ranking_problem}")
    shown = len(found.algorithms[:most])
    return BestData(
        algorithms=labels(found.algorithms[:shown], widest),
        best=found.best[:shown],
        win=found.win[:shown],
        better=found.better[:shown, :shown],
        left_out=len(found.algorithms) - shown,
        instances=found.instances,
    )


def draw_best(data: BestData, ax: Axes | None = None) -> Axes:
    """Draw squares: blue where the row is probably better than the column, orange where worse; bars for the best."""
    size = len(data.algorithms)
    with canvas(ax, width=COLUMN if size <= NARROW else PAGE, height=max(1.0, CELL * size) + 1.25) as ax:
        _draw_squares(ax, data)
        _draw_bars(ax, data)
        places = list(range(size))
        ax.set_yticks(places, [f"{name}  {place + 1}" for place, name in enumerate(data.algorithms)])
        ax.set_xticks(places, [str(place + 1) for place in places])
        ax.tick_params(length=0)
        ax.tick_params(axis="x", labelsize=LETTERS if size <= WRITTEN else 6)
        ax.set_ylim(size - 0.4, -0.6)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        _explain_squares(ax, data)
    return ax


def _draw_squares(ax: Axes, data: BestData) -> None:
    """One collection of all squares but the diagonal, as files with hundreds of single ones are large."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    size = len(data.algorithms)
    cells = [(row, column) for row in range(size) for column in range(size) if row != column]
    squares = [Rectangle((column - 0.46, row - 0.46), 0.92, 0.92) for row, column in cells]
    shades = [_shade(float(data.better[cell])) for cell in cells]
    ax.add_collection(PatchCollection(squares, facecolors=shades, edgecolors=GREY, linewidths=0.2))
    for row, column in cells if size <= WRITTEN else ():
        ax.text(column, row, _short(float(data.better[row, column])), ha="center", va="center", fontsize=CELL_LETTERS)


def _short(chance: float) -> str:
    """A probability in a square; what is nearly certain is not called certain."""
    return "<.01" if chance < 0.005 else ">.99" if chance > 0.995 else f"{chance:.2f}".removeprefix("0")


def _shade(chance: float) -> tuple[float, float, float, float]:
    """Blue above ½, orange below, the stronger the surer."""
    from matplotlib.colors import to_rgba

    return to_rgba(BLUE, 0.75 * (2 * chance - 1)) if chance >= 0.5 else to_rgba(ORANGE, 0.75 * (1 - 2 * chance))


def _draw_bars(ax: Axes, data: BestData) -> None:
    """P(best) at the right of the squares, with its number and the chance to be first."""
    size = len(data.algorithms)
    start, width = size + 0.2, max(2.0, BARS * size)
    last = start + 1.85 * width
    ax.set_xlim(-0.6, last + 0.2 * width)
    ax.barh(range(size), width * data.best, left=start, height=0.6, color=BLUE)
    ax.vlines(start, -0.5, size - 0.5, color=GREY, linewidth=0.6)
    for place, (best, win) in enumerate(zip(data.best, data.win, strict=True)):
        ax.text(start + width * (best + 0.03), place, f"{best:.2f}", va="center", fontsize=CELL_LETTERS)
        ax.text(last, place, f"{win:.2f}", ha="center", va="center", fontsize=CELL_LETTERS)
    for x, name, side in ((start, "best\nof all", "left"), (last, "first on\nan instance", "center")):
        ax.text(x, -0.7, name, ha=side, va="bottom", fontsize=CELL_LETTERS)


def _explain_squares(ax: Axes, data: BestData) -> None:
    more = f"; {data.left_out} more are not shown" if data.left_out else ""
    entitle(ax, data.finding)
    explain(ax, f"Probability that the row is better than the column: blue above ½, orange below{more}")
