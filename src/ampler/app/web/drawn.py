"""Figures drawn for pages and downloads; matplotlib draws one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from ampler.app.surroundings import load_matplotlib
from ampler.report.subject import Subject

if TYPE_CHECKING:
    from ampler.report.drawings import Drawing
    from ampler.report.html import Picture

T = TypeVar("T")
_drawing = threading.RLock()


def one_at_a_time(draw: Callable[[], T]) -> T:
    """Return what draws, while nobody else does."""
    with _drawing:
        load_matplotlib()
        return draw()


def pictures(draw: Callable[[], Iterable[Drawing]], kind: str = "half") -> list[Picture]:
    """Return figures as elements of a page."""
    from ampler.report.html import Picture, inline_svg

    def drawn() -> Iterator[Picture]:
        from markupsafe import Markup

        for each in draw():
            yield Picture(each.name, kind, each.caption, Markup(inline_svg(each.ax, name=each.name, words=each.words)))

    return one_at_a_time(lambda: list(drawn()))


def figure_files(subject: Subject, kind: str) -> dict[str, bytes]:
    """Return every figure of a report as the command line writes it, by the name of its file."""
    from ampler.report import write_figures

    with TemporaryDirectory(prefix="ampler-") as folder:
        paths = one_at_a_time(lambda: write_figures(subject, Path(folder), kind=kind))
        return {path.name: path.read_bytes() for path in paths}
