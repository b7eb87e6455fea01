"""One run: a Command or a Function is executed under limits, and whatever happens becomes an outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import NamedTuple, cast

from ampler.core.choices import Status
from ampler.core.errors import InvalidPlan
from ampler.core.values import Algorithm, Around, Command, Function, Instance, Limits, Reading
from ampler.core.wording import in_bytes
from ampler.running.one_run.answers import OutOfStep, result_in
from ampler.running.one_run.around import surrounded
from ampler.running.one_run.functions import Call, call, call_forked
from ampler.running.one_run.processes import UNSEEN, Ending, can_end_processes, can_see_memory, run_group, signal_name
from ampler.running.one_run.readings import NoValue, Tail, decoder, excerpt, reader_of
from ampler.running.one_run.staying import ask
from ampler.running.one_run.threaded import beside_threads, served
from ampler.study.command_line import arguments

UNLIMITED, NOTHING_AROUND = Limits(), Around()
TRIES = 3  # so often a run may end the process that makes it before it counts as failed


class Outcome(NamedTuple):
    """What a run gave: a value exactly when `status` is "ok", else a message that says why there is none.

    `cause` says the same as the message, for programs. `line` is what was printed that the value was read from, for
    people to check; it is not recorded.
    """

    value: float | None
    seconds: float
    status: Status = "ok"
    message: str = ""
    measures: Mapping[str, float] | None = None
    cpu: float | None = None
    started: float | None = None
    line: str = ""
    cause: str = ""


def run_once(algorithm: Algorithm, instance: Instance, seed: int, limits: Limits) -> Outcome:
    """Run an algorithm on an instance with a seed. Nothing a run does raises: it gives an outcome.

    >>> from ampler.core.values import Function, Instance, Limits
    >>> half = Function("half", lambda instance, seed: seed / 2, origin="examples:half")
    >>> run_once(half, Instance("i1"), 7, Limits()).value
    3.5
    """
    return maker_of(algorithm, limits)(instance, seed)


def maker_of(algorithm: Algorithm, limits: Limits) -> Callable[[Instance, int], Outcome]:
    """Return what makes runs of an algorithm under limits: how is found out once for many runs."""
    if isinstance(algorithm, Function) and limits == UNLIMITED and algorithm.around == NOTHING_AROUND:
        return partial(_called_plainly, algorithm)
    return partial(_made_with_care, algorithm, limits)


def _called_plainly(function: Function, instance: Instance, seed: int) -> Outcome:
    started = time.time()
    return _given(function, call(function, instance, seed), started)


def _made_with_care(algorithm: Algorithm, limits: Limits, instance: Instance, seed: int) -> Outcome:
    """A run that starts processes: a command, a child that can be killed, or what is done around a run."""
    if beside_threads():
        return _served(algorithm, instance, seed, limits)
    if algorithm.around == NOTHING_AROUND:
        return _timed(algorithm, instance, seed, limits)
    patience = Limits(limits.timeout, limits.memory)
    return cast(
        Outcome,
        surrounded(
            algorithm,
            make=lambda: _timed(algorithm, instance, seed, limits),
            start=lambda command: _run_command(command, instance, seed, patience),
        ),
    )


def _timed(algorithm: Algorithm, instance: Instance, seed: int, limits: Limits) -> Outcome:
    started = time.time()
    return _within_time(_made(algorithm, instance, seed, limits), limits)._replace(started=started)


def check_limits(limits: Limits) -> None:
    """Raise InvalidPlan when this system cannot keep the limits."""
    watched = {"a memory limit": limits.memory, "a limit of processor time": limits.cpu_timeout}
    needed = [name for name, limit in watched.items() if limit is not None]
    if needed and not can_see_memory():
        raise InvalidPlan(f"{needed[0]} needs /proc, as Linux has it, to see what runs use; leave the limit out here")
    if limits.timeout is not None and not can_end_processes():
        raise InvalidPlan(
            "a time limit needs a system that can end all that a run starts, as Linux and macOS do; leave the limit out"
            " here"
        )


def check_can_run(algorithm: Algorithm) -> None:
    """Raise InvalidPlan when this system cannot carry out such an algorithm: commands need one that ends them."""
    if isinstance(algorithm, Command) and not can_end_processes():
        raise InvalidPlan(
            f"algorithm {algorithm.name!r} is a command, and commands need a system that can end all that they start,"
            " as Linux and macOS do; here Python functions can be run"
        )


def _served(algorithm: Algorithm, instance: Instance, seed: int, limits: Limits) -> Outcome:
    """Have this thread's own child make the run; a run that takes its maker with it is tried again, as elsewhere."""
    for _ in range(TRIES):
        outcome = served(run_once, algorithm, instance, seed, limits)
        if isinstance(outcome, Outcome):
            return outcome
    how = f", and with it the process that made the run, {TRIES} times"
    return _without_value(outcome, limits, "", when=how)


def _made(algorithm: Algorithm, instance: Instance, seed: int, limits: Limits) -> Outcome:
    if isinstance(algorithm, Command) and algorithm.protocol == "worker":
        return _run_resident(algorithm, instance, seed, limits)
    if isinstance(algorithm, Command):
        return _run_command(algorithm, instance, seed, limits)
    return _run_function(algorithm, instance, seed, limits)


