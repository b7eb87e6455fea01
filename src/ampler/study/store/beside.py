"""What was in a study file that is lost while it is open, saved beside it."""

from __future__ import annotations

import ctypes
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

MOST_NAMES = 1000


def new_file_beside(path: Path) -> Path | None:
    """Make an empty file beside a study file, or, where that cannot be, here or among the temporary files."""
    for folder in (path.parent, Path.cwd(), Path(tempfile.gettempdir())):
        for name in _names(path):
            try:
                os.close(os.open(folder / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
                return folder / name
            except FileExistsError:
                continue
            except OSError:
                break
    return None


def copied_whole(connection: sqlite3.Connection, target: Path) -> bool:
    """Copy what an open connection can still read; False when that is damaged."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(target)) as copy:
        connection.backup(copy)
        return bool(copy.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    return False


def abandon(connection: sqlite3.Connection) -> None:
    """Leave a connection open until the process ends: closing it would write our pages over what somebody put there."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _names(path: Path) -> Iterator[str]:
    yield f"{path.stem}-saved{path.suffix}"
    yield from (f"{path.stem}-saved-{number}{path.suffix}" for number in range(2, MOST_NAMES))
