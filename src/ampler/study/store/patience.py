"""The work that reading a file may take, bounded by its size: pages that lead in circles come to an end."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

EVERY = 100_000  # steps of SQLite between two looks
LEAST = 20_000_000  # steps that every question may take: less than a second
PER_BYTE = 20  # several times what the dearest of our questions takes on a file of runs


class Patience:
    """Ends a question that takes more steps than a file of this size can need; each question begins anew."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._path = path
        self._left = 0
        self.renew()
        connection.set_progress_handler(self._look, EVERY)

    def renew(self) -> None:
        """Begin a new question."""
        self._left = LEAST + PER_BYTE * size_of(self._path)

    def _look(self) -> int:
        self._left -= EVERY
        return int(self._left < 0)


def size_of(path: Path) -> int:
    """Return the bytes of a study file, with those that wait beside it."""
    return sum(os.path.getsize(file) for file in (path, f"{path}-wal") if os.path.exists(file))
