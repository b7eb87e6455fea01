"""The study files that were named on the command line: no other file can be reached."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ampler.app.web.pages import NotThere
from ampler.core.errors import StoreUnusable
from ampler.core.wording import shortened


class ShownStudy(NamedTuple):
    """A study file and the name by which pages call it."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Shelf:
    """The studies by name."""

    studies: tuple[ShownStudy, ...] = ()

    def __iter__(self) -> Iterator[ShownStudy]:
        return iter(self.studies)

    def find(self, name: str) -> ShownStudy:
        """Return the study of this name; NotThere when none was given."""
        for study in self.studies:
            if study.name == name:
                return study
        raise NotThere(
            f"no study called {shortened(name)} was given; begin the server with its file: ampler serve study.db"
        )


def shelf_of(paths: Iterable[Path]) -> Shelf:
    """Return the studies in these files, each under a name of its own made from the file's.

    >>> [study.name for study in shelf_of([Path("a/study.db"), Path("b/study.db")])]
    ['study', 'study-2']
    """
    names: list[str] = []
    studies = []
    for path in dict.fromkeys(path.absolute() for path in paths):
        names.append(_free(re.sub(r"[^\w.-]+", "-", path.stem).strip(".-") or "study", names))
        studies.append(ShownStudy(names[-1], path))
    return Shelf(tuple(studies))


def check_shown(shelf: Shelf) -> None:
    """Raise StoreUnusable for a file that cannot be watched: absent, or where another machine may write it."""
    from ampler.study.store.filesystem import on_network

    for study in shelf:
        if not study.path.is_file():
            raise StoreUnusable(f"there is no study file {study.path}; `ampler run` makes it")
        if on_network(study.path):
            raise StoreUnusable(
                f"{study.path} lies on a network file system, where a study that runs cannot be read beside its writer;"
                " copy the file to this machine and serve the copy"
            )


def _free(name: str, taken: list[str]) -> str:
    numbers = range(2, len(taken) + 2)
    return next(each for each in (name, *(f"{name}-{number}" for number in numbers)) if each not in taken)
