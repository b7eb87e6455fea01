"""How our figures look: a column's width, colours everyone can tell apart, units on axes, files a journal takes."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ampler.core.errors import InvalidInput
from ampler.core.files import replaced
from ampler.report.figures.labels import labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from ampler.analysis import Analysis

COLUMN = 3.5  # inches: one column of the common two-column journals (89 mm)
PAGE = 7.2  # inches: both columns (183 mm)


FORMATS = ("svg", "pdf", "png", "pgf")
ROW = 0.155  # inches that one row with a label takes
TALLEST = 60.0  # inches: beyond this no file of any format is of use
MARKS = 5  # on an axis: more would touch each other in a column

STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.linewidth": 0.4,
    "grid.color": "#DDDDDD",
    "figure.dpi": 150,
}

_DIFFERENCES = {"simple": "difference", "percent": "percent difference", "log-ratio": "log-ratio"} | {
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


def row_height(rows: float, *, top: float = 0.0, labels: Iterable[str] = ()) -> float:
    """Return the inches that so many labelled rows take, with the axis below and `top` for what stands above.

    Labels of two lines need more room.
    """
    lines = 1.7 if any("\n" in label for label in labels) else 1.0
    return min(TALLEST, 0.55 + top + ROW * max(lines * rows, 3.0))


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
        "log-ratio": f"log({first} / {second})",
    }[settings.difference]
    return f"{_DIFFERENCES[unit_of(analysis)].capitalize()}, {sides}"


def unit_of(analysis: Analysis) -> str:
    """Return the kind of the differences, which is their unit: "simple", "percent", "log-ratio"; "points" for rates."""
    return "points" if analysis.settings.are_rates else analysis.settings.difference


def write_in_unit(axis: Axis, difference: str) -> None:
    """Write the numbers of an axis of differences: percent and points times 100, all others in full at each mark.

    Matplotlib's own way, a factor at the end of the axis, is overlooked and stands where our words do.
    """
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(MARKS, steps=[1, 2, 2.5, 5, 10]))
    scale, unit = _scale(difference)
    axis.set_major_formatter(lambda value, _: f"{compact(scale * value)}{unit}")


def compact(value: float) -> str:
    """Return a number at a mark of an axis, short however large or small it is.

    >>> compact(-2e7), compact(0.05), compact(125000.0)
    ('−2e7', '0.05', '125000')
    """
    mantissa, exponent, power = f"{value:.6g}".partition("e")
    return (mantissa + (f"e{int(power)}" if exponent else "")).replace("-", "−")


def in_unit(value: float, difference: str, digits: int) -> str:
    """Return a difference as text.

    >>> in_unit(-0.0345, "percent", 1), in_unit(12.345, "simple", 2), in_unit(0.05, "points", 1)
    ('−3.5 %', '12.35', '5.0')
    """
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
