"""Figures of probabilities: all comparisons next to the margin, one pair in a triangle, and rankings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.bayes import SIDES, Chances, displayed_chances, probability, three, verdict_label
from ampler.analysis.units import margin_text
from ampler.core.arrays import Floats, Interval
from ampler.core.errors import InvalidInput
from ampler.report.figures import canvas as fig
from ampler.report.figures.pairs import column_of
from ampler.report.theme import BLUE, EQUIVALENT, GREY, INK, MUTED, ORANGE, PAPER, VERDICTS
from ampler.stats.bayes.signed_rank import signed_rank
from ampler.stats.paired import present

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ProbableData", "ProbableRow", "draw_probable", "probable_data"]
__all__ += ["SimplexData", "draw_simplex", "simplex_data"]
__all__ += ["BestData", "best_data", "draw_best"]

MAX_ROWS = 60  # rows that can still be distinguished on one page
STEP = 70  # points from one column of numbers to the next
DWARFED = 10  # maximum end in medians, so that large differences do not hide others


@dataclass(frozen=True, slots=True)
class ProbableRow:
    """One comparison: its label, the posterior of its mean and of a new instance, three probabilities, verdict."""

    label: str
    mean: float
    interval: Interval
    new_interval: Interval
    probabilities: str  # worse, equivalent, better, for the mean
    new_probabilities: str
    kind: str  # of the verdict; inconclusive, too, without a margin
    verdict: str  # in a word or two


@dataclass(frozen=True, slots=True)
class ProbableData:
    """The comparisons from top to bottom, `left_out` of them not shown, and what their numbers mean."""

    rows: tuple[ProbableRow, ...]
    left_out: int
    margin: float | None
    level: float
    difference: str
    name: str  # of the axis
    linear: float | None  # beyond this the axis is logarithmic; None: nowhere

    @property
    def finding(self) -> str:
        """State the number of comparisons with each verdict."""
        if self.margin is None:
            return "Posterior of each difference"
        kinds = Counter(row.kind for row in self.rows if row.kind != "inconclusive")
        if not kinds:
            return f"None of {len(self.rows)} comparisons has a verdict"
        counts = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
        return f"{kinds.total()} of {len(self.rows)} comparisons have a verdict: {counts}"


def probable_data(analysis: Analysis, *, most: int | None = MAX_ROWS, widest: int = fig.WIDEST) -> ProbableData:
    """Return the comparisons that have a posterior, in Holm's order; only the first `most` are kept (None: all)."""
    bayes = analysis.bayes
    comparisons = [comparison for comparison in bayes.comparisons if comparison.posterior is not None]
    if not comparisons:
        raise InvalidInput("no comparison has a posterior: three or more instances are needed")
    shown = comparisons[:most]
    texts = fig.pair_labels(analysis, [(row.first, row.second) for row in shown], widest)
    sign, rows = fig.display_sign(analysis), []
    for text, comparison in zip(texts, shown, strict=True):
        posterior, verdict = comparison.posterior, verdict_label(comparison, bayes)
        assert posterior is not None
        low, high = sorted(sign * end for end in posterior.interval)
        new_low, new_high = sorted(sign * end for end in posterior.new_interval)
        row = ProbableRow(
            label=text,
            mean=sign * posterior.mean,
            interval=(low, high),
            new_interval=(new_low, new_high),
            probabilities=three(displayed_chances(comparison.chances, bayes)),
            new_probabilities=three(displayed_chances(comparison.new_chances, bayes)),
            kind="inconclusive" if comparison.verdict is None else verdict,
            verdict=verdict,
        )
        rows.append(row)
    ends = np.abs([row.interval for row in rows]).max(axis=1)
    typical = float(np.median(ends))
    is_linear = not ends.max() > DWARFED * typical or typical == 0
    return ProbableData(
        rows=tuple(rows),
        left_out=len(comparisons) - len(shown),
        margin=bayes.margin,
        level=bayes.level,
        difference=fig.unit_of(analysis),
        name=fig.difference_name(analysis),
        linear=None if is_linear else max(typical, 2 * (bayes.margin or 0.0)),
    )


