"""Rows of figures: named places of the vertical axis, what stands beside them, and how high a figure gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ampler.report.figures.style import LETTERS
from ampler.report.figures.titles import BESIDE, WORDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


ROW = 0.185  # inches that one row with a label takes
TALLEST = 60.0  # inches: beyond this no file of any format is of use
NAMED = 40  # instances that are rows with names; more become a strip


def lay_rows(ax: Axes, names: Sequence[str]) -> None:
    """Make each place of the vertical axis a named row, the first on top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="y", visible=False)


def beside(ax: Axes, place: float, text: str, *, points: float = 4, **look: Any) -> None:
    """Write at the right of a row, outside the axes."""
    note = ax.annotate(text, (1.0, place), (points, 0), xycoords=BESIDE, textcoords="offset points", va="center")
    note.set(annotation_clip=False, **look)


def legend_above(ax: Axes, *, columns: int, title: str | None = None) -> None:
    """Say above the axes what colours and marks mean, where direct labels do not fit."""
    look: dict[str, Any] = {"ncols": columns, "columnspacing": 1.0, "handletextpad": 0.4, "borderpad": 0}
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), title=title, title_fontsize=LETTERS, **look)


def row_height(rows: float, *, top: float = 0.0, labels: Iterable[str] = ()) -> float:
    """Return the inches that so many labelled rows take, with the axis below and `top` for what stands above.

    Labels of two lines need more room.
    """
    lines = 1.7 if any("\n" in label for label in labels) else 1.0
    return min(TALLEST, 0.35 + top + ROW * max(lines * rows, 2.2))


def fit_rows(ax: Axes, rows: float, *, labels: Iterable[str] = (), above: float = 0.0) -> None:
    """Make our own figure as high as its rows and its words need, once they are written; `above` is for a legend."""
    figure = ax.get_figure(root=True)
    if figure is None or figure.axes != [ax] or figure.get_layout_engine() is None:
        return
    words = [*ax.get_xlabel().split("\n"), *figure.get_suptitle().split("\n")]
    figure.set_figheight(row_height(rows, top=above + WORDS * len([line for line in words if line]), labels=labels))
