"""A store without a file, which cannot be told from one that has it, and the simplest executor."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ampler.study.store import SqliteStore
from ampler.study.store.access import migrate


class MemoryStore(SqliteStore):
    """A store that is gone when nobody holds it: for tests, and for studies that need no file."""

    def __init__(self) -> None:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrate(connection, "the store")
        super().__init__(connection, Path("the store"), None)
        self._read_only = False

    def close(self) -> None:
        """Do nothing: what is in memory can be read as long as somebody holds it."""


class SerialExecutor:
    """An executor that makes each call at once, in the thread that asks for it."""

    _max_workers = 1  # where the executors of concurrent.futures keep it

    def submit(self, call: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Make a call; return the future of what it gave."""
        future: Future[Any] = Future()
        try:
            future.set_result(call(*arguments))
        except Exception as problem:
            future.set_exception(problem)
        return future
