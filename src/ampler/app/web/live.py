"""A study that is watched: one look serves all who ask, and there is a new one only when the file has changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ampler.app.web.shelf import ShownStudy
from ampler.core.errors import StoreUnusable
from ampler.study.following import StudyFollower, StudyLook

OFTEN, SELDOM = 1.5, 2.0  # seconds between two looks: the more, the longer looking takes; 0: every question is a look
SHARE = 120  # times what a look took on a processor
FRESH_NS = 10**9  # a file changed within the last second may change once more and have the same date

Stamp = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A look with its number, and whether somebody carries the study out."""

    number: int
    look: StudyLook
    carried_out: bool | None


class LiveStudy:
    """Looks at one study for everybody. Many threads may ask at the same time; one of them looks."""

    def __init__(self, study: ShownStudy) -> None:
        self.name, self.path = study.name, study.path
        self._follower = StudyFollower()
        self._lock = threading.Lock()
        self._seen: Seen | None = None
        self._stamp: Stamp | None = None
        self._when = self._cost = 0.0
        self._number = time.time_ns() // 10**6  # of the last look: pages of an earlier server have other numbers

    def seen(self) -> Seen:
        """Return what is to be seen of the study; never older than a second or two while it changes."""
        if self._seen is not None and not self._lock.acquire(blocking=False):
            return self._seen  # somebody looks at this moment
        if self._seen is None:
            self._lock.acquire()
        try:
            return self._looked()
        finally:
            self._lock.release()

    def recent(self) -> Seen | None:
        """Return the last look if it is recent enough; None when it is time for another one."""
        pause = max(OFTEN, min(SELDOM, SHARE * self._cost)) if OFTEN else 0.0
        return self._seen if time.monotonic() - self._when < pause else None

    def _looked(self) -> Seen:
        from ampler.study.store.presence import is_carried_out

        recent = self.recent()
        if recent is not None:
            return recent
        self._when, carried_out, stamp = time.monotonic(), is_carried_out(self.path), stamp_of(self.path)
        before = self._seen
        if before is not None and stamp == self._stamp and before.carried_out == carried_out:
            return before
        look = self._look() if before is None or stamp != self._stamp else before.look
        self._number += 1
        self._seen = Seen(self._number, look, carried_out)
        self._stamp = None if _is_fresh(stamp) else stamp
        return self._seen

    def _look(self) -> StudyLook:
        from ampler.study.store import read_store
        from ampler.study.store.damage import told_as_damage

        began = time.thread_time()
        try:
            with read_store(self.path) as store, told_as_damage(self.path, "its runs"):
                found = self._follower.look(store)
            self._cost = time.thread_time() - began
            return found
        except BaseException:
            self._follower, self._when = StudyFollower(), 0.0  # half a look is none
            raise


def stamp_of(path: Path) -> Stamp:
    """Return what changes when a study file does: number, size and date of the file and of its journal."""
    return tuple(_stamp(each) for each in (path, path.with_name(f"{path.name}-wal")))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _is_fresh(stamp: Stamp) -> bool:
    newest = max((each[2] for each in stamp if each is not None), default=0)
    return time.time_ns() - newest < FRESH_NS


class LiveStudies:
    """All studies that are watched, by name."""

    def __init__(self, studies: tuple[ShownStudy, ...]) -> None:
        self._studies = {study.name: LiveStudy(study) for study in studies}

    def __iter__(self) -> Iterator[LiveStudy]:
        return iter(self._studies.values())

    def of(self, study: ShownStudy) -> LiveStudy:
        """Return the one look-out for a study."""
        if not study.path.is_file():
            raise StoreUnusable(f"the study file {study.path.name} is gone; was it moved or removed?")
        return self._studies[study.name]
