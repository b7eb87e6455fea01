"""Worker processes on this machine: each can die without harm to the others, and all die with the driver.

Every worker has a pipe of its own, so there is no lock that a killed one could take along, and the kernel tells the
driver of its death, whatever its exit code. There are no threads: workers are forked from the thread that uses the
pool, which is also the one whose end ends them. Where the user's process has threads of its own, a copy of it could
wait for ever for a lock that one of them holds: there workers are started afresh.

Why a pool of our own: a solver may end its process in any way, and must cost its own run only. Pebble (5.2.3) waits
for ever for a worker that leaves with exit code 0; with loky and the pools of the standard library a worker that dies
breaks the pool, and the tasks of all its neighbours are lost with it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from ctypes import c_long
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any

from ampler.core.errors import EngineFailed
from ampler.running.engines import Fate, Lost, Returned, cores, done, fresh
from ampler.running.engines.worker import work_loop
from ampler.running.one_run import guardian
from ampler.running.one_run.functions import DEAF
from ampler.running.one_run.processes import alone, signal_name
from ampler.running.work import Task, Work, names_of

START = "fork" if sys.platform.startswith("linux") else "spawn"  # forked workers know lambdas and notebooks
PATIENCE = 2.0  # seconds an idle worker has to leave by itself


class LocalPool:
    """Worker processes as an engine. A worker that dies costs the run it was making, and is replaced."""

    def __init__(self, work: Work, workers: int) -> None:
        self.workers = workers
        _check_system()
        guardian.ensure()  # before any fork, so that all workers share it
        self._work = work
        self._context = multiprocessing.get_context(START)
        self._sent = None if START != "fork" or alone() else fresh.sendable(work)
        self._workers: list[_Worker] = []
        self._deaf = _hear_of_ends()
        try:
            for _ in range(workers):
                self._workers.append(self._started())
        except BaseException:  # Ctrl-C, or no more processes: those that live would be waited for at the end
            self.close(at_once=True)
            raise

    @classmethod
    def takes(cls, executor: Any) -> bool:
        """Make the runs when no executor is given."""
        return executor is None

    @classmethod
    def capacity(cls, executor: Any) -> int:
        """Return the number of cores."""
        return cores()

    @classmethod
    def over(cls, executor: Any, work: Work, workers: int | None) -> LocalPool:
        """Return a pool of so many workers, or one for each core."""
        return cls(work, workers or cores())

    @property
    def busy(self) -> int:
        """The number of chunks under way."""
        return sum(len(worker.waiting) for worker in self._workers)

    def submit(self, tasks: Sequence[Task]) -> None:
        """Have a chunk of runs made by the least busy worker."""
        min(self._workers, key=lambda worker: len(worker.waiting)).send(tasks)

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return what became of chunks, waiting up to `timeout` seconds for the first."""
        by_sign = {sign: worker for worker in self._workers for sign in (worker.connection, worker.death)}
        ready = {id(by_sign[sign]): by_sign[sign] for sign in wait(list(by_sign), timeout)}  # type: ignore[index]
        return [fate for worker in ready.values() for fate in self._heard(worker)]

    def close(self, *, at_once: bool) -> None:
        """Let the workers go; `at_once` whatever they are doing."""
        for worker in self._workers:
            worker.dismiss(at_once=at_once)
        for worker in self._workers:
            worker.clear()
        self._workers = []
        if self._deaf:
            self._deaf = False
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    def _heard(self, worker: _Worker) -> list[Fate]:
        """What a worker has sent, and, if it died, what went down with it; a new one takes its place."""
        fates = worker.received()
        if worker.has_died():
            fates += worker.lost_and_returned()
            worker.clear()
            self._workers[self._workers.index(worker)] = self._started()
        return fates

    def _started(self) -> _Worker:
        """A new worker: forked, or, where other threads were alive in the beginning, afresh."""
        if self._sent is None:
            return _Worker.start(self._context, self._work)
        return _Worker.start_afresh(self._context, self._sent)