def draw_probable(data: ProbableData, ax: Axes | None = None) -> Axes:
    """Draw the margin as a band, thick lines for the mean, thin ones for a new instance, probabilities at the right."""
    from matplotlib.ticker import SymmetricalLogLocator

    with fig.canvas(ax, width=fig.PAGE) as ax:
        ax.axvline(0.0, color=MUTED, linewidth=0.9)
        if data.margin is not None:
            ax.axvspan(-data.margin, data.margin, color=EQUIVALENT, alpha=0.12, linewidth=0)
        for index, row in enumerate(data.rows):
            color, marker = VERDICTS[row.kind]
            edge: dict[str, Any] = {"markersize": 4.6, "markeredgecolor": PAPER, "markeredgewidth": 0.5}
            ax.hlines(index, *row.new_interval, color=color, linewidth=0.7)
            ax.hlines(index, *row.interval, color=color, linewidth=2.4)
            ax.plot([row.mean], [index], marker=marker, color=color, **edge)
        fig.lay_rows(ax, [row.label for row in data.rows])
        if data.linear is not None:
            ax.set_xscale("symlog", linthresh=data.linear, linscale=2.0)
        fig.write_in_unit(ax.xaxis, data.difference)
        if data.linear is not None:
            ax.xaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=data.linear, subs=[1]))
        columns = {  # at the right of each row
            "on average": [row.probabilities for row in data.rows],
            "new instance": [row.new_probabilities for row in data.rows],
        } | ({} if data.margin is None else {"verdict": [row.verdict for row in data.rows]})
        for column, (name, texts) in enumerate(columns.items()):
            for index, text in [(-1, name), *enumerate(texts)]:
                fig.beside(ax, index, text, points=6 + STEP * column, color=MUTED if index < 0 else INK)
        thick = f"Thick: mean over instances; thin: a new instance ({100 * data.level:g} %)"
        scale = "" if data.linear is None else "The axis is linear in the middle and logarithmic beyond"
        three_of = f"Three probabilities: {', '.join(SIDES)}"
        fig.describe(ax, data.finding, data.name, thick, three_of, scale, fig.not_shown(data.left_out))
        fig.fit_rows(ax, max(len(data.rows), 2.2) + 1.2, labels=[row.label for row in data.rows])
    return ax


HEXAGONS = 28  # from side to side
CORNERS = np.array([[0.0, 0.0], [0.5, sqrt(3) / 2], [1.0, 0.0]])  # worse, equivalent, better
CORNER_WIDTH = 22


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
        """State the region that most often has the largest share."""
        chances = {
            f"{self.first} is better": self.largest.worse,
            f"they are within {self.margin}": self.largest.equivalent,
            f"{self.second} is better": self.largest.better,
        }
        most = max(chances, key=chances.__getitem__)
        return f"{self.first} and {self.second}: most probably {most}"


def simplex_data(analysis: Analysis, first: str, second: str, *, draws: int = 50_000) -> SimplexData:
    """Return the draws of the Bayesian signed-rank test of one pair (Benavoli et al. 2017)."""
    if analysis.settings.margin is None:
        raise InvalidInput(
            "the triangle needs a margin, the smallest difference that matters: analyse with margin=0.02"
        )
    column, _ = column_of(analysis, first, second)
    first, second = analysis.pairs[column]
    differences = present(analysis.differences[:, column])
    test = signed_rank(differences, margin=analysis.settings.margin, draws=draws)
    turned = analysis.settings.better == "higher"
    names = fig.labels([first, second], CORNER_WIDTH)
    return SimplexData(
        first=names[0],
        second=names[1],
        points=test.points[:, ::-1] if turned else test.points,
        largest=analysis.bayes.chances(test.areas),
        margin=fig.literal(margin_text(analysis.settings.margin, analysis.settings)),
    )


def draw_simplex(data: SimplexData, ax: Axes | None = None) -> Axes:
    """Draw the draws as hexagons in a triangle; where one lies says which of the three is the largest."""
    from matplotlib.colors import to_rgba

    with fig.canvas(ax, height=3.0) as ax:
        ax.set_axis_off()
        ax.set(aspect="equal", xlim=(-0.3, 1.3), ylim=(-0.3, 1.08))
        grid, size = (HEXAGONS, round(HEXAGONS / sqrt(3))), (0, 1, 0, sqrt(3) / 2)
        hexagons = ax.hexbin(*(data.points @ CORNERS).T, gridsize=grid, extent=size, mincnt=1, linewidths=0)
        counts = np.asarray(hexagons.get_array(), dtype=float)
        shades = 0.12 + 0.88 * np.sqrt(counts / counts.max())
        hexagons.set_array(None)
        hexagons.set_facecolor([to_rgba(BLUE, shade) for shade in shades])  # one colour: the dark of a page keeps it
        hexagons.set_edgecolor("none")
        ax.plot(*CORNERS[[0, 1, 2, 0]].T, color=GREY, linewidth=0.8)
        for middle in (CORNERS + CORNERS[[1, 2, 0]]) / 2:
            ax.plot(*np.vstack([CORNERS.mean(axis=0), middle]).T, color=GREY, linewidth=0.8, linestyle="--")
        corners = (
            (f"{data.first}\nbetter", data.largest.worse, -0.03, "top"),
            (f"within {data.margin}", data.largest.equivalent, 0.03, "bottom"),
            (f"{data.second}\nbetter", data.largest.better, -0.03, "top"),
        )
        for (x, y), (name, chance, shift, side) in zip(CORNERS, corners, strict=True):
            ax.text(x, y + shift, f"{name}\n{probability(chance)}", ha="center", va=side)
        fig.describe(ax, data.finding)
    return ax


