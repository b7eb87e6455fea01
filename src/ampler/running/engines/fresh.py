"""Workers that are started afresh, as new interpreters that are sent their work.

A process with several threads must not be forked: its copy inherits whatever locks the other threads hold, and nobody
there will ever release them. A function that takes one of them would wait for ever.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from ctypes import c_long, sizeof
from mmap import mmap
from multiprocessing.connection import Connection

from ampler.core.errors import EngineFailed, InvalidInput
from ampler.running.engines.worker import Makes, work_loop
from ampler.running.one_run import guardian
from ampler.running.work import Batch, Name, Parcel, Work

CHILD = (
    "import sys; sys.path[:] = sys.argv[5:]; from ampler.running.engines.fresh import live;"
    " live(*map(int, sys.argv[1:5]))"
)


def sendable(work: Work) -> bytes | None:
    """Return some work as bytes for a fresh process; None when it can only be inherited by a fork.

    Functions of scripts and notebooks travel by value, which needs cloudpickle.
    """
    try:
        import cloudpickle
    except ImportError:
        return None
    try:
        data: bytes = cloudpickle.dumps(Parcel(work))
        return data
    except Exception as problem:
        if "lock" in str(problem).lower():
            raise InvalidInput(
                "functions must not hold a lock of this process, which has other threads: a worker would wait for ever"
                f" for one that they hold ({problem}); make the lock in a module of its own, or inside the function"
            ) from problem
        return None


def start(theirs: Connection) -> tuple[FreshProcess, c_long]:
    """Start a worker that has one end of a connection; return it, and the number by which it says where it is.

    Its work must be sent to it first.
    """
    number = os.memfd_create("ampler")
    try:
        os.ftruncate(number, sizeof(c_long))
        at = c_long.from_buffer(mmap(number, sizeof(c_long)))
        passed = (theirs.fileno(), number, guardian.ensure())
        command = [sys.executable, "-c", CHILD, *map(str, passed), str(os.getpid()), *filter(None, sys.path)]
        return FreshProcess(command, passed), at
    finally:
        os.close(number)


class FreshProcess:
    """A process with the words of those of multiprocessing, as far as the pool needs them."""

    def __init__(self, command: Sequence[str], passed: Sequence[int]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=passed)
        self.pid = self._process.pid

    @property
    def exitcode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    def is_alive(self) -> bool:
        """Say whether it runs."""
        return self._process.poll() is None

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout)

    def kill(self) -> None:
        """End it."""
        self._process.kill()

    def close(self) -> None:
        """Let go of it; it has ended."""


# In the worker


def live(connection: int, number: int, line: int, driver: int) -> None:
    """A fresh worker's life: it is told its work, then it works as all others do."""
    guardian.adopt(line)
    guardian.bind_worker(driver)
    ours = Connection(connection)
    at = c_long.from_buffer(mmap(number, sizeof(c_long)))
    with suppress(EOFError):
        work_loop(ours, at, _loaded(ours.recv_bytes()), driver)


def _loaded(data: bytes) -> Makes:
    try:
        parcel: Parcel = pickle.loads(data)
        return parcel.work
    except Exception as problem:
        return _Unloadable(f"{type(problem).__name__}: {problem}".splitlines()[0][:200])


class _Unloadable:
    """Work that could not be loaded: whoever asks for it is told why."""

    def __init__(self, problem: str) -> None:
        self._problem = problem

    def run(self, names: Sequence[Name], at: c_long | None = None) -> Batch:
        raise EngineFailed(
            f"the workers cannot load the study ({self._problem}); they are started afresh, because this process has"
            " several threads: its functions must be in modules that a new process can import"
        )
