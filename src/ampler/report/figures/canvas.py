"""Shared parts of figures: canvas and files, titles and notes, rows with names, labels, axes of differences."""

from __future__ import annotations

import io
import math
import os
import shutil
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidInput, MissingDependency
from ampler.core.serialization import replace_file
from ampler.core.text import distinct_names, named, without_common
from ampler.report.axis import Axis
from ampler.report.theme import INK, LINE, MUTED, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as FigureAxis
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure
    from matplotlib.ticker import Formatter, Locator

    from ampler.analysis import Analysis


COLUMN = 3.5  # inches: one column of the common two-column journals (89 mm)
PAGE = 7.2  # inches: both columns (183 mm)
FORMATS = ("svg", "pdf", "png", "pgf")
LETTERS = 9.0  # points: the size of every label in print
COLOURS = {  # of texts and lines
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), INK),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), MUTED),
    "grid.color": LINE,
}
_FILES: dict[Any, Any] = {
    "pdf.fonttype": 42,  # TrueType: many journals refuse matplotlib's default Type 3 fonts
    "svg.hashsalt": "ampler",  # the same figure gives the same file
}


@cache
def _style() -> dict[Any, Any]:
    """Our style: ampler.mplstyle with the colours of the theme."""
    import matplotlib

    with as_file(files("ampler.report").joinpath("figures", "ampler.mplstyle")) as file:
        return dict(matplotlib.rc_params_from_file(file, use_default_template=False)) | COLOURS


@contextmanager
def canvas(ax: Axes | None, *, width: float = COLUMN, height: float = 2.4) -> Iterator[Axes]:
    """Return the caller's axes, or new ones in our style."""
    if ax is not None:
        yield ax
        return
    import matplotlib

    with matplotlib.rc_context(_style()):
        yield sheet(figsize=(width, height), layout="constrained").subplots()


@contextmanager
def bare_canvas(ax: Axes | None, *, width: float, height: float) -> Iterator[Axes]:
    """Give axes without frame whose places are inches from the upper left corner: for drawings that lay themselves out.

    They are faster than other axes, as no layout is computed.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_style() if ax is None else {}):
        ax = Figure(figsize=(width, height)).add_axes((0.0, 0.0, 1.0, 1.0)) if ax is None else ax
        ax.set_axis_off()
        ax.set(xlim=(0.0, width), ylim=(height, 0.0))
        yield ax


def figure_of(ax: Axes) -> Figure:
    """Return the figure that holds the axes."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def save(ax: Axes, file: str | os.PathLike[str], *, dpi: int = 300) -> None:
    """Write the figure that holds `ax`; the ending of the file's name says the format: svg, pdf, png or pgf.

    A pgf file is for `\\input` in LaTeX: it takes the fonts of the document. LaTeX must be installed to write one.
    """
    import matplotlib

    kind = figure_format(file)
    figure = figure_of(ax)
    if kind == "pgf":
        with replace_file(file) as draft:
            save_pgf(figure, draft)
        return
    without_date: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    drawn = io.BytesIO()  # matplotlib does not handle a full disk
    with matplotlib.rc_context(_FILES):
        figure.savefig(drawn, format=kind, dpi=dpi, metadata=without_date)
    with replace_file(file) as draft:
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


def sheet(**options: Any) -> Figure:
    """Return a figure with room for all its words, that is drawn once when it is saved; not of pyplot: safe in threads.

    Before it saves a figure, matplotlib draws it into the void to find that room, and then saves it without a layout.
    Here the first of the two only lays out, which is all it is for, and saving takes less time.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    class Sheet(Figure):
        def draw(self, renderer: RendererBase) -> None:
            layout = self.get_layout_engine()
            if self.canvas.is_saving() and isinstance(layout, ConstrainedLayoutEngine):
                layout.execute(self)
            else:
                super().draw(renderer)

    return Sheet(**options)


HARD = "\N{NO-BREAK SPACE}"
WORDS = 0.165  # inches that a line of words takes
BESIDE = ("axes fraction", "data")  # coordinates of texts at the right of a row


def text_width(text: str, *, bold: bool = False) -> float:
    """Return the inches that a text takes at our size of letters."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=LETTERS, weight="bold" if bold else "normal")
    shown = text.replace(r"\$", "$")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # missing glyphs become a box
        return float(text_to_path.get_text_width_height_descent(shown, font, ismath=False)[0]) / 72