def _check_system() -> None:
    """Raise EngineFailed where the system cannot end what its workers start: then others must make the runs."""
    if not hasattr(os, "fork"):
        raise EngineFailed(
            "workers of our own need a system that forks processes, as Linux and macOS do; give an executor, such as"
            " concurrent.futures.ProcessPoolExecutor, whose processes make the runs"
        )


@dataclass(eq=False)
class _Worker:
    """A worker, what it was asked for in that order, and at which run of the first it is."""

    process: BaseProcess | fresh.FreshProcess
    connection: Connection
    at: c_long
    death: int  # readable when the process has ended
    waiting: list[Sequence[Task]] = field(default_factory=list)

    @classmethod
    def start(cls, context: BaseContext, work: Work) -> _Worker:
        """Start a worker."""
        ours, theirs = context.Pipe()
        at: c_long = context.RawValue(c_long, 0)
        process = context.Process(target=work_loop, args=(theirs, at, work, os.getpid()))  # type: ignore[attr-defined]
        process.start()
        theirs.close()  # at once: a worker that is forked later must not hold it open
        return cls(process, ours, at, _death_of(process))

    @classmethod
    def start_afresh(cls, context: BaseContext, sent: bytes) -> _Worker:
        """Start a worker as a new interpreter, and send it its work."""
        ours, theirs = context.Pipe()
        process, at = fresh.start(theirs)
        theirs.close()
        with suppress(OSError):  # it has died: `collect` will find out
            ours.send_bytes(sent)
        return cls(process, ours, at, os.pidfd_open(process.pid))

    def send(self, tasks: Sequence[Task]) -> None:
        self.waiting.append(tasks)
        with suppress(OSError):  # it has died: `collect` will find out
            self.connection.send(names_of(tasks))

    def received(self) -> list[Fate]:
        fates: list[Fate] = []
        with suppress(EOFError, OSError):
            while self.connection.poll():
                answer = self.connection.recv()
                if isinstance(answer, BaseException):
                    raise answer
                fates.append(done(self.waiting.pop(0), answer))
        return fates

    def has_died(self) -> bool:
        return bool(wait([self.death], 0))

    def lost_and_returned(self) -> list[Fate]:
        """The run the worker was making is lost; all others were not begun, or are made again."""
        if not self.waiting:
            return []
        self.process.join()
        first, *rest = self.waiting
        guilty = min(self.at.value, len(first) - 1)
        others = [*first[:guilty], *first[guilty + 1 :], *(task for tasks in rest for task in tasks)]
        return [Lost([first[guilty]], _how(self.process.exitcode)), Returned(others)]

    def dismiss(self, *, at_once: bool) -> None:
        """Ask the worker to leave, or end it with all that it started."""
        if at_once:
            with suppress(ProcessLookupError):
                self.process.kill()
        else:
            with suppress(OSError):
                self.connection.send(None)

    def clear(self) -> None:
        """Wait for the worker's end, and hasten it if need be."""
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.connection.close()
        if self.death != getattr(self.process, "sentinel", None):
            os.close(self.death)
        with suppress(ValueError):  # where SIGCHLD is ignored, and a thread cannot change that, nobody knows of its end
            self.process.close()


def _death_of(process: BaseProcess) -> int:
    """A file descriptor that tells of a process's death; multiprocessing's own can be held open by grandchildren."""
    assert process.pid is not None
    return os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else process.sentinel


def _hear_of_ends() -> bool:
    """Stop ignoring the ends of children, as a shell may have us do: we must hear of them. Say whether they were."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGCHLD) != signal.SIG_IGN:
        return False
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    return True


def _how(code: int | None) -> str:
    if code == DEAF:
        return "it closed the descriptor through which its worker must answer"
    if code is not None and code < 0:
        name = signal_name(-code)
        return f"it was ended by {name}{', perhaps for want of memory' if name == 'SIGKILL' else ''}"
    return f"it left with exit code {code}"
