"""One run: execute a Command or a Function under limits, and turn everything into an outcome."""

from __future__ import annotations

import atexit
import codecs
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import psutil

from ampler.core.errors import EngineFailed, InvalidPlan
from ampler.core.plan import Algorithm, Around, Command, Function, Instance, Limits, Outputs, Reading
from ampler.core.settings import Status
from ampler.core.text import in_bytes
from ampler.running.one_run import processes, readings
from ampler.running.one_run.functions import call, call_forked, import_ahead, is_shared
from ampler.running.one_run.processes import Ending, Group, Orphans, Sink, run_group
from ampler.running.one_run.readings import NoValue, Outcome, Printed, Result, Tail, excerpt, printed, quoted
from ampler.running.one_run.supervisor import alone, is_worker
from ampler.study.run_inputs import arguments, commands_around

UNLIMITED, NOTHING_AROUND = Limits(), Around()
ERROR_OUTPUT = 64 * 1024  # characters at the end of stderr that are kept for messages
TRIES = 3  # number of times a run may kill its worker before it counts as failed


def run_once(algorithm: Algorithm, instance: Instance, seed: int, limits: Limits) -> Outcome:
    """Run an algorithm on an instance with a seed; return an outcome, also for failures.

    >>> from ampler.core.plan import Function, Instance, Limits
    >>> half = Function("half", lambda instance, seed: seed / 2, origin="examples:half")
    >>> run_once(half, Instance("i1"), 7, Limits()).value
    3.5
    """
    return maker_of(algorithm, limits)(instance, seed)


def maker_of(algorithm: Algorithm, limits: Limits) -> Callable[[Instance, int], Outcome]:
    """Return the function that makes runs of an algorithm under limits.

    What a function imports when it is called is imported now, before any clock starts.
    """
    if isinstance(algorithm, Function):
        import_ahead(algorithm.call, limits)
        if not starts_processes(algorithm, limits):
            return partial(_execute, algorithm, limits=limits)
    if algorithm.around == NOTHING_AROUND:
        return partial(_timed, algorithm, limits)
    return partial(_with_commands_around, algorithm, limits)


def starts_processes(algorithm: Algorithm, limits: Limits) -> bool:
    """Return whether a run needs processes: a command, a killable child, or commands around it."""
    return not isinstance(algorithm, Function) or limits != UNLIMITED or algorithm.around != NOTHING_AROUND


def check_supported(algorithm: Algorithm, limits: Limits) -> None:
    """Raise InvalidPlan when this system cannot end what such an algorithm starts, or cannot keep its limits."""
    if processes.can_end_processes():
        return
    if isinstance(algorithm, Command):
        raise InvalidPlan(
            f"algorithm {algorithm.name!r} is a command, and commands need Linux or macOS (ampler must be able to end"
            " their processes); here Python functions can be run"
        )
    if limits.timeout is not None:
        raise InvalidPlan(
            "a time limit needs Linux or macOS (ampler must be able to end the processes of a run); omit the limit here"
        )


def _with_commands_around(algorithm: Algorithm, limits: Limits, instance: Instance, seed: int) -> Outcome:
    """Prepare, warm up, make and clean up; only the run itself is measured.

    A command that fails makes the run a failed one, with the reason. Cleaning up comes after everything, whatever
    became of it, and its failure counts where nothing else has failed.
    """
    steps = commands_around(algorithm)

    def failure(step: str) -> Outcome | None:
        if step not in steps:
            return None
        outcome = _run_command(steps[step], instance, seed, Limits(limits.timeout, limits.memory))
        if outcome.status == "ok":
            return None
        return outcome._replace(status="failed", message=f"its {step} command failed: {outcome.message}")

    def run() -> Outcome:
        for _ in range(algorithm.around.warmup if isinstance(algorithm.around.warmup, int) else 0):
            outcome = failure("prepare") or _timed(algorithm, limits, instance, seed)
            if outcome.status != "ok":
                return outcome._replace(message=f"in a run to warm up, {outcome.message}")
        return failure("prepare") or failure("warmup") or _timed(algorithm, limits, instance, seed)

    try:
        outcome = run()
    finally:
        problem = failure("cleanup")
    return problem if problem is not None and outcome.status == "ok" else outcome


def _timed(algorithm: Algorithm, limits: Limits, instance: Instance, seed: int) -> Outcome:
    started = time.time()
    outcome = _execute(algorithm, instance, seed, limits)
    if outcome.status == "ok" and limits.cpu_timeout is not None and (outcome.cpu or 0.0) > limits.cpu_timeout:
        # it exceeded its processor time between two checks
        ending = Ending("cpu-timeout", outcome.seconds, cpu_seconds=outcome.cpu or 0.0)
        outcome = _without_value(ending, limits, "")
    return outcome._replace(started=started)


