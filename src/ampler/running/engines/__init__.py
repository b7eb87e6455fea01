"""Engines make the runs: they take chunks of tasks and return their results.

Read in this order: the contract and `ExecutorEngine` on this page (anything that is an executor of the kind of
concurrent.futures, be it threads, processes or MPI), `local` (processes of this machine, the default), `dask` (a
cluster). An engine may import `running.work` and what is below, never the driver, which knows no engine but by the
contract.

A new engine is a file with a class that fills `Engine`, and its lines in `engine_for` and `capacity_of`.
"""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any, Protocol

from ampler.core.contracts import Executor
from ampler.core.errors import AmplerError, EngineFailed
from ampler.core.runs import Observation
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
        """End the workers; with `at_once`, immediately."""


def done(tasks: Sequence[Task], batch: Batch) -> Done:
    """Return the outcome of a chunk with its results."""
    return Done(observed(tasks, batch), batch.seconds)


class ExecutorEngine:
    """Runs are made by an executor of the kind of concurrent.futures."""

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
                f"the executor takes no more runs ({str(problem) or type(problem).__name__}); "
                "recorded runs are safe: run again with a new executor to resume"
            ) from problem

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return what became of chunks, waiting up to `timeout` seconds for the first."""
        ended, _ = concurrent.futures.wait(self._futures, timeout, return_when=concurrent.futures.FIRST_COMPLETED)
        fates: list[Fate] = []
        for future in ended:
            tasks = self._futures.pop(future)
            try:
                fates.append(done(tasks, future.result()))
            except CancelledError:
                fates.append(Returned(tasks))
            except AmplerError:
                raise
            except Exception as problem:
                fates.append(Lost(tasks, f"{type(problem).__name__}: {problem}"))
        return fates

    def close(self, *, at_once: bool) -> None:
        """Take back what has not begun; the executor itself belongs to its owner."""
        for future in self._futures:
            future.cancel()


def cores() -> int:
    """Return the number of cores we may use."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()) or 1


def engine_for(executor: Any, work: Work, workers: int | None = None) -> Engine:
    """Return what makes the runs of some work; with this many workers, or as many as there are."""
    if executor is None:
        from ampler.running.engines.local import LocalPool

        return LocalPool(work, workers or cores())
    if hasattr(executor, "collect"):
        engine: Engine = executor  # an engine itself
        return engine
    if (client := client_of(executor)) is not None:
        from ampler.running.engines.dask import DaskEngine

        return DaskEngine(client, work, workers)
    return ExecutorEngine(executor, work, workers or capacity_of(executor))


def client_of(executor: Any) -> Any | None:
    """Return the Dask client behind an executor, or None when it is of another kind; Dask is not imported for this."""
    kind = type(executor)
    if kind.__module__ == "distributed.cfexecutor":
        return executor._client  # what get_executor was called on; it has no public name
    return executor if kind.__module__ == "distributed.client" and hasattr(executor, "scatter") else None


def capacity_of(executor: Any) -> int:
    """Return how many runs can be made at the same time: at least one, as workers of a cluster may yet come.

    An executor that does not say how many workers it has counts as one with a worker for each core.
    """
    if executor is None:
        return cores()
    if (client := client_of(executor)) is not None:
        threads: dict[str, int] = client.nthreads()
        return max(1, sum(threads.values()))
    if isinstance(workers := getattr(executor, "workers", None), int):
        return workers
    # The executors of the standard library, mpi4py and loky keep their number here; nowhere is it public.
    return getattr(executor, "_max_workers", None) or cores()
