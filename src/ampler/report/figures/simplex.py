"""The figure of the Bayesian signed-rank test of one pair: where random pairs of instances average, in a triangle."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.bayes import Chances
from ampler.analysis.bayes.words import probability
from ampler.analysis.units import margin_in_words
from ampler.core.arrays import Floats
from ampler.core.errors import InvalidInput
from ampler.report.figures.colours import BLUE, GREY
from ampler.report.figures.labels import labels, literal
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import entitle
from ampler.stats.bayes import signed_rank

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEXAGONS = 28  # from side to side
CORNERS = np.array([[0.0, 0.0], [0.5, sqrt(3) / 2], [1.0, 0.0]])  # worse, equivalent, better
WIDEST = 22


@dataclass(frozen=True, slots=True, eq=False)
class SimplexData:
    """The draws of one pair's test: shares of pairs of instances on each side, and how often each is the largest."""

    first: str  # labels
    second: str
    points: Floats  # worse, equivalent, better of the second algorithm: one row for each draw
    largest: Chances  # how often each is the largest
    margin: str  # in words

    @property
    def finding(self) -> str:
        """Which of the three is most often the largest share."""
        found = self.largest
        words = {
            f"{self.first} is better": found.worse,
            f"they are within {self.margin}": found.equivalent,
            f"{self.second} is better": found.better,
        }
        most = max(words, key=words.__getitem__)
        return f"{self.first} and {self.second}: most probably {most}"


def simplex_data(analysis: Analysis, first: str, second: str, *, draws: int = 50_000) -> SimplexData:
    """Return the draws of the Bayesian signed-rank test of one pair (Benavoli et al. 2017)."""
    if analysis.settings.margin is None:
        raise InvalidInput("the triangle needs a margin: analyse with margin=0.02, or what is too small to matter")
    if (first, second) not in analysis.pairs:
        raise InvalidInput(f"{first!r} and {second!r} are not compared, in this order")
    differences = analysis.differences[:, analysis.pairs.index((first, second))]
    test = signed_rank(differences[~np.isnan(differences)], margin=analysis.settings.margin, draws=draws)
    turned = analysis.settings.better == "higher"
    names = labels([first, second], WIDEST)
    return SimplexData(
        first=names[0],
        second=names[1],
        points=test.points[:, ::-1] if turned else test.points,
        largest=analysis.bayes.chances(test.areas),
        margin=literal(margin_in_words(analysis.settings.margin, analysis.settings)),
    )


def draw_simplex(data: SimplexData, ax: Axes | None = None) -> Axes:
    """Draw the draws as hexagons in a triangle; where one lies says which of the three is the largest."""
    with canvas(ax, height=3.0) as ax:
        ax.set_axis_off()
        ax.set_aspect("equal")
        ax.set_xlim(-0.3, 1.3)
        ax.set_ylim(-0.3, 1.08)
        _draw_hexagons(ax, data.points @ CORNERS)
        _draw_regions(ax)
        _write_corners(ax, data)
        entitle(ax, data.finding)
    return ax


def _draw_hexagons(ax: Axes, places: Floats) -> None:
    """Shades of one colour, so that a page in the dark keeps them."""
    from matplotlib.colors import to_rgba

    grid = (HEXAGONS, round(HEXAGONS / sqrt(3)))
    height = sqrt(3) / 2
    made = ax.hexbin(*places.T, gridsize=grid, extent=(0, 1, 0, height), mincnt=1, linewidths=0)
    counts = np.asarray(made.get_array(), dtype=float)
    shades = 0.12 + 0.88 * np.sqrt(counts / counts.max())
    made.set_array(None)
    made.set_facecolor([to_rgba(BLUE, shade) for shade in shades])
    made.set_edgecolor("none")


def _draw_regions(ax: Axes) -> None:
    ax.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color=GREY, linewidth=0.8)
    centre = CORNERS.mean(axis=0)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        middle = (CORNERS[i] + CORNERS[j]) / 2
        ax.plot(*np.vstack([centre, middle]).T, color=GREY, linewidth=0.8, linestyle="--")


def _write_corners(ax: Axes, data: SimplexData) -> None:
    words = (
        (f"{data.first}\nbetter", data.largest.worse, -0.03, "top"),
        (f"within {data.margin}", data.largest.equivalent, 0.03, "bottom"),
        (f"{data.second}\nbetter", data.largest.better, -0.03, "top"),
    )
    for (x, y), (name, chance, shift, side) in zip(CORNERS, words, strict=True):
        text = f"{name}\n{probability(chance)}"
        ax.text(x, y + shift, text, ha="center", va=side)
