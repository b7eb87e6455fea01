"""Group commit: runs are written in groups, because each durable write waits for the disk."""

from __future__ import annotations

import time
from collections.abc import Callable

from ampler.core.contracts import Store
from ampler.core.values import Finished, Observation

RUNS = 100  # a group is written when it has so many runs …
SECONDS = 0.25  # … or its first one has waited so long: more than this is never lost


class Journal:
    """Collects runs and finished instances and writes them to the store in groups.

    `add` and `flush` return the runs that are durable now; only those may be reported as done.
    """

    def __init__(
        self,
        store: Store,
        *,
        runs: int = RUNS,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._runs = runs
        self._seconds = seconds
        self._clock = clock
        self._waiting: list[Observation] = []
        self._finished: list[Finished] = []
        self._since = 0.0

    @property
    def due_in(self) -> float | None:
        """Seconds until the group must be written, 0 when it must be now; None when nothing waits."""
        if not self._waiting and not self._finished:
            return None
        return max(0.0, self._since + self._seconds - self._clock())

    def add(self, *observations: Observation, finished: Finished | None = None) -> list[Observation]:
        """Take runs, and an instance that they finished; write the group if it is full or has waited long enough."""
        if self.due_in is None:
            self._since = self._clock()
        self._waiting.extend(observations)
        if finished is not None:
            self._finished.append(finished)
        due = self.due_in
        return self.flush() if len(self._waiting) >= self._runs or due == 0 else []

    def flush(self) -> list[Observation]:
        """Write what waits, whatever it is; when that fails everything still waits."""
        if self._waiting or self._finished:
            self._store.add(self._waiting, self._finished)
        durable, self._waiting, self._finished = self._waiting, [], []
        return durable
