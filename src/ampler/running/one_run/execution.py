"""One run: a Command or a Function is executed under limits, and whatever happens becomes an outcome."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from ampler.core.choices import Status
from ampler.core.errors import InvalidPlan
from ampler.core.values import Algorithm, Command, Function, Instance, Limits, Reading
from ampler.core.wording import in_bytes
from ampler.running.one_run.answers import OutOfStep, result_in
from ampler.running.one_run.functions import Call, call, call_forked
from ampler.running.one_run.processes import Ending, alone, can_see_memory, run_group
from ampler.running.one_run.readings import NoValue, Tail, decoder, excerpt, reader_of
from ampler.running.one_run.staying import ask
from ampler.running.one_run.threaded import call_served
from ampler.study.command_line import arguments


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: a value exactly when `status` is "ok", else a message that says why there is none."""

    value: float | None
    seconds: float
    status: Status = "ok"
    message: str = ""
    measures: Mapping[str, float] | None = None


def run_once(algorithm: Algorithm, instance: Instance, seed: int, limits: Limits) -> Outcome:
    """Run an algorithm on an instance with a seed. Nothing a run does raises: it gives an outcome.

    >>> from ampler.core.values import Function, Instance, Limits
    >>> half = Function("half", lambda instance, seed: seed / 2, origin="examples:half")
    >>> run_once(half, Instance("i1"), 7, Limits()).value
    3.5
    """
    if isinstance(algorithm, Command) and algorithm.protocol == "worker":
        return _run_resident(algorithm, instance, seed, limits)
    if isinstance(algorithm, Command):
        return _run_command(algorithm, instance, seed, limits)
    return _run_function(algorithm, instance, seed, limits)


def check_limits(limits: Limits) -> None:
    """Raise InvalidPlan when this system cannot keep the limits."""
    if limits.memory is not None and not can_see_memory():
        raise InvalidPlan("a memory limit needs /proc, as Linux has it, to see what runs use; leave the limit out here")


def _run_command(command: Command, instance: Instance, seed: int, limits: Limits) -> Outcome:
    reader, errors = reader_of(command.reading, command.protocol), Tail()
    out, err = _text_into(reader.feed), _text_into(errors.feed)
    argv = arguments(command, instance, seed)
    try:
        ending = run_group(argv, folder=command.folder, limits=limits, out=out, err=err)
    except (OSError, ValueError) as problem:
        return Outcome(None, 0.0, "failed", _cannot_start(argv[0], command.folder, problem))
    if ending.cause != "ended" or ending.code not in command.success:
        return _without_value(ending, limits, errors.text, success=command.success)
    value = _time(command.reading, ending.seconds, ending.cpu_seconds)
    if value is not None:
        return Outcome(value, ending.seconds)
    try:
        found = reader.result()
        return Outcome(found.value, ending.seconds, measures=found.measures)
    except NoValue as problem:
        return Outcome(None, ending.seconds, "failed", f"{problem}{_last_words(errors.text)}")


def _run_resident(command: Command, instance: Instance, seed: int, limits: Limits) -> Outcome:
    errors, began = Tail(), time.perf_counter()
    try:
        answer = ask(command, instance, seed, limits, err=_text_into(errors.feed))
    except OutOfStep as problem:
        return Outcome(None, time.perf_counter() - began, "failed", f"{problem}{_last_words(errors.text)}")
    except (OSError, ValueError) as problem:
        return Outcome(None, 0.0, "failed", _cannot_start(command.argv[0], command.folder, problem))
    if isinstance(answer, Ending):
        return _without_value(answer, limits, errors.text, when=" before it answered")
    value = _time(command.reading, answer.seconds, answer.cpu_seconds)
    try:
        found = result_in(answer.document, command.reading)
        return Outcome(found.value if value is None else value, answer.seconds, measures=found.measures)
    except NoValue as problem:
        return Outcome(None, answer.seconds, "failed", f"{problem}{_last_words(errors.text)}")


def _run_function(function: Function, instance: Instance, seed: int, limits: Limits) -> Outcome:
    called = _called(function, instance, seed, limits)
    if isinstance(called, Ending):
        return _without_value(called, limits, "")
    if called.result is None:
        return Outcome(None, called.seconds, "failed", called.reason)
    value = _time(function.reading, called.seconds, called.cpu_seconds)
    return Outcome(called.result.value if value is None else value, called.seconds, measures=called.result.measures)


def _called(function: Function, instance: Instance, seed: int, limits: Limits) -> Call | Ending:
    """Call a function in this process, or, under limits, in a child that can be killed."""
    if limits == Limits():
        return call(function, instance, seed)
    return call_forked(function, instance, seed, limits) if alone() else call_served(function, instance, seed, limits)


def _time(reading: Reading, seconds: float, cpu_seconds: float) -> float | None:
    """The value of a run whose value is a time; None for all others."""
    return {"seconds": seconds, "cpu-seconds": cpu_seconds}.get(reading.kind)


def _without_value(
    ending: Ending, limits: Limits, errors: str, *, when: str = "", success: Collection[int] = ()
) -> Outcome:
    """The outcome of a run that a limit ended, or that ended by itself with a code not in `success`."""
    if ending.cause == "timeout":
        return Outcome(None, ending.seconds, "timeout", f"it ran longer than {limits.timeout:g} s and was ended")
    if ending.cause == "memory":
        assert limits.memory is not None
        used, allowed = in_bytes(ending.memory), in_bytes(limits.memory)
        return Outcome(None, ending.seconds, "failed", f"it used {used} of memory, more than {allowed}, and was killed")
    wanted = f" (success = {sorted(success)})" if success else ""
    how = f"was ended by {_signal(-ending.code)}" if ending.code < 0 else f"ended with exit code {ending.code}{wanted}"
    return Outcome(None, ending.seconds, "failed", f"it {how}{when}{_last_words(errors)}")


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_words(errors: str) -> str:
    words = excerpt(errors)
    return f"; its error output ends with {words!r}" if words else ""


def _cannot_start(program: str, folder: str, problem: OSError | ValueError) -> str:
    if isinstance(problem, FileNotFoundError):
        if folder and problem.filename == folder:
            return f"the folder {folder!r}, in which it must run, was not found"
        return f"the command {program!r} was not found; give its path, or put it on PATH"
    words = problem.strerror if isinstance(problem, OSError) else str(problem)
    return f"the command {program!r} cannot be started: {words}"


def _text_into(feed: Callable[[str], None]) -> Callable[[bytes], None]:
    decode = decoder().decode
    return lambda data: feed(decode(data))
