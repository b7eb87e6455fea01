"""Programs that are started once and make run after run: requests go in, answers come out, limits hold for each run.

A program lives in the thread that makes the runs and dies with its process. Algorithms with the same command share
it: their parameters come with each request. The protocol is described for users in docs/worker-protocol.md.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import psutil

from ampler.core.plan import Command, Instance, Limits, Outputs, Reading
from ampler.running.one_run import processes
from ampler.running.one_run.processes import Ending, Group, Orphans, Sink
from ampler.running.one_run.readings import NoValue, Result, answer_in, beginning, excerpt, measures_of, number_in

STARTING = 60.0  # seconds a program has at least to say that it is ready; they do not count as run time
NO_OUTPUTS = Outputs()
VERSION = 1  # of the protocol; a resident program greets with it
LONGEST_REQUEST = 60_000  # bytes: what surely fits into a pipe, so that sending never waits for a resident program
LONGEST_LINE = 1024 * 1024  # bytes of one line of a resident program


Answer = tuple[Mapping[str, Any] | None, Ending]  # what was answered, if it was, and how long that took


def request_run(command: Command, instance: Instance, seed: int, limits: Limits, *, err: Sink) -> Answer:
    """Have a resident program make a run; no answer when it ended, or was ended by a limit, before it answered.

    It is started when it does not run already: OSError when it cannot be. OutOfStep when its line is no answer; it is
    then ended too. What it writes to stderr goes to `err`.

    One that has answered before and leaves in good order has had enough: the run is made by its successor.
    """
    request = request_of(command, instance, seed)
    programs, key = _programs(), (command.argv, command.folder)
    program = programs.get(key)
    if program is not None and program.owner != os.getpid():
        program.disown()  # it was inherited by fork, and belongs to the parent
        program = None
    if program is not None and program.group.has_ended():
        del programs[key]
        program.end()  # before its successor starts, which would be taken for something it has left
        program = None
    if program is None:
        program = programs[key] = ResidentProgram(command)
    of_group = command.reading.kind == "cpu-seconds" or limits.cpu_timeout is not None
    try:
        document, ending = program.answer(request, seed, limits, err, of_group=of_group)
    except BaseException:  # out of step, or we are interrupted while it is making a run
        del programs[key]
        program.end()
        raise
    if document is None:
        del programs[key]
        code = program.end(kindly=ending.cause in ("timeout", "cpu-timeout"))
        if program.answers and ending.cause == "ended" and code == 0:
            return request_run(command, instance, seed, limits, err=err)
        ending = replace(ending, code=code, cpu_seconds=max(ending.cpu_seconds, program.used))
    return document, ending


class ResidentProgram:
    """A program that answers one request at a time."""

    def __init__(self, command: Command) -> None:
        self.owner = os.getpid()
        self._orphans = Orphans()
        self._process = process = processes.started(command.argv, command.folder, stdin=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self.group = Group(process.pid)
        self._leader = psutil.Process(process.pid)
        self._lines = Lines()
        self._greeted = False
        self._before = 0.0  # seconds of processor time used before the last request
        self.used = 0.0  # … and for it, once the program has ended
        self.answers = 0

    def answer(self, request: bytes, seed: int, limits: Limits, err: Sink, *, of_group: bool) -> Answer:
        """Send a request and wait for the answer; before the first, wait until the program is ready.

        Its processor time is that `of_group` where it counts: looking for all of it takes milliseconds.
        """

        def processor_seconds() -> float:
            return processes.processor_time(self.group.leader) if of_group else processes.process_time(self._leader)

        if not self._greeted:
            patience = max(STARTING, limits.timeout or 0.0)
            ending = self._listen(Limits(patience, limits.memory), err, time.perf_counter())
            if ending.cause == "timeout":
                greeting = f'{{"ampler": {VERSION}}}'
                raise OutOfStep(f"it must print {greeting} within {patience:g} s of its start, and did not")
            if ending.cause != "answered":
                return None, ending
            check_greeting(self._lines.next())
            self._greeted = True
        self._before = processor_seconds()
        began = time.perf_counter()  # before it can begin: on a busy machine it may be far by the time we continue
        with suppress(BrokenPipeError):  # it has ended; the next read shows it
            os.write(self._stdin.fileno(), request)
        ending = self._listen(limits, err, began)
        if ending.cause != "answered":
            return None, ending
        ending = replace(ending, cpu_seconds=processor_seconds() - self._before)
        document = self._lines.next()
        check_seed(document, seed)
        self.answers += 1
        return document, ending

    def end(self, *, kindly: bool = False, orphans: bool = True) -> int:
        """End it with all that it started; return its exit code. Kindly: it is asked first, and has some seconds."""
        with self._stdin, self._stdout, self._stderr:
            if kindly:
                sinks: dict[int, Sink] = {pipe.fileno(): lambda data: None for pipe in (self._stdout, self._stderr)}
                self.group.ask_to_end()
                self.group.watch(sinks, Limits(timeout=processes.GRACE), began=time.perf_counter())
            code, cpu, _ = self.group.end()
            self.used = cpu - self._before
            self._process.returncode = code
            if orphans:
                self._orphans.end([program.group.leader for program in _programs().values()])
        return code

    def disown(self) -> None:
        """Leave it to the process from which this one was forked."""
        self._process.returncode = 0  # or subprocess would look after it

    def _listen(self, limits: Limits, err: Sink, began: float) -> Ending:
        """Wait for a line of JSON. One that ends after it has answered has answered."""
        sinks: dict[int, Sink] = {self._stdout.fileno(): self._lines.feed, self._stderr.fileno(): err}
        ending = self.group.watch(
            sinks, limits, began=began, answered=lambda: bool(self._lines), cpu_before=self._before
        )
        if ending.cause == "ended":
            processes.drain(sinks)
        return Ending("answered", ending.seconds) if ending.cause == "ended" and self._lines else ending

    def __del__(self) -> None:
        if not hasattr(self, "group") or self._process.returncode is not None:
            return
        if sys.is_finalizing():
            self.group.signal(signal.SIGKILL)
            self._process.returncode = -signal.SIGKILL
        else:
            with suppress(OSError, ValueError):
                self.end(orphans=False)  # at any moment, so also while another program is being started


_threads = threading.local()


def _programs() -> dict[tuple[tuple[str, ...], str], ResidentProgram]:
    """The resident programs of this thread, by command and folder."""
    programs: dict[tuple[tuple[str, ...], str], ResidentProgram] = _threads.__dict__.setdefault("programs", {})
    return programs


@atexit.register
def _leave() -> None:
    for program in _programs().values():
        if program.owner == os.getpid():
            program.end()
    _programs().clear()


# The protocol


class OutOfStep(Exception):
    """A resident program said what is no answer to its request, so that nothing it says later can be trusted."""


def request_of(command: Command, instance: Instance, seed: int) -> bytes:
    r"""Return the line that asks a resident program for a run. The order of the fields is part of the protocol.

    >>> request_of(Command("full", ("./worker",), {"k": 3}, protocol="worker"), Instance("i1"), 42)
    b'{"seed": 42, "instance": "i1", "parameters": {"k": 3}}\n'
    """
    document = {"seed": seed, "instance": instance.text, "parameters": dict(command.parameters)}
    line = json.dumps(document, ensure_ascii=False).encode(errors="surrogateescape") + b"\n"
    if len(line) > LONGEST_REQUEST:
        raise ValueError(f"a request must have at most {LONGEST_REQUEST} bytes, this one has {len(line)}")
    return line


class Lines:
    """What a resident program prints, line by line: those that begin with a brace wait here, others are passed over."""

    def __init__(self) -> None:
        self._rest = b""
        self._waiting: deque[bytes] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def feed(self, data: bytes) -> None:
        """Take the next piece; OutOfStep when a line has no end."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._waiting.extend(line for line in map(bytes.strip, lines) if line.startswith(b"{"))
        if len(self._rest) > LONGEST_LINE:
            raise OutOfStep(f"a line of its answers must have at most {LONGEST_LINE} bytes, one has more")

    def next(self) -> dict[str, Any]:
        """Take the next line out and return the JSON object it is."""
        line = self._waiting.popleft()
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            raise OutOfStep(f"an answer must be a line of JSON, got {_quoted(line)}") from None
        assert isinstance(document, dict), "it begins with a brace"
        return document


def check_greeting(document: Mapping[str, Any]) -> None:
    """Raise OutOfStep unless this is how a resident program says that it is ready."""
    if document.get("ampler") != VERSION:
        raise OutOfStep(f'it must first print {{"ampler": {VERSION}}}, got {_quoted(document)}')


def check_seed(document: Mapping[str, Any], seed: int) -> None:
    """Raise OutOfStep unless an answer repeats the seed of its request: it could be the answer to another one."""
    if document.get("seed") != seed:
        raise OutOfStep(f'an answer must repeat the seed of its request, "seed": {seed}, got {_quoted(document)}')


def result_in(document: Mapping[str, Any], reading: Reading, outputs: Outputs = NO_OUTPUTS) -> Result:
    """Return the value of an answer; NoValue when it has none, or says that the run failed.

    >>> result_in({"seed": 42, "value": 17.5, "steps": 300}, Reading()).measures
    {'value': 17.5, 'steps': 300.0}
    """
    if "error" in document:
        raise NoValue(f"it answered with the error {excerpt(str(document['error']))!r}")
    numbers = {name: value for name, value in document.items() if name != "seed"}
    answer = answer_in(document, outputs)
    if reading.is_time:
        return Result(0.0, measures_of(numbers), answer=answer)  # the time will take its place
    field = reading.what if reading.kind == "json" else "value"
    result = number_in(numbers, field)
    if result is None:
        raise NoValue(f"an answer must have the field {field!r}, got {_quoted(document)}")
    return result._replace(answer=answer, line=beginning(json.dumps(document, ensure_ascii=False)))


def _quoted(answer: bytes | Mapping[str, Any]) -> str:
    if isinstance(answer, bytes):
        return repr(excerpt(answer.decode(errors="replace")))
    return repr(excerpt(json.dumps(answer, ensure_ascii=False)))
