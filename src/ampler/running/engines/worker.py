"""The life of a worker process: bound to its driver, it makes the runs of one chunk after the other."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from ctypes import c_long
from multiprocessing.connection import Connection
from typing import Protocol

from ampler.core.errors import AmplerError
from ampler.running.one_run import guardian
from ampler.running.one_run.functions import DEAF
from ampler.running.work import Batch, Name


class Makes(Protocol):
    """What makes runs: the work of a plan."""

    def run(self, names: Sequence[Name], at: c_long | None = None) -> Batch:
        """Make runs, one after the other; `at` is told at which of them we are."""


def work_loop(connection: Connection, at: c_long, work: Makes, driver: int) -> None:
    """Answer for one chunk after the other, until no more come."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # it ends at once, even in the middle of C code
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C goes to the driver only; commands inherit what is set here
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # or we would not hear of the end of a command
    guardian.bind_worker(driver)
    os.register_at_fork(after_in_child=connection.close)  # what a run forks must not answer for us
    line = os.fstat(connection.fileno()).st_ino
    with suppress(EOFError):
        while (names := connection.recv()) is not None:
            answer = _answer(work, names, at)
            if not _leads_to(line, connection):
                os._exit(DEAF)
            connection.send(answer)


def _leads_to(line: int, connection: Connection) -> bool:
    """Whether our connection is still what it was: a run may have closed it, and opened a file of the same number."""
    try:
        return os.fstat(connection.fileno()).st_ino == line
    except OSError:
        return False


def _answer(work: Makes, names: Sequence[Name], at: c_long) -> Batch | AmplerError:
    try:
        return work.run(names, at)
    except AmplerError as problem:
        return problem