def describe(ax: Axes, finding: str, *lines: str) -> None:
    """Write the title above a figure, and notes below its axes, in lines that fit.

    The finding stands above the axes alone, if the figure has others. Lines below end where the axes end: what stands
    next to the axes is reserved from their room, so write that first."""
    from matplotlib.text import Annotation

    figure, columns = figure_of(ax), ax.get_subplotspec()
    room = float(figure.get_size_inches()[0]) / (1 if columns is None else columns.get_gridspec().ncols) - 0.2
    words = "\n".join(in_lines(finding, room, bold=True))
    if words and _is_ours(figure, ax):
        figure.suptitle(words, x=0.01, ha="left")
    elif words:
        ax.set_title(words, loc="left", fontweight="bold")
    notes = [note for note in ax.texts if isinstance(note, Annotation) and note.xycoords == BESIDE]
    room -= max((note.xyann[0] / 72 + text_width(note.get_text()) for note in notes), default=0.0)
    if lines:
        ax.set_xlabel("\n".join(part for line in lines if line for part in in_lines(line, room)), loc="right")


def _is_ours(figure: Figure, ax: Axes) -> bool:
    """Whether the figure holds these axes alone, laid out by us."""
    return figure.axes == [ax] and figure.get_layout_engine() is not None


def in_lines(text: str, inches: float, *, bold: bool = False) -> list[str]:
    """Return the words of a text in lines that fit; a word that is too long for a line is cut."""
    words, lines = text.replace(" %", f"{HARD}%").split(" "), list[str]()

    def width(count: int) -> float:
        return text_width(" ".join(words[:count]), bold=bold)

    while words:
        count = max(1, bisect_right(range(1, len(words) + 1), inches, key=width))
        line = " ".join(words[:count])
        while count == 1 and len(line) > 1 and text_width(line, bold=bold) > inches:
            line = f"{line[: int(0.9 * len(line)) - 1]}…"
        lines.append(line.replace(HARD, " "))
        del words[:count]
    return lines


ROW = 0.185  # inches that one row with a label takes
TALLEST = 60.0  # maximum height in inches
NAMED = 40  # instances that are rows with names; more become a strip


