"""A connection for reading that leaves nothing beside a study file.

SQLite makes two small files, -wal and -shm, for whoever reads a file of its kind, and a connection that may only read
cannot remove them again. So when it is closed, one that may write is opened and closed: SQLite then removes them by its
own rules, and only if nobody else has the file open. The study file itself is not changed by it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote


class TidyReader(sqlite3.Connection):
    """A connection that tidies up when it is closed; `tidy` is the file of which nothing is to be left."""

    tidy: Path | None = None

    def close(self) -> None:
        """Close it, and let SQLite remove what it made for this connection."""
        super().close()
        path, self.tidy = self.tidy, None
        if path is not None and any(_beside(path, ending).exists() for ending in ("-wal", "-shm")):
            _open_and_close(path)


def nothing_pending(path: Path) -> bool:
    """Whether no writer has left, or is about to leave, runs beside the file."""
    log = _beside(path, "-wal")
    try:
        return not log.exists() or log.stat().st_size == 0
    except OSError:
        return False


def nobody_writes(path: Path) -> bool:
    """Whether we cannot write the file, and no one else is seen to: then it can be read as it stands."""
    return not os.access(path, os.W_OK) and not _beside(path, "-wal").exists()


def _open_and_close(path: Path) -> None:
    where = f"file:{quote(str(path))}?mode=rw"
    options: dict[str, Any] = {"uri": True, "timeout": 0.0, "isolation_level": None}
    with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(where, **options)) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA schema_version").fetchone()


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
