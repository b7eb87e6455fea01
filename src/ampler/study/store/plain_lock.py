"""The lock of a study where there are no POSIX locks: an exclusive transaction of SQLite, which locks everywhere."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from ampler.core.errors import StoreBusy, StoreUnusable


class PlainLock:
    """Held from the moment it is made until `close`; it ends with its process, however that ends."""

    def __init__(self, path: Path, study: Path) -> None:
        try:
            # from any thread: whoever closes the study gives the lock back
            self._held = sqlite3.connect(path, timeout=0.0, isolation_level=None, check_same_thread=False)
            self._held.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as problem:
            with suppress(AttributeError):
                self._held.close()
            if "locked" in str(problem):
                raise StoreBusy(
                    f"{study.name} is being run by another process; wait for it to end, or interrupt it"
                ) from None
            raise StoreUnusable(
                f"{study} cannot be locked ({problem}); keep the study in a folder that you can write to, on a file"
                " system that has locks"
            ) from None

    def close(self) -> None:
        """Give the right back; the file stays, as another process may already have it."""
        self._held.close()
