"""How our figures look: a column's width, colours everyone can tell apart, units on axes, files a journal takes."""

from __future__ import annotations

import io
import math
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ampler.core.errors import InvalidInput
from ampler.core.files import replaced
from ampler.report.figures.colours import INK, LINE, MUTED
from ampler.report.figures.labels import labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.ticker import Locator

    from ampler.analysis import Analysis

COLUMN = 3.5  # inches: one column of the common two-column journals (89 mm)
PAGE = 7.2  # inches: both columns (183 mm)


FORMATS = ("svg", "pdf", "png", "pgf")
LETTERS = 9.0  # points: the size of every label in print
WORDS = 0.165  # inches that a line of words takes
ROW = 0.185  # inches that one row with a label takes
TALLEST = 60.0  # inches: beyond this no file of any format is of use
NAMED = 40  # instances that are rows with names; more become a strip
MARKS = 5  # on an axis: more would touch each other in a column
TEN = math.log(10)
BEYOND = 30.0  # logarithms whose factors are written by their power alone
NEAR, FAR = 6.0, 300.0  # factors less than this apart stand evenly as numbers, and at 1, 2, 5, 10, …

STYLE: dict[Any, Any] = {
    "font.size": LETTERS,
    "text.color": INK,
    "axes.labelsize": LETTERS,
    "axes.labelcolor": INK,
    "axes.titlesize": LETTERS,
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "figure.titlesize": LETTERS,
    "figure.titleweight": "bold",
    "xtick.labelsize": LETTERS,
    "ytick.labelsize": LETTERS,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.fontsize": LETTERS,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.4,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.linewidth": 0.6,
    "grid.color": LINE,
    "figure.dpi": 150,
}

_DIFFERENCES = {"simple": "difference", "percent": "percent difference", "log-ratio": "factor"} | {
    "points": "percentage points"
}

_FILES: dict[Any, Any] = {
    "pdf.fonttype": 42,  # TrueType: many journals refuse matplotlib's default Type 3 fonts
    "svg.hashsalt": "ampler",  # the same figure gives the same file
}


@contextmanager
def canvas(ax: Axes | None, *, width: float = COLUMN, height: float = 2.4) -> Iterator[Axes]:
    """Give the axes to draw on: the caller's as they are, or new ones in our style."""
    if ax is not None:
        yield ax
        return
    import matplotlib
    from matplotlib.figure import Figure  # without pyplot: no window system, and safe in threads

    with matplotlib.rc_context(STYLE):
        yield Figure(figsize=(width, height), layout="constrained").subplots()


@contextmanager
def bare_canvas(ax: Axes | None, *, width: float, height: float) -> Iterator[Axes]:
    """Give axes without frame whose places are inches from the upper left corner: for drawings that lay themselves out.

    They are quicker than others, as nothing is measured to make room for it.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE if ax is None else {}):
        ax = Figure(figsize=(width, height)).add_axes((0.0, 0.0, 1.0, 1.0)) if ax is None else ax
        ax.set_axis_off()
        ax.set_xlim(0.0, width)
        ax.set_ylim(height, 0.0)
        yield ax


def text_width(text: str, *, bold: bool = False) -> float:
    """Return the inches that a text takes at our size of letters."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=LETTERS, weight="bold" if bold else "normal")
    shown = text.replace(r"\$", "$")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a box stands for what our letters lack
        return float(text_to_path.get_text_width_height_descent(shown, font, ismath=False)[0]) / 72


def entitle(ax: Axes, finding: str) -> None:
    """Write above a figure what it shows, in lines that fit; above the axes alone, if the figure has others."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    alone = figure.axes == [ax] and figure.get_layout_engine() is not None
    words = "\n".join(in_lines(finding, _room(ax), bold=True))
    if alone:
        figure.suptitle(words, x=0.01, ha="left")
    else:
        ax.set_title(words, loc="left", fontweight="bold")


def explain(ax: Axes, *lines: str) -> None:
    """Write below the axes what they show and how to read them, in lines that fit the figure."""
    parts = [part for line in lines if line for part in in_lines(line, _room(ax))]
    ax.set_xlabel("\n".join(parts), loc="right")


def _room(ax: Axes) -> float:
    """The inches that a line of words has."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    columns = ax.get_subplotspec()
    return float(figure.get_size_inches()[0]) / (1 if columns is None else columns.get_gridspec().ncols) - 0.2


def in_lines(text: str, inches: float, *, bold: bool = False) -> list[str]:
    """Return the words of a text in lines that fit."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, bold=bold) <= inches:
            lines[-1] = longer
        else:
            lines.append(_cut_to(word, inches, bold=bold))
    return lines


def _cut_to(word: str, inches: float, *, bold: bool) -> str:
    """A word that fits a line by itself."""
    while len(word) > 1 and text_width(word, bold=bold) > inches:
        word = f"{word[: int(0.9 * len(word)) - 1]}…"
    return word


def lay_rows(ax: Axes, names: Sequence[str]) -> None:
    """Make each place of the vertical axis a named row, the first on top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="y", visible=False)


def beside(ax: Axes, place: float, text: str, *, points: float = 4, **look: Any) -> None:
    """Write at the right of a row, outside the axes."""
    note = ax.annotate(
        text, (1.0, place), (points, 0), xycoords=("axes fraction", "data"), textcoords="offset points", va="center"
    )
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


