"""One run: a Command or a Function is executed under limits, and whatever happens becomes an outcome."""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Collection
from functools import partial

from ampler.core.errors import EngineFailed, InvalidPlan
from ampler.core.plan import Algorithm, Around, Command, Function, Instance, Limits, Reading
from ampler.core.settings import Status
from ampler.core.text import in_bytes
from ampler.running.one_run.functions import call, call_forked, import_ahead, is_shared
from ampler.running.one_run.processes import EXIT_STATUS_UNKNOWN, Ending, can_end_processes, run_group, signal_name
from ampler.running.one_run.readings import (
    NoValue,
    Outcome,
    Printed,
    Result,
    Tail,
    excerpt,
    printed,
    quoted,
    value_in,
)
from ampler.running.one_run.resident import OutOfStep, request_run, result_in
from ampler.running.one_run.supervisor import alone, is_worker
from ampler.study.run_inputs import arguments, commands_around

UNLIMITED, NOTHING_AROUND = Limits(), Around()
ERROR_OUTPUT = 64 * 1024  # characters at the end of stderr that are kept for messages
TRIES = 3  # so often a run may end the process that makes it before it counts as failed


def run_once(algorithm: Algorithm, instance: Instance, seed: int, limits: Limits) -> Outcome:
    """Run an algorithm on an instance with a seed. Nothing a run does raises: it gives an outcome.

    >>> from ampler.core.plan import Function, Instance, Limits
    >>> half = Function("half", lambda instance, seed: seed / 2, origin="examples:half")
    >>> run_once(half, Instance("i1"), 7, Limits()).value
    3.5
    """
    return maker_of(algorithm, limits)(instance, seed)


def maker_of(algorithm: Algorithm, limits: Limits) -> Callable[[Instance, int], Outcome]:
    """Return what makes runs of an algorithm under limits: how is found out once for many runs.

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
    """Say whether a run takes more than a call: a command, a child that can be killed, or what is done around a run."""
    return not isinstance(algorithm, Function) or limits != UNLIMITED or algorithm.around != NOTHING_AROUND


def check_supported(algorithm: Algorithm, limits: Limits) -> None:
    """Raise InvalidPlan when this system cannot end what such an algorithm starts, or cannot keep its limits."""
    if can_end_processes():
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
        # it ended between two checks at its processor time
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
        if not (can_end_processes() and (alone() or is_worker())):
            raise EngineFailed(
                f"algorithm {algorithm.name!r} or instance {instance.name!r} holds an object that cannot be copied, so"
                " that runs would share it; create the object inside the function, or run with workers"
            )
    made = call_forked(algorithm, instance, seed, limits)  # by a child that can be killed
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
    code = ending.code if ending.cause == "ended" and 0 <= ending.code < EXIT_STATUS_UNKNOWN else None
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
        return value_in(output, command.reading, command.protocol, timeout=limits.timeout)

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
    cause, message, name = str(ending.cause), of_limits.get(ending.cause, ""), signal_name(-ending.code)
    if not message:
        if ending.code == EXIT_STATUS_UNKNOWN:
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
    """A sink for what a program prints: UTF-8, and whatever else as replacement characters."""
    decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
    return lambda data: tail.feed(decode(data))
