"""How our figures look: the width of a column, letters, lines and colours, and the files that a journal takes."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ampler.core.errors import InvalidInput
from ampler.core.files import replaced
from ampler.report.figures.colours import INK, LINE, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes


COLUMN = 3.5  # inches: one column of the common two-column journals (89 mm)
PAGE = 7.2  # inches: both columns (183 mm)
FORMATS = ("svg", "pdf", "png", "pgf")
LETTERS = 9.0  # points: the size of every label in print
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

    from ampler.report.figures.sheet import Sheet  # without pyplot: no window system, and safe in threads

    with matplotlib.rc_context(STYLE):
        yield Sheet(figsize=(width, height), layout="constrained").subplots()


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