def _execute(algorithm: Algorithm, instance: Instance, seed: int, limits: Limits) -> Outcome:
    if isinstance(algorithm, Command):
        run = _run_resident if algorithm.protocol == "worker" else _run_command
        return run(algorithm, instance, seed, limits)
    if limits == UNLIMITED:
        shared = is_shared(algorithm.call) or is_shared(instance.data)
        if not shared:
            return call(algorithm, instance, seed)
        if not (processes.can_end_processes() and (alone() or is_worker())):
            raise EngineFailed(
                f"algorithm {algorithm.name!r} or instance {instance.name!r} holds an object that cannot be copied, so"
                " that runs would share it; create the object inside the function, or run with workers"
            )
    made = call_forked(algorithm, instance, seed, limits)  # by a killable child
    return made if isinstance(made, Outcome) else _without_value(made, limits, "")


def _run_command(command: Command, instance: Instance, seed: int, limits: Limits) -> Outcome:
    output, errors = Tail(), Tail(ERROR_OUTPUT)
    argv = arguments(command, instance, seed)
    try:
        ending = run_group(argv, folder=command.folder, limits=limits, out=_text_into(output), err=_text_into(errors))
    except (OSError, ValueError) as problem:
        return _not_started(argv[0], command.folder, problem)
    outputs, text = command.outputs, output.text
    found = printed(text, outputs, timeout=limits.timeout) if outputs and ending.cause == "ended" else Printed()
    code = ending.code if ending.cause == "ended" and 0 <= ending.code < processes.EXIT_STATUS_UNKNOWN else None
    answer = None if found.answer is None else excerpt(found.answer)
    counts = code in command.success if command.success else code == 0 or (code is not None and found.solved)
    if ending.cause != "ended" or not counts:
        outcome = _without_value(ending, limits, errors.text, success=command.success)
        return outcome._replace(exit_code=code, answer=answer)

    def read() -> Result:
        if not found.solved:
            raise NoValue(f"no match of {outputs.solved!r} in its output{quoted(text)}: it did not solve its instance")
        if outputs.answer and found.answer is None:
            raise NoValue(f"no match of {outputs.answer!r} in its output{quoted(text)}, so it has no answer")
        if command.reading.is_time:
            return Result(0.0)
        return readings.value_in(output, command.reading, command.protocol, timeout=limits.timeout)

    outcome = _with_value(read, command.reading, ending.seconds, ending.cpu_seconds, errors)
    measures = {**(outcome.measures or {}), **(found.measures or {})} or None
    return outcome._replace(measures=measures, exit_code=code, answer=answer, memory=ending.memory or None)


def _run_resident(command: Command, instance: Instance, seed: int, limits: Limits) -> Outcome:
    errors, began = Tail(ERROR_OUTPUT), time.perf_counter()
    try:
        document, ending = request_run(command, instance, seed, limits, err=_text_into(errors))
    except OutOfStep as problem:
        message = f"{problem}{_end_of_errors(errors.text)}"
        return Outcome(None, time.perf_counter() - began, "failed", message, cause="value")
    except (OSError, ValueError) as problem:
        return _not_started(command.argv[0], command.folder, problem)
    if document is None:
        return _without_value(ending, limits, errors.text, when=" before it answered")
    read = partial(result_in, document, command.reading, command.outputs)
    return _with_value(read, command.reading, ending.seconds, ending.cpu_seconds, errors)


def _with_value(read: Callable[[], Result], reading: Reading, seconds: float, cpu: float, errors: Tail) -> Outcome:
    try:
        result = read()
    except NoValue as problem:
        message = f"{problem}{_end_of_errors(errors.text)}"
        return Outcome(None, seconds, "failed", message, cpu=cpu, cause="value")
    value = {"seconds": seconds, "cpu-seconds": cpu}.get(reading.kind, result.value)
    return Outcome(value, seconds, measures=result.measures, cpu=cpu, line=result.line, answer=result.answer)


def _without_value(
    ending: Ending, limits: Limits, errors: str, *, when: str = "", success: Collection[int] = ()
) -> Outcome:
    """The outcome of a run that a limit ended, or that ended by itself with a code not in `success`."""
    used, allowed = in_bytes(ending.memory), in_bytes(limits.memory or 0)
    of_limits = {
        "timeout": f"it ran longer than {limits.timeout or 0.0:g} s and was ended",
        "cpu-timeout": f"it used more than {limits.cpu_timeout or 0.0:g} s of processor time and was ended",
        "memory": f"it used {used} of memory, more than {allowed}, and was killed",
    }
    cause, message, name = str(ending.cause), of_limits.get(ending.cause, ""), processes.signal_name(-ending.code)
    if not message:
        if ending.code == processes.EXIT_STATUS_UNKNOWN:
            reason = "its end was not seen, because this process ignores SIGCHLD; set it to its default"
            cause, message = "unseen", reason
        elif ending.code < 0:
            cause, message = f"signal:{name}", f"it was ended by {name}{when}"
        else:
            codes = f" (success = {sorted(success)})" if success else ""
            cause, message = f"exit:{ending.code}", f"it ended with exit code {ending.code}{codes}{when}"
        message += _end_of_errors(errors)
    status: Status = "timeout" if ending.cause in ("timeout", "cpu-timeout") else "failed"
    outcome = Outcome(None, ending.seconds, status, message, cpu=ending.cpu_seconds or None, cause=cause)
    return outcome._replace(memory=ending.memory or None)