def difference_name(analysis: Analysis) -> str:
    """Return what the differences are, with the sides named.

    The first side is the reference, or "first" in a comparison of all with all.
    """
    settings = analysis.settings
    first = "first" if settings.reference is None else labels([settings.reference], 16)[0]
    second = "second" if settings.reference is None else "other"
    sides = {
        "simple": f"{first} − {second}",
        "percent": f"({first} − {second}) / {'grand mean' if settings.reference is None else first}",
        "log-ratio": f"{first} / {second}",
    }[settings.difference]
    return f"{_DIFFERENCES[unit_of(analysis)].capitalize()}, {sides}"


def unit_of(analysis: Analysis) -> str:
    """Return the kind of the differences, which is their unit: "simple", "percent", "log-ratio"; "points" for rates."""
    return "points" if analysis.settings.are_rates else analysis.settings.difference


def write_in_unit(axis: Axis, difference: str) -> None:
    """Write the numbers of an axis of differences: percent and points times 100, ratios as factors, others in full.

    Matplotlib's own way, a factor at the end of the axis, is overlooked and stands where our words do.
    """
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(_factors() if difference == "log-ratio" else MaxNLocator(MARKS, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(lambda value, _: at_mark(value, difference))


def at_mark(value: float, difference: str) -> str:
    """Return a difference as it stands at a mark of an axis.

    >>> at_mark(-0.025, "percent"), at_mark(0.6931472, "log-ratio"), at_mark(12.5, "simple")
    ('−2.5 %', '×2', '12.5')
    """
    if difference == "log-ratio":
        return f"×{compact(math.exp(value), 3)}" if abs(value) < BEYOND else f"×1e{value / TEN:.0f}".replace("-", "−")
    scale, unit = _scale(difference)
    return f"{compact(scale * value)}{unit}"


def _factors() -> Locator:
    """Marks at round factors: evenly apart as numbers where they are near, else at 1, 2, 5, 10, or powers of ten."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    class Factors(MaxNLocator):
        def tick_values(self, vmin: float, vmax: float) -> Any:
            if vmax - vmin > math.log(FAR):
                return TEN * np.asarray(MaxNLocator(MARKS, integer=True).tick_values(vmin / TEN, vmax / TEN))
            near = MaxNLocator(MARKS, steps=[1, 2, 2.5, 5, 10])
            wide = LogLocator(10, (1.0, 2.0, 5.0), numticks=2 * MARKS)
            locator = near if vmax - vmin < math.log(NEAR) else wide
            marks = np.asarray(locator.tick_values(*np.exp(np.clip([vmin, vmax], -BEYOND, BEYOND))))
            return np.log(marks[marks > 0])

        def __call__(self) -> Any:
            assert self.axis is not None
            return self.tick_values(*self.axis.get_view_interval())

    return Factors()


def compact(value: float, significant: int = 6) -> str:
    """Return a number at a mark of an axis, short however large or small it is.

    >>> compact(-2e7), compact(0.05), compact(125000.0)
    ('−2e7', '0.05', '125000')
    """
    mantissa, exponent, power = f"{value:.{significant}g}".partition("e")
    return (mantissa + (f"e{int(power)}" if exponent else "")).replace("-", "−")


def size_text(value: float, difference: str, digits: int) -> str:
    """Return a difference as text.

    >>> size_text(-0.0345, "percent", 1), size_text(12.345, "simple", 2), size_text(0.05, "points", 1)
    ('−3.5 %', '12.35', '5.0')
    >>> size_text(0.27, "log-ratio", 2)
    '×1.31'
    """
    if difference == "log-ratio":
        return f"×{math.exp(value):.{digits}f}" if abs(value) < BEYOND else at_mark(value, difference)
    scale, unit = _scale(difference)
    return f"{scale * value:.{digits}f}{unit}".replace("-", "−")


def _scale(difference: str) -> tuple[int, str]:
    """What differences are multiplied by where they are written, and the sign behind them."""
    return {"percent": (100, " %"), "points": (100, "")}.get(difference, (1, ""))


def save(ax: Axes, file: str | os.PathLike[str], *, dpi: int = 300) -> None:
    """Write the figure that holds `ax`; the ending of the file's name says the format: svg, pdf, png or pgf.

    A pgf file is for `\\input` in LaTeX: it takes the fonts of the document. LaTeX must be installed to write one.
    """
    import matplotlib

    kind = figure_format(file)
    figure = ax.get_figure(root=True)
    assert figure is not None
    if kind == "pgf":
        from ampler.report.figures.pgf import save_pgf

        with replaced(file) as draft:
            save_pgf(figure, draft)
        return
    without_date: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    drawn = io.BytesIO()  # matplotlib itself does not bear a disk that is full
    with matplotlib.rc_context(_FILES):
        figure.savefig(drawn, format=kind, dpi=dpi, metadata=without_date)
    with replaced(file) as draft:
        draft.write_bytes(drawn.getbuffer())


def figure_format(file: str | os.PathLike[str]) -> str:
    """Return the format that a file's name asks for.

    >>> figure_format("power.SVG")
    'svg'
    """
    ending = os.path.splitext(os.fspath(file))[1].lstrip(".").lower()
    if ending not in FORMATS:
        raise InvalidInput(f"a figure's file must end in .svg, .pdf, .png or .pgf, got {os.fspath(file)!r}")
    return ending
