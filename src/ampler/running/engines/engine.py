"""Where runs are made: chunks go in, and what became of them comes back. Any executor can be an engine."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Protocol

from ampler.core.contracts import Executor
from ampler.core.errors import AmplerError, EngineFailed
from ampler.core.values import Observation
from ampler.running.work import Batch, Parcel, Task, Work, names_of, observed, run_parcel


@dataclass(frozen=True, slots=True)
class Done:
    """A chunk whose runs were made, and the seconds it took with everything around the runs."""

    observations: Sequence[Observation]
    seconds: float


@dataclass(frozen=True, slots=True)
class Lost:
    """Runs that were being made when their worker died; `how` it died."""

    tasks: Sequence[Task]
    how: str


@dataclass(frozen=True, slots=True)
class Returned:
    """Runs that were not begun, or whose results went down with another one's worker: they are simply made again."""

    tasks: Sequence[Task]


Fate = Done | Lost | Returned


def done(tasks: Sequence[Task], batch: Batch) -> Done:
    """Return the fate of a chunk whose results have come."""
    return Done(observed(tasks, batch), batch.seconds)


class Engine(Protocol):
    """What the driver needs of an engine. It is used from one thread."""

    @property
    def workers(self) -> int:
        """The number of runs that can be made at the same time."""

    @property
    def busy(self) -> int:
        """The number of chunks under way."""

    def submit(self, tasks: Sequence[Task]) -> None:
        """Have a chunk of runs made."""

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return what became of chunks, waiting up to `timeout` seconds for the first."""

    def close(self, *, at_once: bool) -> None:
        """Let the workers go; `at_once` whatever they are doing."""


class ExecutorEngine:
    """Runs are made by an executor of the kind of concurrent.futures: threads, processes, Dask, MPI."""

    def __init__(self, executor: Executor, work: Work, workers: int) -> None:
        self.workers = workers
        self._executor = executor
        self._parcel = Parcel(work)
        self._futures: dict[Future[Batch], Sequence[Task]] = {}

    @property
    def busy(self) -> int:
        """The number of chunks under way."""
        return len(self._futures)

    def submit(self, tasks: Sequence[Task]) -> None:
        """Have a chunk of runs made."""
        try:
            self._futures[self._executor.submit(run_parcel, self._parcel, names_of(tasks))] = tasks
        except RuntimeError as problem:  # broken, or shut down
            raise EngineFailed(
                f"the executor takes no more runs ({problem or type(problem).__name__}); "
                "what is recorded stays: run again with a new executor to go on"
            ) from problem

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return what became of chunks, waiting up to `timeout` seconds for the first."""
        done, _ = concurrent.futures.wait(self._futures, timeout, return_when=concurrent.futures.FIRST_COMPLETED)
        return [_fate(self._futures.pop(future), future) for future in done]

    def close(self, *, at_once: bool) -> None:
        """Take back what has not begun; the executor itself belongs to its owner."""
        for future in self._futures:
            future.cancel()


def _fate(tasks: Sequence[Task], future: Future[Batch]) -> Fate:
    try:
        return done(tasks, future.result())
    except CancelledError:
        return Returned(tasks)
    except AmplerError:
        raise
    except Exception as problem:
        return Lost(tasks, f"{type(problem).__name__}: {problem}")
