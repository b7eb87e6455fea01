"""Figures drawn for pages and downloads; matplotlib draws one at a time, and the last ones are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
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
KEPT = 4  # subjects whose figures are kept
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
            yield Picture(
                each.name, kind, each.caption, Markup(inline_svg(each.draw(), name=each.name, words=each.words))
            )

    return one_at_a_time(lambda: list(drawn()))


def figure_file(draw: Callable[[], Axes], name: str) -> bytes:
    """Return one figure as a file; the ending of its name says the format."""
    from ampler.report.figures import save

    with TemporaryDirectory(prefix="ampler-") as folder:
        path = Path(folder, name)
        one_at_a_time(lambda: save(draw(), path))
        return path.read_bytes()


@dataclass(frozen=True, slots=True)
class Kept:
    """The figures of a subject with the files of those that were drawn; while it is kept, nobody else has its id."""

    subject: Subject
    drawings: Mapping[str, Drawing]
    files: dict[str, bytes]

    def file(self, name: str) -> bytes | None:
        """Return a figure by the name of its file, drawn when it is first asked for."""
        stem, _, _ = name.rpartition(".")
        if name not in self.files and stem in self.drawings:
            self.files[name] = figure_file(self.drawings[stem].draw, name)
        return self.files.get(name)


class Figures:
    """The figures of a report as the command line writes them; each is drawn once for all who ask."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Kept] = OrderedDict()

    def names(self, subject: Subject) -> list[str]:
        """Return the names of the figures of a subject; nothing is drawn."""
        return list(one_at_a_time(lambda: self._of(subject)).drawings)

    def one(self, subject: Subject, name: str) -> bytes | None:
        """Return a figure by the name of its file; None when there is none of this name."""
        return one_at_a_time(lambda: self._of(subject).file(name))

    def every(self, subject: Subject, kind: str) -> Mapping[str, bytes]:
        """Return every figure by the name of its file."""
        named = ((file := f"{name}.{kind}", self.one(subject, file)) for name in self.names(subject))
        return {name: content for name, content in named if content is not None}

    def _of(self, subject: Subject) -> Kept:
        from ampler.report.drawings import figures_of

        if id(subject) not in self._kept:
            found = {each.name: each for each in figures_of(subject.analysis)}
            self._kept[id(subject)] = Kept(subject, found, {})
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return self._kept[id(subject)]


FIGURES = Figures()