def lay_rows(ax: Axes, names: Sequence[str]) -> None:
    """Make each unit of the vertical axis a named row, the first on top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="y", visible=False)


def lay_strip(ax: Axes, size: int) -> None:
    """Make each unit of the horizontal axis a column without a name."""
    ax.set(xlim=(-0.7, size - 0.3), xticks=[])
    ax.grid(axis="x", visible=False)


def beside(ax: Axes, y: float, text: str, *, points: float = 4, **style: Any) -> None:
    """Write at the right of a row, outside the axes."""
    note = ax.annotate(text, (1.0, y), (points, 0), xycoords=BESIDE, textcoords="offset points", va="center")
    note.set(annotation_clip=False, **style)


def legend_above(ax: Axes, *, columns: int, title: str | None = None) -> None:
    """Draw a legend above the axes, if direct labels do not fit."""
    spaces: dict[str, Any] = {"columnspacing": 1.0, "handletextpad": 0.4, "borderpad": 0}
    where: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": columns}
    ax.legend(title=title, title_fontsize=LETTERS, **where, **spaces)


def row_height(rows: float, *, top: float = 0.0, labels: Iterable[str] = ()) -> float:
    """Return the height in inches of labelled rows, with the axis and `top` for the title.

    Labels of two lines need more room.
    """
    lines = 1.7 if any("\n" in label for label in labels) else 1.0
    return min(TALLEST, 0.35 + top + ROW * max(lines * rows, 2.2))


def fit_rows(ax: Axes, rows: float, *, labels: Iterable[str] = (), above: float = 0.0) -> None:
    """Make our own figure as high as its rows and its words need, once they are written; `above` is for a legend."""
    figure = figure_of(ax)
    if _is_ours(figure, ax):
        words = [line for line in (*ax.get_xlabel().split("\n"), *figure.get_suptitle().split("\n")) if line]
        figure.set_figheight(row_height(rows, top=above + WORDS * len(words), labels=labels))


SYSTEM = "pdflatex"
SETTINGS: dict[Any, Any] = {
    "pgf.texsystem": SYSTEM,
    "pgf.rcfonts": False,  # the fonts of the document
    "pgf.preamble": r"\usepackage[T1]{fontenc}\usepackage{textcomp}",
}


def save_pgf(figure: Figure, file: str | os.PathLike[str]) -> None:
    """Write a figure as pgf; MissingDependency without LaTeX, which measures the texts."""
    import matplotlib

    if shutil.which(SYSTEM) is None:
        raise MissingDependency(f"a pgf file needs {SYSTEM} to measure its texts, and it is not installed; write pdf")
    with matplotlib.rc_context(SETTINGS), _escaped_texts(figure):
        try:
            figure.savefig(file, format="pgf")
        except ValueError as problem:  # matplotlib's error for LaTeX errors
            first = str(problem).splitlines()[0]
            raise InvalidInput(
                f"every text of a pgf figure must be one that {SYSTEM} can set, got {first!r}; write pdf instead"
            ) from problem


def figure_text(text: str) -> str:
    r"""Return a text of a figure as LaTeX that matplotlib will not take for its own mathematics.

    Names have their dollars marked by a backslash, so that a bare one begins what is meant as mathematics.

    >>> print(figure_text(r"50 % of \$5 − α"), figure_text("$10^3$"))
    50 \% of \textdollar{}5 \ensuremath{-} \ensuremath{\alpha} $10^3$
    """
    from ampler.report.latex import escaped

    if text.startswith("$"):
        return text
    return escaped(text.replace(r"\$", "$")).replace(r"\$", r"\textdollar{}")


@contextmanager
def _escaped_texts(figure: Figure) -> Iterator[None]:
    """Escape all texts for a while, and the labels that an axis writes again each time it is drawn."""
    from matplotlib.text import Text

    texts: dict[Text, str] = {text: text.get_text() for text in figure.findobj(Text) if text.get_text()}
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    formatters = [(axis, axis.get_major_formatter()) for axis in axes]
    try:
        for text, original in texts.items():
            text.set_text("\n".join(map(figure_text, original.split("\n"))))
        for axis, formatter in formatters:
            axis.set_major_formatter(_escaping(formatter))
        yield
    finally:
        for text, original in texts.items():
            text.set_text(original)
        for axis, formatter in formatters:
            axis.set_major_formatter(formatter)


def _escaping(formatter: Formatter) -> Formatter:
    """Return a formatter that converts the output of another one to LaTeX."""
    from matplotlib.ticker import FuncFormatter

    class Escaping(FuncFormatter):
        def format_ticks(self, values: Any) -> list[str]:
            return [figure_text(label) for label in formatter.format_ticks(values)]

        def get_offset(self) -> str:
            return figure_text(formatter.get_offset())

    return Escaping(formatter)


# labels ---------------------------------------------------------------------------------------------------------------

WIDEST = 28  # characters: a third of a column at our size of letters


def labels(names: Sequence[str], widest: int = WIDEST) -> tuple[str, ...]:
    r"""Return the names as labels: cut where too long, so that what distinguishes them stays.

    >>> labels(["full", "no-swap, with a very long explanation", "no-swap, with a very LONG explanation"], 20)
    ('full', 'no-swa…g explanation', 'no-swa…G explanation')
    >>> print(*labels([r"$\frac{$"]))
    \$\frac{\$
    """
    return tuple(literal(label) for label in distinct_names(names, widest))


def instance_labels(analysis: Analysis, widest: int = WIDEST) -> tuple[str, ...]:
    """Return the labels of all instances, in their order, without the folder and the ending that they share."""
    return labels(without_common([row.instance for row in analysis.accuracy]), widest)


def pair_labels(analysis: Analysis, pairs: Sequence[tuple[str, str]], widest: int = WIDEST) -> tuple[str, ...]:
    """Return the labels of comparisons: with a reference, the other algorithm alone.

    Else both, on two lines when their names are too long for one.
    """
    if analysis.settings.reference is not None:
        return labels([second for _, second in pairs], widest)
    names = [row.algorithm for row in analysis.algorithms]
    is_long = max(map(len, names)) > widest // 2
    short = dict(zip(names, labels(names, widest), strict=True))
    between = " −\n" if is_long else " − "
    return tuple(f"{short[first]}{between}{short[second]}" for first, second in pairs)


def in_short(sentence: str, analysis: Analysis, widest: int = WIDEST) -> str:
    """Return a sentence about an analysis with the short names of the figure."""
    names = [row.algorithm for row in analysis.algorithms]
    short = dict(zip(names, distinct_names(names, widest), strict=True))
    for name in sorted((name for name in names if len(name) > widest), key=len, reverse=True):
        sentence = sentence.replace(name, short[name])
    return literal(" ".join(sentence.split()))


def first_of(names: Sequence[str], scores: Sequence[float], *, larger: bool = True) -> tuple[list[int], str]:
    """Return the places of the best score, and the names that share it."""
    best = (max if larger else min)((score for score in scores if not math.isnan(score)), default=math.nan)
    places = [index for index, score in enumerate(scores) if score == best] or [0]
    return places, named([names[index] for index in places])


def not_shown(count: int, what: str = "more comparisons") -> str:
    """Return a note on the omitted items of a figure; empty for none."""
    return f"{count} {what} are not shown" if count else ""


def row_of(analysis: Analysis, instance: str) -> int:
    """Return the index of an instance; InvalidInput if the analysis does not use it."""
    names = [row.instance for row in analysis.accuracy]
    if instance not in names:
        raise InvalidInput(f"the instance must be one that is used, such as {names[0]!r}, got {instance!r}")
    return names.index(instance)


def literal(text: str) -> str:
    r"""Return a text that matplotlib sets unchanged: a dollar would begin mathematics.

    >>> print(literal("costs $5 or $6"))
    costs \$5 or \$6
    """
    return text.replace("$", r"\$")


MARKS = 5  # on an axis: more would touch each other in a column
TEN = math.log(10)
BEYOND = 30.0  # logarithms whose factors are written by their power alone
NEAR, FAR = 6.0, 300.0  # ratio below which factors have evenly spaced marks, otherwise 1, 2, 5, 10, …
_NAMES = {"simple": "difference", "percent": "percent difference", "ratio": "factor", "points": "percentage points"}


def difference_name(analysis: Analysis, *names: str) -> str:
    """Return what the differences are, with the sides named: other − reference, or first − second without one.

    The differences of one pair are named by its two names, in their order."""
    reference = analysis.settings.reference
    base = "grand mean" if reference is None else labels([reference], 16)[0]
    one, other = labels(names, 16) if names else ("first", "second") if reference is None else ("other", base)
    sides = {"simple": f"{one} − {other}", "percent": f"({one} − {other}) / {base}", "ratio": f"{one} / {other}"}
    return f"{_NAMES[unit_of(analysis)].capitalize()}, {sides[analysis.settings.difference]}"


def display_sign(analysis: Analysis) -> float:
    """Return the sign of displayed differences: −1 with a reference, where other − reference is shown."""
    return 1.0 if analysis.settings.reference is None else -1.0


def unit_of(analysis: Analysis) -> str:
    """Return the kind of the differences, which is their unit: "simple", "percent", "ratio"; "points" for rates."""
    return "points" if analysis.settings.are_rates else analysis.settings.difference


UNITS: WeakKeyDictionary[FigureAxis, str] = WeakKeyDictionary()  # of the axes of differences: hovering reads them


def write_in_unit(axis: FigureAxis, difference: str) -> None:
    """Write the numbers of an axis of differences: percent and points times 100, ratios as factors, others in full.

    Matplotlib's own way, a factor at the end of the axis, is overlooked and stands where our words do.
    """
    from matplotlib.ticker import MaxNLocator

    UNITS[axis] = difference
    axis.set_major_locator(_factors() if difference == "ratio" else MaxNLocator(MARKS, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(lambda value, _: at_mark(value, difference))


def at_mark(value: float, difference: str) -> str:
    """Return a difference unchanged at a mark of an axis.

    >>> at_mark(-0.025, "percent"), at_mark(0.6931472, "ratio"), at_mark(12.5, "simple")
    ('−2.5 %', '×2', '12.5')
    """
    if difference == "ratio":
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
    >>> size_text(0.27, "ratio", 2)
    '×1.31'
    """
    if difference == "ratio":
        return f"×{math.exp(value):.{digits}f}" if abs(value) < BEYOND else at_mark(value, difference)
    scale, unit = _scale(difference)
    return f"{scale * value:.{digits}f}{unit}".replace("-", "−")


def _scale(difference: str) -> tuple[int, str]:
    """Factor of displayed differences, and their unit sign."""
    return {"percent": (100, " %"), "points": (100, "")}.get(difference, (1, ""))


def write_axis(ax: Axes, axis: Axis, difference: str) -> str:
    """Write the numbers of the horizontal axis in their unit; return what a reader of a split axis must know.

    Each panel of a split axis has its share of the width, and what lies between them is pressed together."""
    if not axis.is_split:
        write_in_unit(ax.xaxis, difference)
        return ""
    UNITS[ax.xaxis] = difference
    values = [end for panel in axis.panels for end in (panel.low, panel.high)]
    places = [end for panel in axis.panels for end in (panel.left, panel.right)]
    span = values[-1] - values[0]
    values = [value + 1e-12 * span * percent for value, percent in zip(values, places, strict=True)]  # ever increasing
    ax.set_xscale("function", functions=(_through(values, places), _through(places, values)))
    ax.set_xlim(values[0], values[-1])
    marks = [mark for panel in axis.panels for mark in panel.marks]
    back = _through(places, values)
    ax.set_xticks([float(back(np.array([mark.at]))[0]) for mark in marks], [mark.text for mark in marks])
    for at in axis.breaks:
        ax.text(at / 100, 0.0, "╱╱", transform=ax.transAxes, ha="center", va="center", color=MUTED)
        ax.axvspan(*back(np.array([at - 1.4, at + 1.4])), color=PAPER, linewidth=0, zorder=2.5)
    return "The axis is split: ╱╱ parts two scales"


def _through(x: Sequence[float], y: Sequence[float]) -> Callable[[Floats], Floats]:
    """The line from point to point, which continues at both ends."""

    def line(values: Floats) -> Floats:
        values = np.asarray(values, float)
        low = y[0] + (values - x[0]) * (y[1] - y[0]) / (x[1] - x[0])
        high = y[-1] + (values - x[-1]) * (y[-1] - y[-2]) / (x[-1] - x[-2])
        return np.where(values < x[0], low, np.where(values > x[-1], high, np.interp(values, x, y)))

    return line