MAX_RANKED = 30  # maximum number of algorithms
WRITTEN = 12  # maximum number of algorithms with numbers in the squares
CELL = 0.26  # inches
CELL_LETTERS = 8.0  # points: two digits and a point fit a square
NARROW = 3  # algorithms that fit a column
RANKED_WIDTH = 24  # characters of a name
BARS = 0.32  # of the width of the squares


@dataclass(frozen=True, slots=True, eq=False)
class BestData:
    """Ranking of the algorithms, best first; the last `left_out` ones are not shown."""

    algorithms: tuple[str, ...]  # labels
    best: Floats  # P(the best of all)
    win: Floats  # the chance to be first on an instance
    better: Floats  # P(row better than column)
    left_out: int
    instances: int

    @property
    def finding(self) -> str:
        """State the algorithm with the highest probability to be the best."""
        return f"{self.algorithms[0]} is the best of all with probability {self.best[0]:.2f}"


def best_data(analysis: Analysis, *, most: int | None = MAX_RANKED, widest: int = RANKED_WIDTH) -> BestData:
    """Return the ranking of the algorithms (Plackett-Luce), the first `most` of them (None: all)."""
    ranking = analysis.bayes.ranking
    if ranking is None:
        raise InvalidInput(f"there is no ranking to draw: {analysis.bayes.ranking_problem}")
    shown = len(ranking.algorithms[:most])
    return BestData(
        algorithms=fig.labels(ranking.algorithms[:shown], widest),
        best=ranking.best[:shown],
        win=ranking.win[:shown],
        better=ranking.better[:shown, :shown],
        left_out=len(ranking.algorithms) - shown,
        instances=ranking.instances,
    )


def draw_best(data: BestData, ax: Axes | None = None) -> Axes:
    """Draw squares: blue where the row is probably better than the column, orange where worse; bars for the best."""
    size = len(data.algorithms)
    with fig.canvas(ax, width=fig.COLUMN if size <= NARROW else fig.PAGE, height=max(1.0, CELL * size) + 1.25) as ax:
        _draw_squares(ax, data)
        start, width = size + 0.2, max(2.0, BARS * size)
        last = start + 1.85 * width
        ax.set_xlim(-0.6, last + 0.2 * width)
        ax.barh(range(size), width * data.best, left=start, height=0.6, color=BLUE)
        ax.vlines(start, -0.5, size - 0.5, color=GREY, linewidth=0.6)
        for index, (best, win) in enumerate(zip(data.best, data.win, strict=True)):
            ax.text(start + width * (best + 0.03), index, f"{best:.2f}", va="center", fontsize=CELL_LETTERS)
            ax.text(last, index, f"{win:.2f}", ha="center", va="center", fontsize=CELL_LETTERS)
        for x, name, side in ((start, "best\nof all", "left"), (last, "first on\nan instance", "center")):
            ax.text(x, -0.7, name, ha=side, va="bottom", fontsize=CELL_LETTERS)
        places = list(range(size))
        ax.set_yticks(places, [f"{name}  {index + 1}" for index, name in enumerate(data.algorithms)])
        ax.set_xticks(places, [str(index + 1) for index in places])
        ax.tick_params(length=0)
        ax.tick_params(axis="x", labelsize=fig.LETTERS if size <= WRITTEN else 6)
        ax.set_ylim(size - 0.4, -0.6)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        more = f"; {fig.not_shown(data.left_out, 'more')}" if data.left_out else ""
        note = "Probability that the row is better than the column: blue above ½, orange below"
        fig.describe(ax, data.finding, f"{note}{more}")
    return ax


def _draw_squares(ax: Axes, data: BestData) -> None:
    """One collection of all squares but the diagonal, as files with hundreds of single ones are large."""
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    size = len(data.algorithms)
    cells = {(row, column): float(data.better[row, column]) for row, column in permutations(range(size), 2)}
    squares = [Rectangle((column - 0.46, row - 0.46), 0.92, 0.92) for row, column in cells]
    shades = [to_rgba(BLUE if chance >= 0.5 else ORANGE, 0.75 * abs(2 * chance - 1)) for chance in cells.values()]
    ax.add_collection(PatchCollection(squares, facecolors=shades, edgecolors=GREY, linewidths=0.2))
    for (row, column), chance in cells.items() if size <= WRITTEN else ():  # probabilities are never shown as 1
        text = "<.01" if chance < 0.005 else ">.99" if chance > 0.995 else f"{chance:.2f}".removeprefix("0")
        ax.text(column, row, text, ha="center", va="center", fontsize=CELL_LETTERS)
