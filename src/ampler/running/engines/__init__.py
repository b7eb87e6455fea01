"""Engines make the runs: they take chunks of tasks and return their results.

Read in this order: the contract, `ExecutorEngine` (anything that is an executor of the kind of concurrent.futures, be
it threads, processes or MPI) and `LocalPool` (processes of this machine, the default) on this page; `dask` (a cluster).
An engine may import `running.work` and what is below, never the driver, which knows no engine but by the contract.

A new engine is a file with a class that fills `Engine`, and its lines in `engine_for` and `capacity_of`.
"""

from __future__ import annotations

import concurrent.futures
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from ampler.core.contracts import Executor
from ampler.core.errors import AmplerError, EngineFailed
from ampler.core.runs import Observation
from ampler.running.one_run.processes import signal_name
from ampler.running.one_run.supervisor import EXIT_NO_RESULT_PIPE, Exit, Supervisor, alone
from ampler.running.work import Batch, Parcel, Task, Work, names_of, observed, run_parcel, sendable


@dataclass(frozen=True, slots=True)
class Done:
    """Finished chunk, with its total seconds."""

    observations: Sequence[Observation]
    seconds: float


@dataclass(frozen=True, slots=True)
class Lost:
    """Runs lost with their worker; `how` it died."""

    tasks: Sequence[Task]
    how: str


@dataclass(frozen=True, slots=True)
class Returned:
    """Runs not begun, or lost without their fault: they are made again."""

    tasks: Sequence[Task]


Fate = Done | Lost | Returned


class Engine(Protocol):
    """Interface of an engine, as the driver uses it, from one thread."""

    @property
    def workers(self) -> int:
        """The number of runs that can be made at the same time."""

    @property
    def busy(self) -> int:
        """The number of chunks under way."""

    def submit(self, tasks: Sequence[Task]) -> None:
        """Submit a chunk of runs."""

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return the outcomes of chunks; wait up to `timeout` seconds for the first."""

    def close(self, *, at_once: bool) -> None:
        """End the workers; with `at_once`, immediately."""


def done(tasks: Sequence[Task], batch: Batch) -> Done:
    """Return the outcome of a chunk with its results."""
    return Done(observed(tasks, batch), batch.seconds)


class ExecutorEngine:
    """Engine that uses an executor of the kind of concurrent.futures."""

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
        """Submit a chunk of runs."""
        try:
            self._futures[self._executor.submit(run_parcel, self._parcel, names_of(tasks))] = tasks
        except RuntimeError as problem:  # broken, or shut down
            raise EngineFailed(
                f"the executor takes no more runs ({str(problem) or type(problem).__name__}); "
                "recorded runs are safe: run again with a new executor to resume"
            ) from problem

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return the outcomes of chunks; wait up to `timeout` seconds for the first."""
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
        """Cancel everything not begun; the executor itself belongs to its owner."""
        for future in self._futures:
            future.cancel()


# Worker processes on this machine: each can die without harm to the others, and all die with the driver.
#
# Workers are children of a supervisor (`one_run/supervisor.py`), which tells the driver of their deaths. Every worker
# has a pipe of its own, so there is no lock that a killed one could take along. Where the user's process has threads of
# its own, a copy of it could wait forever for a lock that one of them holds: there the supervisor is a new interpreter.
#
# Why a pool of our own: a solver may end its process in any way, and must cost its own run only. Pebble (5.2.3) waits
# forever for a worker that leaves with exit code 0; with loky and the pools of the standard library a worker that dies
# breaks the pool, and the tasks of all its neighbours are lost with it.

FORKS = sys.platform.startswith("linux")  # forked workers know lambdas and notebooks; on macOS libraries do not bear it
LEAVE_TIMEOUT = 2.0  # seconds for idle workers to exit
MAX_KILLED = 10  # supervisors in a row that were killed before any chunk was done


