"""Programs that are started once and make run after run: requests go in, answers come out, limits hold for each run.

A program lives in the thread that makes the runs and dies with its process. Algorithms with the same command share
it: their parameters come with each request.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ampler.core.values import Command, Instance, Limits
from ampler.running.one_run.answers import VERSION, Lines, OutOfStep, check_greeting, check_seed, request_of
from ampler.running.one_run.processes import GRACE, Ending, Group, Sink, drain, process_time, processor_time, started
from ampler.running.one_run.strays import Watch

STARTING = 60.0  # seconds a program has at least to say that it is ready; they do not count as run time


@dataclass(frozen=True, slots=True)
class Answer:
    """What a resident program answered, and how long that took it."""

    document: Mapping[str, Any]
    seconds: float
    cpu_seconds: float


def ask(command: Command, instance: Instance, seed: int, limits: Limits, *, err: Sink) -> Answer | Ending:
    """Have a resident program make a run; an Ending when it ended, or was ended by a limit, before it answered.

    It is started when it does not run already: OSError when it cannot be. OutOfStep when what it says is no answer;
    it is then ended too. What it writes to stderr goes to `err`.

    One that has answered before and leaves in good order has had enough: the run is made by its successor.
    """
    request = request_of(command, instance, seed)
    program = _at_hand(command)
    whole = command.reading.kind == "cpu-seconds" or limits.cpu_timeout is not None
    try:
        answer = program.greet(limits, err) or program.answer(request, seed, limits, err, whole=whole)
    except BaseException:  # out of step, or we are interrupted while it is making a run
        _forget(command)
        program.end()
        raise
    if isinstance(answer, Ending):
        _forget(command)
        code = program.end(kindly=answer.cause in ("timeout", "cpu-timeout"))
        if program.answers and answer.cause == "ended" and code == 0:
            return ask(command, instance, seed, limits, err=err)
        return replace(answer, code=code, cpu_seconds=max(answer.cpu_seconds, program.used))
    return answer


class ResidentProgram:
    """A program that answers one request at a time."""

    def __init__(self, command: Command) -> None:
        self.owner = os.getpid()
        self._strays = Watch(alone=False)  # others may be started while it stays
        self._process, _ = started(command.argv, command.folder, self._strays, stdin=subprocess.PIPE)
        self.group = Group(self._process.pid)
        self._heard = Lines()
        self._greeted = False
        self._before = 0.0  # seconds of processor time used before the last request
        self.used = 0.0  # … and for it, once the program has ended
        self.answers = 0

    def greet(self, limits: Limits, err: Sink) -> Ending | None:
        """Wait until it has said that it is ready; an Ending when it ended instead."""
        if self._greeted:
            return None
        patience = max(STARTING, limits.timeout or 0.0)
        ending = self._listen(Limits(patience, limits.memory), err, time.perf_counter())
        if ending.cause == "timeout":
            raise OutOfStep(f'it must print {{"ampler": {VERSION}}} within {patience:g} s of its start, and did not')
        if ending.cause != "answered":
            return ending
        check_greeting(self._heard.next())
        self._greeted = True
        return None

    def answer(self, request: bytes, seed: int, limits: Limits, err: Sink, *, whole: bool) -> Answer | Ending:
        """Send a request and wait for the answer.

        Its processor time is that of the `whole` group where it counts: looking for all of it takes milliseconds.
        """
        used_by = processor_time if whole else process_time
        before = self._before = used_by(self.group.leader)
        began = time.perf_counter()  # before it can begin: on a busy machine it may be far by the time we go on
        with suppress(BrokenPipeError):  # it has ended, and listening will tell
            assert self._process.stdin is not None
            os.write(self._process.stdin.fileno(), request)
        ending = self._listen(limits, err, began, before)
        if ending.cause != "answered":
            return ending
        used = used_by(self.group.leader) - before
        document = self._heard.next()
        check_seed(document, seed)
        self.answers += 1
        return Answer(document, ending.seconds, used)

    def end(self, *, kindly: bool = False) -> int:
        """End it with all that it started; return its exit code. Kindly: it is asked first, and has some seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        with self._process.stdin, self._process.stdout, self._process.stderr:
            if kindly:
                sinks = {self._process.stdout.fileno(): _nowhere, self._process.stderr.fileno(): _nowhere}
                self.group.ask_to_end()
                self.group.watch(sinks, Limits(timeout=GRACE), began=time.perf_counter())
            code, cpu = self.group.end()
            self.used = cpu - self._before
            self._process.returncode = code
            self._strays.end()
        return code

    def disown(self) -> None:
        """Leave it to the process from which this one was forked."""
        self._process.returncode = 0  # or subprocess would look after it

    def _listen(self, limits: Limits, err: Sink, began: float, cpu_before: float = 0.0) -> Ending:
        """Wait for a line of JSON. One that ends after it has answered has answered."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        sinks: dict[int, Sink] = {self._process.stdout.fileno(): self._heard.feed, self._process.stderr.fileno(): err}
        ending = self.group.watch(sinks, limits, began=began, answered=lambda: bool(self._heard), cpu_before=cpu_before)
        if ending.cause == "ended":
            drain(sinks)
        return Ending("answered", ending.seconds) if ending.cause == "ended" and self._heard else ending

    def __del__(self) -> None:
        if not hasattr(self, "group") or self._process.returncode is not None:
            return
        if sys.is_finalizing():
            self._process.returncode = self.group.abandon()
        else:
            with suppress(OSError, ValueError):
                self.end()


_threads = threading.local()


def _at_hand(command: Command) -> ResidentProgram:
    """This thread's resident program for a command, started when there is none or it has ended meanwhile.

    One that was inherited by fork belongs to the parent, and is left alone.
    """
    residents: dict[tuple[tuple[str, ...], str], ResidentProgram] = _threads.__dict__.setdefault("residents", {})
    key = command.argv, command.folder
    known = residents.get(key)
    if known is not None and known.owner != os.getpid():
        known.disown()
        known = None
    if known is None or known.group.has_ended():
        residents.pop(key, None)
        known = residents[key] = ResidentProgram(command)
    return known


def _forget(command: Command) -> None:
    _threads.__dict__.get("residents", {}).pop((command.argv, command.folder), None)


def _nowhere(data: bytes) -> None:
    """Where the last words of a program go that has used up its time."""


@atexit.register
def _leave() -> None:
    """End what this thread, the last one, has at hand."""
    _threads.__dict__.get("residents", {}).clear()