def _within_time(outcome: Outcome, limits: Limits) -> Outcome:
    """A run that ended between two looks at its processor time, but beyond the limit, has exceeded it all the same."""
    if limits.cpu_timeout is None or outcome.cpu is None or outcome.cpu <= limits.cpu_timeout:
        return outcome
    if outcome.status != "ok":
        return outcome
    words = _out_of_processor_time(limits)
    return Outcome(None, outcome.seconds, "timeout", words, cpu=outcome.cpu, cause="cpu-timeout")


def _out_of_processor_time(limits: Limits) -> str:
    return f"it used more than {limits.cpu_timeout:g} s of processor time and was ended"


def _run_command(command: Command, instance: Instance, seed: int, limits: Limits) -> Outcome:
    reader, errors = reader_of(command.reading, command.protocol, timeout=limits.timeout), Tail()
    out, err = _text_into(reader.feed), _text_into(errors.feed)
    argv = arguments(command, instance, seed)
    try:
        ending = run_group(argv, folder=command.folder, limits=limits, out=out, err=err)
    except (OSError, ValueError) as problem:
        return Outcome(None, 0.0, "failed", _cannot_start(argv[0], command.folder, problem), cause="start")
    if ending.cause != "ended" or ending.code not in command.success:
        return _without_value(ending, limits, errors.text, success=command.success)
    value = _time(command.reading, ending.seconds, ending.cpu_seconds)
    cpu = ending.cpu_seconds
    if value is not None:
        return Outcome(value, ending.seconds, cpu=cpu)
    try:
        found = reader.result()
        return Outcome(found.value, ending.seconds, measures=found.measures, cpu=cpu, line=found.line)
    except NoValue as problem:
        return Outcome(None, ending.seconds, "failed", f"{problem}{_last_words(errors.text)}", cpu=cpu, cause="value")


def _run_resident(command: Command, instance: Instance, seed: int, limits: Limits) -> Outcome:
    errors, began = Tail(), time.perf_counter()
    try:
        answer = ask(command, instance, seed, limits, err=_text_into(errors.feed))
    except OutOfStep as problem:
        return Outcome(
            None, time.perf_counter() - began, "failed", f"{problem}{_last_words(errors.text)}", cause="value"
        )
    except (OSError, ValueError) as problem:
        return Outcome(None, 0.0, "failed", _cannot_start(command.argv[0], command.folder, problem), cause="start")
    if isinstance(answer, Ending):
        return _without_value(answer, limits, errors.text, when=" before it answered")
    value = _time(command.reading, answer.seconds, answer.cpu_seconds)
    try:
        found = result_in(answer.document, command.reading)
        counted = found.value if value is None else value
        return Outcome(counted, answer.seconds, measures=found.measures, cpu=answer.cpu_seconds, line=found.line)
    except NoValue as problem:
        words = f"{problem}{_last_words(errors.text)}"
        return Outcome(None, answer.seconds, "failed", words, cpu=answer.cpu_seconds, cause="value")


def _run_function(function: Function, instance: Instance, seed: int, limits: Limits) -> Outcome:
    plain = limits == UNLIMITED  # else a child makes it, that can be killed
    called = call(function, instance, seed) if plain else call_forked(function, instance, seed, limits)
    return _without_value(called, limits, "") if isinstance(called, Ending) else _given(function, called)


def _given(function: Function, called: Call, started: float | None = None) -> Outcome:
    """The outcome of a call."""
    result, seconds, cpu, reason, cause = called
    if result is None:
        return Outcome(None, seconds, "failed", reason, None, cpu, started, cause=cause)
    value = _time(function.reading, seconds, cpu)
    return Outcome(result.value if value is None else value, seconds, "ok", "", result.measures, cpu, started)


def _time(reading: Reading, seconds: float, cpu_seconds: float) -> float | None:
    """The value of a run whose value is a time; None for all others."""
    return {"seconds": seconds, "cpu-seconds": cpu_seconds}.get(reading.kind) if reading.is_time else None


def _without_value(
    ending: Ending, limits: Limits, errors: str, *, when: str = "", success: Collection[int] = ()
) -> Outcome:
    """The outcome of a run that a limit ended, or that ended by itself with a code not in `success`."""
    status, words = _reason(ending, limits, when, success)
    said = words if status == "timeout" or ending.cause == "memory" else f"{words}{_last_words(errors)}"
    return Outcome(None, ending.seconds, status, said, cpu=ending.cpu_seconds or None, cause=_cause(ending))


def _cause(ending: Ending) -> str:
    if ending.cause != "ended":
        return ending.cause
    if ending.code == UNSEEN:
        return "unseen"
    return f"signal:{signal_name(-ending.code)}" if ending.code < 0 else f"exit:{ending.code}"


def _reason(ending: Ending, limits: Limits, when: str, success: Collection[int]) -> tuple[Status, str]:
    if ending.cause == "timeout":
        return "timeout", f"it ran longer than {limits.timeout:g} s and was ended"
    if ending.cause == "cpu-timeout":
        return "timeout", _out_of_processor_time(limits)
    if ending.cause == "memory":
        assert limits.memory is not None
        used, allowed = in_bytes(ending.memory), in_bytes(limits.memory)
        return "failed", f"it used {used} of memory, more than {allowed}, and was killed"
    if ending.code == UNSEEN:
        return "failed", "its end was not seen, because this process ignores SIGCHLD; set it to its default"
    wanted = f" (success = {sorted(success)})" if success else ""
    how = (
        f"was ended by {signal_name(-ending.code)}"
        if ending.code < 0
        else f"ended with exit code {ending.code}{wanted}"
    )
    return "failed", f"it {how}{when}"


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
