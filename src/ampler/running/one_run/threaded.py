"""Function calls under limits from a process with several threads: a child of each thread's own answers them.

Such a process must not fork: the child would inherit locks that no one will release. So the child is a fresh
interpreter that is sent what to call, and it is replaced when a limit has ended it.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from ampler.core.errors import MissingDependency
from ampler.core.values import Function, Instance, Limits
from ampler.running.one_run.functions import Call, call
from ampler.running.one_run.processes import Ending, Group, can_see_memory, processor_time

CHILD = "import sys; from ampler.running.one_run.threaded import serve; serve(int(sys.argv[1]), int(sys.argv[2]))"
READY = b"!"
SIZE = 8  # bytes that say how long the answer is


def call_served(function: Function, instance: Instance, seed: int, limits: Limits) -> Call | Ending:
    """Call a function in this thread's child; an Ending when the child ended without an answer."""
    request = _pickled((function, instance, seed))
    servant = getattr(_threads, "servant", None)
    if servant is None or servant.group.has_ended():
        servant = _threads.servant = Servant()
    answer = servant.ask(request, limits)
    if isinstance(answer, Ending):
        del _threads.servant
        return servant.dismissed(answer)
    return answer


def serve(requests: int, answers: int) -> None:
    """Answer calls until no more come: the life of the child."""
    with suppress(EOFError), open(requests, "rb") as coming, open(answers, "wb", buffering=0) as going:
        while True:
            path, request = pickle.load(coming)
            sys.path[:] = path
            called = pickle.loads(request)
            going.write(READY)  # what it took to load the function is not counted against its limit
            answer = pickle.dumps(call(*called))
            going.write(len(answer).to_bytes(SIZE, "big") + answer)


class Servant:
    """A child process that answers one call at a time."""

    def __init__(self) -> None:
        coming, self._requests = os.pipe()
        self._answers, going = os.pipe()
        command = [sys.executable, "-c", CHILD, str(coming), str(going)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, pass_fds=(coming, going), process_group=0, env=environment
        )
        self.group = Group(self._process.pid)
        os.close(coming)
        os.close(going)

    def ask(self, request: bytes, limits: Limits) -> Call | Ending:
        """Have a call answered within the limits; an Ending when there is no answer."""
        with suppress(BrokenPipeError), open(self._requests, "wb", closefd=False) as file:
            pickle.dump((sys.path, request), file)
        heard = bytearray()
        ending = self._listen(heard, Limits(), lambda: heard.startswith(READY))
        if ending.cause == "answered":
            del heard[: len(READY)]
            before = processor_time(self.group.leader) if can_see_memory() else 0.0
            ending = self._listen(heard, limits, lambda: _whole(heard), before)
        if ending.cause != "answered":
            return ending
        answer: Call = pickle.loads(heard[SIZE:])
        return answer

    def dismissed(self, ending: Ending) -> Ending:
        """End the child; return its ending with the exit code."""
        code, _ = self.group.end()
        self._process.returncode = code
        os.close(self._requests)
        os.close(self._answers)
        return replace(ending, code=code)

    def _listen(
        self, heard: bytearray, limits: Limits, answered: Callable[[], bool], cpu_before: float = 0.0
    ) -> Ending:
        began = time.perf_counter()
        return self.group.watch(
            {self._answers: heard.extend}, limits, began=began, answered=answered, cpu_before=cpu_before
        )

    def __del__(self) -> None:
        if hasattr(self, "group") and self._process.returncode is None:
            self.dismissed(Ending("ended", 0.0))


_threads = threading.local()


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
