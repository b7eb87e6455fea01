"""Runs beside other threads: a child of each thread's own, which has one thread, makes them.

A process with several threads must not fork: the child would inherit locks that no one will release. Nor can it tell
which of its threads an orphan fell to. So the child is a fresh interpreter that is sent what to call; there forking is
safe, and whatever a run leaves behind is known. It is replaced when it has ended.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ampler.core.errors import MissingDependency
from ampler.core.values import Limits
from ampler.running.one_run import guardian
from ampler.running.one_run.processes import Ending, Group, alone

CHILD = (
    "import sys; sys.path[:] = sys.argv[5:]; from ampler.running.one_run.threaded import serve_requests;"
    " serve_requests(*map(int, sys.argv[1:5]))"
)
SIZE = 8  # bytes that say how long the answer is

_threads = threading.local()
_serving: set[int] = set()  # the child's own number, whatever threads it may come to have


def beside_threads() -> bool:
    """Say whether runs that fork, or may leave something behind, must be made by a child of this thread's own."""
    return not alone() and os.getpid() not in _serving


def served(function: Callable[..., Any], *arguments: Any) -> Any | Ending:
    """Call a function in this thread's child; an Ending when the child ended without an answer."""
    request = _pickled((function, arguments))
    servant = getattr(_threads, "servant", None)
    if servant is None or servant.owner != os.getpid() or servant.group.has_ended():
        servant = _threads.servant = Servant()
    try:
        answer = servant.ask(request)
    except BaseException:  # we are interrupted while it answers: its answer would be taken for another's
        del _threads.servant
        servant.dismissed(Ending("ended", 0.0))
        raise
    if isinstance(answer, Ending):
        del _threads.servant
        return servant.dismissed(answer)
    return answer


def serve_requests(requests: int, answers: int, line: int, parent: int) -> None:
    """Answer calls until no more come: the life of the child."""
    _serving.add(os.getpid())
    guardian.adopt(line)
    guardian.bind_worker(parent)
    with suppress(EOFError), open(requests, "rb") as coming, open(answers, "wb", buffering=0) as going:
        while True:
            sys.path[:], folder, environment, request = pickle.load(coming)
            _live_in(folder, environment)
            function, arguments = pickle.loads(request)
            answer = pickle.dumps(function(*arguments))
            going.write(len(answer).to_bytes(SIZE, "big") + answer)


class Servant:
    """A child process that answers one call at a time."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        coming, self._requests = os.pipe()
        self._answers, going = os.pipe()
        passed = (coming, going, guardian.ensure())
        command = [sys.executable, "-c", CHILD, *map(str, passed), str(self.owner), *filter(None, sys.path)]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=passed, process_group=0)
        self.group = Group(self._process.pid)
        os.close(coming)
        os.close(going)

    def ask(self, request: bytes) -> Any | Ending:
        """Have a call answered; an Ending when there is no answer."""
        with suppress(BrokenPipeError), open(self._requests, "wb", closefd=False) as file:
            pickle.dump((sys.path, os.getcwd(), dict(os.environ), request), file)
        heard = bytearray()
        ending = self.group.watch(
            {self._answers: heard.extend}, Limits(), began=time.perf_counter(), answered=lambda: _whole(heard)
        )
        return pickle.loads(heard[SIZE:]) if ending.cause == "answered" else ending

    def dismissed(self, ending: Ending) -> Ending:
        """End the child; return its ending with the exit code."""
        code, _ = self.group.end()
        self._process.returncode = code
        os.close(self._requests)
        os.close(self._answers)
        return replace(ending, code=code)

    def __del__(self) -> None:
        if not hasattr(self, "group") or self._process.returncode is not None or self.owner != os.getpid():
            return
        if sys.is_finalizing():
            self._process.returncode = self.group.abandon()
        else:
            self.dismissed(Ending("ended", 0.0))


def _live_in(folder: str, environment: dict[str, str]) -> None:
    """Be where our parent is, and see what it sees, as if it had started the command itself."""
    with suppress(OSError):
        os.chdir(folder)
    if dict(os.environ) != environment:
        os.environ.clear()
        os.environ.update(environment)


def _whole(heard: bytearray) -> bool:
    """Whether all of an answer was heard."""
    return len(heard) >= SIZE and len(heard) >= SIZE + int.from_bytes(heard[:SIZE], "big")


def _pickled(value: object) -> bytes:
    """A value as bytes another process can read: functions by value where cloudpickle is installed."""
    try:
        from cloudpickle import dumps
    except ImportError:
        from pickle import dumps
    try:
        pickled: bytes = dumps(value)
        return pickled
    except Exception as problem:
        raise MissingDependency(
            f"a limit on a function needs a function that can be sent to another process, got {problem}; "
            "pip install cloudpickle, or run with processes instead of threads"
        ) from problem


@atexit.register
def _leave() -> None:
    """End the child of this thread, the last one, while there is still time; those of others end with their threads."""
    _threads.__dict__.pop("servant", None)
