"""The workers of a Dask cluster: who is there, and which of them have taken the work.

Each takes it before it makes runs of it, and runs need nothing else: they can be made by whoever is free. The work
travels between workers as bytes, and each unpacks it itself. Of what Dask cannot unpack on arrival, such as a function
whose module a worker does not see, it makes a connection that is out of step; whatever comes over it next, in this
study or another, never arrives, and runs that need it wait for ever.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from ampler.core.errors import EngineFailed
from ampler.running.work import CannotLoad, Name, Parcel, Work, run_taken, take_packed

RECOUNT = 2.0  # seconds between looks at who is there: workers come and go
ARRIVAL = 0.1  # and while nobody is there
SPREAD = 2.0  # seconds that the first workers have to take the work before runs are sent to those that have
SETTLED = 1.0  # seconds after which nobody is on the way any more to a worker that had just come
FIRST = 100  # the priority of the work: before all runs that wait
DEATHS = 4  # of workers that took the work, after which it is what they die of; as many as Dask gives a task


class DaskWorkers:
    """The workers that a client's cluster has at the moment, and the work they share."""

    def __init__(self, client: Any, work: Work) -> None:
        self._client = client
        self._digest, data, folders = Parcel(work).packed()
        self._unpacking = {"digest": self._digest, "folders": folders}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # large instances are sent once
            self._work = client.submit(bytes, data, pure=False)
        self._threads: dict[str, int] = {}
        self._taking: dict[str, Any] = {}  # the future of it, of each worker that takes the work
        self._having: set[str] = set()
        self._unable: dict[str, str] = {}  # and why
        self._next_look = self._last_came = 0.0
        self._in_doubt = False
        self._deaths = 0  # of those who took the work, while nobody had it
        self.threads = 1  # how many runs they can make at the same time; at least one, as workers may yet come

    @property
    def ready(self) -> bool:
        """Whether there is one that has the work."""
        return bool(self._having)

    def look(self) -> bool:
        """See who is there, if it is time to, and have those who came take the work; say whether it was time.

        EngineFailed when there are workers and none of them can take it.
        """
        due = time.monotonic() >= self._next_look
        if due:
            self._count()
        if self._taking:
            self._see_who_has_taken()
        if due:
            self.threads = max(1, sum(self._threads[at] for at in self._threads.keys() - self._unable.keys()))
        return due

    def doubt(self) -> None:
        """Have all of them take the work once more, unless somebody has just come: one that should have it has not."""
        self._in_doubt = time.monotonic() - self._last_came > SETTLED
        self._next_look = 0.0

    def map(self, chunks: Sequence[Sequence[Name]]) -> tuple[list[Any], frozenset[str]]:
        """Have chunks made: return their futures, and the only workers that may make them, none for any."""
        only = frozenset(self._having if self._having != self._threads.keys() else ())
        # Of a large group of tasks Dask would keep most at the scheduler, and workers would wait for its answers.
        group = f"runs-{uuid4().hex}"
        keys = [(group, number) for number in range(len(chunks))]
        digests = [self._digest] * len(chunks)
        futures = self._client.map(run_taken, digests, chunks, key=keys, pure=False, workers=sorted(only) or None)
        return futures, only

    def are_gone(self, names: Collection[str]) -> bool:
        """Say whether some workers were named and none of them is there any more."""
        return bool(names) and self._threads.keys().isdisjoint(names)

    def forget(self) -> list[Any]:
        """Return the futures of the work and of all who take it, to be taken back."""
        return [*self._taking.values(), self._work]

    def _count(self) -> None:
        self._threads = self._client.nthreads()
        self._next_look = time.monotonic() + (RECOUNT if self._threads else ARRIVAL)
        self._having = set() if self._in_doubt else self._having & self._threads.keys()
        self._in_doubt = False
        self._unable = {at: why for at, why in self._unable.items() if at in self._threads}
        self._count_deaths()
        self._taking = {at: future for at, future in self._taking.items() if at in self._threads}
        came = self._threads.keys() - self._having - self._unable.keys() - self._taking.keys()
        for at in came:
            self._taking[at] = self._client.submit(
                take_packed, self._work, workers=[at], priority=FIRST, pure=False, **self._unpacking
            )
        if came and not self._last_came:
            self._wait_for_the_first()
        if came:
            self._last_came = time.monotonic()

    def _count_deaths(self) -> None:
        """Raise EngineFailed when the work seems to be what workers die of: those that replace them would die for ever.

        As of a module that ends its process when it is imported. Where one worker has the work, others may die.
        """
        self._deaths = 0 if self.ready else self._deaths + len(self._taking.keys() - self._threads.keys())
        if self._deaths >= DEATHS:
            raise _cannot_load(f"{self._deaths} of them ended while they did")

    def _wait_for_the_first(self) -> None:
        """Wait until the first workers have the work, so that all begin together; but not for one that is busy."""
        until = time.monotonic() + SPREAD
        for future in self._taking.values():
            with suppress(Exception):
                future.exception(timeout=max(0.0, until - time.monotonic()))

    def _see_who_has_taken(self) -> None:
        ended = {at: future for at, future in self._taking.items() if future.status in ("finished", "error")}
        for at, future in ended.items():
            del self._taking[at]
            if future.status == "finished":
                self._having.add(at)
            else:
                problem = future.exception()
                self._unable[at] = str(problem) if isinstance(problem, CannotLoad) else sentence(problem)
        if self._unable and self._unable.keys() == self._threads.keys():
            raise _cannot_load(self._unable[min(self._unable)])


def _cannot_load(words: str) -> EngineFailed:
    return EngineFailed(
        f"the Dask workers cannot load the study ({words}); they need the same"
        " packages as this process, and must see the study's folder under the same path"
    )


def sentence(problem: BaseException) -> str:
    """Return the first line of what a problem says."""
    return f"{type(problem).__name__}: {problem}".splitlines()[0][:200]
