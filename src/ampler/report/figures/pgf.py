"""Figures for LaTeX to set: every text of a figure is escaped, then matplotlib's pgf backend writes the file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ampler.core.errors import InvalidInput, MissingDependency
from ampler.report.latex import escaped

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.ticker import Formatter

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
        except ValueError as problem:  # what matplotlib makes of LaTeX's complaint
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
    if text.startswith("$"):
        return text
    return escaped(text.replace(r"\$", "$")).replace(r"\$", r"\textdollar{}")


@contextmanager
def _escaped_texts(figure: Figure) -> Iterator[None]:
    """Escape all texts for a while, and the labels that an axis writes anew each time it is drawn."""
    from matplotlib.text import Text

    texts: list[Text] = [text for text in figure.findobj(Text) if text.get_text()]
    before = [text.get_text() for text in texts]
    axes = [axis for each in figure.axes for axis in (each.xaxis, each.yaxis)]
    formatters = [axis.get_major_formatter() for axis in axes]
    try:
        for text in texts:
            text.set_text("\n".join(figure_text(line) for line in text.get_text().split("\n")))
        for axis, formatter in zip(axes, formatters, strict=True):
            axis.set_major_formatter(_escaping(formatter))
        yield
    finally:
        for text, words in zip(texts, before, strict=True):
            text.set_text(words)
        for axis, formatter in zip(axes, formatters, strict=True):
            axis.set_major_formatter(formatter)


def _escaping(formatter: Formatter) -> Formatter:
    """Return a formatter that writes what another one writes, as LaTeX."""
    from matplotlib.ticker import FuncFormatter

    class Escaping(FuncFormatter):
        def format_ticks(self, values: Any) -> list[str]:
            return [figure_text(label) for label in formatter.format_ticks(values)]

        def get_offset(self) -> str:
            return figure_text(formatter.get_offset())

    return Escaping(formatter)
