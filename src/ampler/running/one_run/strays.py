"""What a run left behind: daemons that left its process group are ours when their parents end, and are ended.

A program that calls setsid or forks twice escapes its process group. On Linux a process may declare itself the one to
whom orphans of its descendants fall (PR_SET_CHILD_SUBREAPER); then whoever is a child of ours after a run and was not
before it is a stray. Where several threads make runs at the same time, a stray is known by the run's own mark in its
environment instead.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress

from ampler.running.one_run import guardian
from ampler.running.one_run.guardian.script import content

PR_SET_CHILD_SUBREAPER = 36
MARK = "AMPLER_RUN"  # a variable in the environment of a run, its own for each
PATIENCE = 2.0  # seconds in which what was killed must have ended

_serial = itertools.count()


class Watch:
    """The children of this process before a run; `end` ends those that came with it."""

    def __init__(self, *, alone: bool) -> None:
        guardian.ensure()  # before the orphans fall to us: it is one
        _adopt_orphans()
        self._alone = alone
        self._mark = f"{os.getpid()}.{next(_serial)}"
        self._before = children()

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the run: with its mark."""
        return {**variables, MARK: self._mark}

    def end(self, *known: int) -> None:
        """Kill what the run left behind, `known` processes apart; what they leave in turn falls to us, and is next."""
        ours = self._before.union(known)
        until = time.monotonic() + PATIENCE
        while (strays := self._strays(ours)) and time.monotonic() < until:
            for stray in strays:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(stray, signal.SIGKILL)
            for stray in strays:
                with suppress(ChildProcessError):
                    os.waitpid(stray, 0)

    def _strays(self, ours: set[int] | frozenset[int]) -> list[int]:
        return [child for child in children() if child not in ours and self._came_with(child)]

    def _came_with(self, child: int) -> bool:
        """Whether a child came with the run: it has the run's mark, or, if nobody else starts any, no mark at all."""
        variables = variables_of(child)
        if guardian.SIGN in variables:
            return False
        if self._alone and not any(variable.startswith(f"{MARK}=".encode()) for variable in variables):
            return True
        return f"{MARK}={self._mark}".encode() in variables


def children() -> frozenset[int]:
    """Return the numbers of the child processes of this one; none where the system does not tell.

    The kernel says at once when there are none, which is the rule; only else is /proc looked through.
    """
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return frozenset()
    parent = str(os.getpid()).encode()
    with suppress(OSError):
        return frozenset(int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if _parent_of(pid) == parent)
    return frozenset()


def _parent_of(process: str) -> bytes:
    fields = content(f"/proc/{process}/stat").rpartition(b")")[2].split()
    return fields[1] if fields else b""


def variables_of(process: int) -> list[bytes]:
    """Return the environment with which a process was started; empty where that cannot be seen."""
    return content(f"/proc/{process}/environ").split(b"\0")


_adopting: set[int] = set()


def _adopt_orphans() -> None:
    """Once for each process: what was declared before a fork does not hold after it."""
    if os.getpid() not in _adopting and sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        _adopting.clear()
        _adopting.add(os.getpid())