class LocalPool:
    """Worker processes as an engine. A worker that dies costs the run it was making, and is replaced."""

    def __init__(self, work: Work, workers: int) -> None:
        if not hasattr(os, "fork"):
            raise EngineFailed(
                "local workers need a system with fork, such as Linux or macOS; specify an executor, such"
                " as concurrent.futures.ProcessPoolExecutor"
            )
        self.workers = workers
        self._work = work
        self._sent = None if FORKS and alone() else sendable(work)
        self._killed = 0
        self._workers: dict[int, _Worker] = {}
        self._supervisor: Supervisor
        self._begin()

    @property
    def busy(self) -> int:
        """The number of chunks under way."""
        return sum(len(worker.waiting) for worker in self._workers.values())

    def submit(self, tasks: Sequence[Task]) -> None:
        """Have a chunk of runs made by the least busy worker."""
        min(self._workers.values(), key=lambda worker: len(worker.waiting)).send(tasks)

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return the outcomes of chunks; wait up to `timeout` seconds for the first."""
        if self._supervisor.control.closed:  # the supervisor was killed too often
            return []
        by_pipe = {worker.connection: worker for worker in self._workers.values() if worker.open}
        ready = wait([*by_pipe, self._supervisor.control], timeout)
        fates = [fate for pipe in ready if pipe in by_pipe for fate in by_pipe[pipe].received()]
        if self._supervisor.control in ready:
            fates += self._after_deaths()
        if any(isinstance(fate, Done) for fate in fates):
            self._killed = 0
        return fates

    def close(self, *, at_once: bool) -> None:
        """End the workers; with `at_once`, immediately."""
        if not at_once:
            for worker in self._workers.values():
                with suppress(OSError):
                    worker.connection.send(None)
            left, until = set(self._workers), time.monotonic() + LEAVE_TIMEOUT
            with suppress(EOFError):
                while left and wait([self._supervisor.control], max(0.0, until - time.monotonic())):
                    left -= {end.worker for end in self._supervisor.exits()}
        self._supervisor.close()
        for worker in self._workers.values():
            worker.connection.close()
        self._workers = {}

    def _begin(self) -> None:
        self._started = 0
        self._supervisor = Supervisor(self._work, self._sent)
        try:
            for _ in range(self.workers):
                self._start()
        except BaseException:  # Ctrl-C
            self.close(at_once=True)
            raise

    def _start(self) -> None:
        self._workers[self._started] = _Worker(self._supervisor.start())
        self._started += 1

    def _after_deaths(self) -> list[Fate]:
        """Runs lost with dead workers; new workers replace them."""
        fates: list[Fate] = []
        try:
            for end in self._supervisor.exits():
                worker = self._workers.pop(end.worker)
                fates += [*worker.received(), *worker.lost_and_returned(end)]
                worker.connection.close()
                self._start()
        except EOFError:
            fates += self._after_kill()
        return fates

    def _after_kill(self) -> list[Fate]:
        """Runs lost with a killed supervisor: they are made again."""
        self._supervisor.close()
        workers, self._workers = self._workers, {}
        fates: list[Fate] = []
        for worker in workers.values():
            fates += worker.received()
            fates += [Returned(tasks) for tasks in worker.waiting]
            worker.connection.close()
        self._killed += 1
        if self._killed > MAX_KILLED:
            raise EngineFailed(
                f"the supervisor process of the workers was killed {self._killed} times before a run ended; recorded"
                " runs are safe: run again to resume"
            )
        self._begin()
        return fates


@dataclass(eq=False)
class _Worker:
    """A worker with its pipe and its requests in order."""

    connection: Connection
    waiting: list[Sequence[Task]] = field(default_factory=list)
    open: bool = True

    def send(self, tasks: Sequence[Task]) -> None:
        self.waiting.append(tasks)
        with suppress(OSError):  # the worker died: `collect` will notice
            self.connection.send(names_of(tasks))

    def received(self) -> list[Fate]:
        fates: list[Fate] = []
        try:
            while self.open and self.connection.poll():
                answer = self.connection.recv()
                if isinstance(answer, BaseException):
                    raise answer
                fates.append(done(self.waiting.pop(0), answer))
        except (EOFError, OSError):
            self.open = False  # its end will be reported
        return fates

    def lost_and_returned(self, end: Exit) -> list[Fate]:
        """The run the worker was making is lost; all others were not begun, or are made again."""
        if not self.waiting:
            return []
        first, *rest = self.waiting
        guilty = min(end.at, len(first) - 1)
        others = [*first[:guilty], *first[guilty + 1 :], *(task for tasks in rest for task in tasks)]
        how = f"it left with exit code {end.code}"
        if end.code == EXIT_NO_RESULT_PIPE:
            how = "it closed the descriptor through which its worker must answer"
        elif end.code < 0:
            name = signal_name(-end.code)
            how = f"it was ended by {name}{', perhaps for want of memory' if name == 'SIGKILL' else ''}"
        return [Lost([first[guilty]], how), Returned(others)]


# Which engine makes the runs


def cores() -> int:
    """Return the number of cores we may use."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()) or 1


def engine_for(executor: Any, work: Work, workers: int | None = None) -> Engine:
    """Return the engine for some work, with this many workers or as many as available."""
    if executor is None:
        return LocalPool(work, workers or cores())
    if hasattr(executor, "collect"):
        engine: Engine = executor  # already an engine
        return engine
    if (client := client_of(executor)) is not None:
        from ampler.running.engines.dask import DaskEngine

        return DaskEngine(client, work, workers)
    return ExecutorEngine(executor, work, workers or capacity_of(executor))


def client_of(executor: Any) -> Any | None:
    """Return the Dask client behind an executor, or None when it is of another kind; Dask is not imported for this."""
    kind = type(executor)
    if kind.__module__ == "distributed.cfexecutor":
        return executor._client  # the client behind get_executor; it has no public name
    return executor if kind.__module__ == "distributed.client" and hasattr(executor, "scatter") else None


def capacity_of(executor: Any) -> int:
    """Return the number of parallel runs: at least one, as workers of a cluster may join later.

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
