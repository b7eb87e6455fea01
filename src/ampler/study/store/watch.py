"""Is the study file still the one that was opened? Removed, replaced, cut off or overwritten, it is noticed."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Look:
    """A file as a look at its folder shows it: which one it is, its size, and when it was changed."""

    which: Place
    size: int
    changed: int


class FileWatch:
    """Remembers how a study file was left, and says what has become of it since.

    Only we write it, so every other change is somebody else's; SQLite itself would not notice. Nothing is opened to
    look: closing the file would take SQLite's locks away.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = path.with_name(path.name + "-wal")
        self.mark()

    def mark(self) -> None:
        """Remember the file as it is now, after a write of ours."""
        self._file, self._beside = _look(self._path), _look(self._log)

    def loss(self, is_sound: Callable[[], bool]) -> str | None:
        """Return what has become of the file, if it is lost; one that was touched is asked whether it is sound."""
        now, log = _look(self._path), _look(self._log)
        if now == self._file and _same(log, self._beside):
            return None
        if now is None:
            return "was removed or renamed"
        if not (_same(now, self._file) or _is_open_here(now)):
            return "was replaced by another file"
        if self._file is not None and now.size < self._file.size:
            return "was cut off"
        if not (_same(log, self._beside) or _is_open_here(log)):
            return "lost the journal that lies beside it"
        if not is_sound():
            return "was overwritten"
        self.mark()
        return None


def holds(path: Path, row: tuple[object, ...] | None, query: str) -> bool:
    """Whether a file is sound and has a row that was written last; one that is in use is not doubted."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                return False
            return row is None or connection.execute(query, row).fetchone() is not None
    except sqlite3.Error as problem:
        return getattr(problem, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _look(path: Path) -> Look | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return Look((found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns)


def _same(now: Look | None, before: Look | None) -> bool:
    """Whether it is the same file; one that was not there before may have come."""
    return before is None or (now is not None and now.which == before.which)


def _is_open_here(now: Look | None) -> bool:
    """Whether this process has the file open: some file systems give a file new numbers while it is used."""
    try:
        opened = [os.fstat(int(number)) for number in os.listdir("/proc/self/fd") if _is_file(number)]
    except OSError:
        return False
    return now is not None and now.which in {(found.st_dev, found.st_ino) for found in opened}


def _is_file(number: str) -> bool:
    try:
        return stat.S_ISREG(os.fstat(int(number)).st_mode)
    except OSError:  # the folder's own, closed by now
        return False
