"""Executors for tests: they run what they are given, in the simplest way."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


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