def _end_of_errors(errors: str) -> str:
    line = excerpt(errors)
    return f"; its error output ends with {line!r}" if line else ""


def _not_started(program: str, folder: str, problem: OSError | ValueError) -> Outcome:
    if not isinstance(problem, FileNotFoundError):
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        message = f"the command {program!r} cannot be started: {reason}"
    elif folder and problem.filename == folder:
        message = f"the folder {folder!r}, in which it must run, was not found"
    else:
        message = f"the command {program!r} was not found; give its path, or put it on PATH"
    return Outcome(None, 0.0, "failed", message, cause="start")


def _text_into(tail: Tail) -> Callable[[bytes], None]:
    """A buffer for the output of a program, decoded as UTF-8 with replacement characters."""
    decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
    return lambda data: tail.feed(decode(data))


# Resident programs: started once, they make run after run. Requests go in, answers come out, limits hold for each run.
# A program lives in the thread that makes the runs and dies with its process. Algorithms with the same command share
# it: their parameters come with each request. The protocol is described for users in docs/worker-protocol.md.

STARTING = 60.0  # minimum timeout for the start of a program, which does not count as run time
NO_OUTPUTS = Outputs()
VERSION = 1  # of the protocol; a resident program greets with it
LONGEST_REQUEST = 60_000  # maximum bytes of a request: fits into a pipe, so that sending never blocks
LONGEST_LINE = 1024 * 1024  # bytes of one line of a resident program


Answer = tuple[Mapping[str, Any] | None, Ending]  # the answer, if any, and its seconds


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
        program.disown()  # inherited by fork: it belongs to the parent
        program = None
    if program is not None and program.group.has_ended():
        del programs[key]
        program.end()  # before its successor starts, which would count as an orphan
        program = None
    if program is None:
        program = programs[key] = ResidentProgram(command)
    of_group = command.reading.kind == "cpu-seconds" or limits.cpu_timeout is not None
    try:
        document, ending = program.answer(request, seed, limits, err, of_group=of_group)
    except BaseException:  # out of step, or interrupted during a run
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
        began = time.perf_counter()  # before sending: on a busy machine the program may be ahead of us
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
        """End the program and all its processes, first by SIGTERM; return its exit code."""
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
        """Detach a program inherited from the parent process."""
        self._process.returncode = 0  # otherwise subprocess would wait for it

    def _listen(self, limits: Limits, err: Sink, began: float) -> Ending:
        """Wait for a line of JSON; an answer before the end of the program counts."""
        sinks: dict[int, Sink] = {self._stdout.fileno(): self._lines.feed, self._stderr.fileno(): err}
        lines, before = self._lines, self._before
        ending = self.group.watch(sinks, limits, began=began, answered=lambda: bool(lines), cpu_before=before)
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
    """A resident program gave an invalid answer, after which it cannot be trusted."""


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
    """Output of a resident program by line: lines that begin with a brace are kept, others are skipped."""

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
    """Raise OutOfStep unless this is the greeting of a resident program."""
    if document.get("ampler") != VERSION:
        raise OutOfStep(f'it must first print {{"ampler": {VERSION}}}, got {_quoted(document)}')


def check_seed(document: Mapping[str, Any], seed: int) -> None:
    """Raise OutOfStep unless an answer repeats the seed of its request."""
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
    answer = readings.answer_in(document, outputs)
    if reading.is_time:
        return Result(0.0, readings.measures_of(numbers), answer=answer)  # replaced by the time
    field = reading.what if reading.kind == "json" else "value"
    result = readings.number_in(numbers, field)
    if result is None:
        raise NoValue(f"an answer must have the field {field!r}, got {_quoted(document)}")
    return result._replace(answer=answer, line=readings.beginning(json.dumps(document, ensure_ascii=False)))


def _quoted(answer: bytes | Mapping[str, Any]) -> str:
    if isinstance(answer, bytes):
        return repr(excerpt(answer.decode(errors="replace")))
    return repr(excerpt(json.dumps(answer, ensure_ascii=False)))
