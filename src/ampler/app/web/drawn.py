"""Figures drawn for pages and downloads; matplotlib draws one at a time, and the last ones are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from ampler.app.surroundings import load_matplotlib
from ampler.report.subject import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ampler.report.drawings import Drawing
    from ampler.report.html import Picture

T = TypeVar("T")
KEPT = 4  # subjects whose figures are kept, of each kind
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


def figure_file(draw: Callable[[], Axes], name: str) -> bytes:
    """Return one figure as a file; the ending of its name says the format."""
    from ampler.report.figures import save

    with TemporaryDirectory(prefix="ampler-") as folder:
        path = Path(folder, name)
        one_at_a_time(lambda: save(draw(), path))
        return path.read_bytes()


class Figures:
    """Every figure of a report as the command line writes it; drawn once for all who ask."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, str], tuple[Subject, Mapping[str, bytes]]] = OrderedDict()

    def of(self, subject: Subject, kind: str) -> Mapping[str, bytes]:
        """Return the figures of a subject by the names of their files."""
        return one_at_a_time(lambda: self._drawn(subject, kind))

    def _drawn(self, subject: Subject, kind: str) -> Mapping[str, bytes]:
        key = (id(subject), kind)  # nobody else has it, as long as the subject is kept
        if key not in self._kept:
            self._kept[key] = subject, figure_files(subject, kind)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return self._kept[key][1]


FIGURES = Figures()


def figure_files(subject: Subject, kind: str) -> dict[str, bytes]:
    """Return every figure of a report as the command line writes it, by the name of its file."""
    from ampler.report import write_figures

    with TemporaryDirectory(prefix="ampler-") as folder:
        paths = one_at_a_time(lambda: write_figures(subject, Path(folder), kind=kind))
        return {path.name: path.read_bytes() for path in paths}
