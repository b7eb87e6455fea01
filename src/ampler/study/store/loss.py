"""A study file that is lost while it is open: what a writer keeps for that day, and how all of it is saved beside."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ampler.core.errors import StoreUnusable
from ampler.core.values import Code, Observation, PlanRecord
from ampler.study.store.beside import copied_whole, new_file_beside
from ampler.study.store.columns import Row
from ampler.study.store.watch import FileWatch, holds

KEPT = 100_000  # runs of a session that are kept in memory, should the file be lost
LAST = 'SELECT 1 FROM run WHERE instance = ? AND algorithm = ? AND "index" = ?'


class Insurance:
    """What a writer remembers of its session, and what has become of the file; who only reads has none.

    `begun` is the plan and the environment of the session, `code` what it keeps of code, `made` its last runs.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._watch = FileWatch(path)
        self.begun: tuple[PlanRecord, Mapping[str, str]] | None = None
        self.code: tuple[Sequence[Code], Mapping[str, Code]] | None = None
        self.made: deque[Observation] = deque(maxlen=KEPT)
        self.loss: StoreUnusable | None = None

    def mark(self) -> None:
        """Remember the file as it is now, after a write of ours."""
        self._watch.mark()

    def became(self, last: Callable[[], Row | None]) -> str | None:
        """Return what has become of the file, if it is lost; `last` gives the key of the run that was recorded last."""
        return self._watch.loss(lambda: holds(self._path, last(), LAST))

    def lose(self, what: str, saved: str) -> StoreUnusable:
        """Return the error that says what became of the file and what was saved; it is said from now on."""
        self.loss = StoreUnusable(f"{self._path.name} {what} while the study ran; {saved}")
        return self.loss


@dataclass(frozen=True, slots=True)
class Saved:
    """A new file beside the lost one; `whole` when all that could still be read is in it, else it is to be made."""

    place: Path
    whole: bool

    def words(self, lost: Path, runs: int) -> str:
        """Return what was saved where, and how it comes back into the study."""
        name = self.place.name if self.place.parent == lost.parent else self.place
        which = f"its {runs} runs" if self.whole else f"the {runs} runs of this session that were in memory"
        found = "" if self.whole else f", and what is left of {lost.name} may be read with ampler rescue"
        return (
            f"{which} are saved in {name}{found}; add them to a copy of {lost.name} with ampler merge, or rename {name}"
        )


def saved_beside(connection: sqlite3.Connection, path: Path, last: Row | None) -> Saved | None:
    """Copy all that can still be read into a new file, whose place is given also if that fails; None without one."""
    place = new_file_beside(path)
    if place is None:
        return None
    whole = copied_whole(connection, place) and holds(place, last, LAST)
    if not whole:
        place.unlink()
    return Saved(place, whole)
