"""One call of a Python function: in this process, or, under limits, in a forked child that can be killed."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ampler.core.values import Function, Instance, Limits
from ampler.running.one_run import guardian
from ampler.running.one_run.processes import Ending, Group, drain
from ampler.running.one_run.readings import NoValue, Result
from ampler.running.one_run.returned import raised, result_of
from ampler.running.one_run.strays import Watch
from ampler.running.one_run.surroundings import surroundings_of
from ampler.running.one_run.warmth import Arrival, warm_up

DEAF = 251  # the exit code of a child whose function has closed the pipe for its answer


class Call(NamedTuple):
    """What a function call gave: a result, or the reason why there is none, and how long it took."""

    result: Result | None
    seconds: float
    cpu_seconds: float
    reason: str = ""


def call(function: Function, instance: Instance, seed: int) -> Call:
    """Call a function in this process; whatever it raises becomes the reason of a failure.

    Only an interrupt from outside is none of its business: KeyboardInterrupt goes on.
    """
    process = os.getpid()
    with surroundings_of(process):
        began, cpu_began = time.perf_counter(), time.process_time()
        result, reason = None, ""
        try:
            result = result_of(function.call(argument_of(instance), seed, **function.parameters), function)
        except NoValue as problem:
            reason = str(problem)
        except BaseException as problem:
            reason = raised(problem)
        if os.getpid() != process:
            os._exit(0)  # the function has forked and returned twice: only one of them answers
        return Call(result, time.perf_counter() - began, time.process_time() - cpu_began, reason)


def call_forked(function: Function, instance: Instance, seed: int, limits: Limits) -> Call | Ending:
    """Call a function in a forked child; an Ending when the child ended without an answer.

    The child knows the function and the instance already: nothing is pickled but the answer. What it has imported is
    imported here, so that the next child need not.
    """
    flush()
    strays = Watch(alone=True)
    bind = guardian.binding()
    reading, writing = os.pipe()
    began = time.perf_counter()
    with guardian.labelling():
        child = os.fork()
        if child == 0:
            os.close(reading)
            _live_as_child(bind, function, instance, seed, writing)
    os.close(writing)
    group, answer = Group(child), bytearray()
    try:
        ending = group.watch({reading: answer.extend}, limits, began=began)
        drain({reading: answer.extend})  # without waiting: what the function started may hold the pipe open
    finally:
        code, cpu = group.end()
        strays.end()
        os.close(reading)
    if ending.cause == "ended" and answer:
        return _answered(answer, ending)
    if ending.cause == "ended" and code == DEAF:
        return Call(None, ending.seconds, cpu, "it closed the descriptor through which its value must come")
    return Ending(ending.cause, ending.seconds, code, max(cpu, ending.cpu_seconds), ending.memory)


def argument_of(instance: Instance) -> Any:
    """Return what a function gets as its instance: the object, the path of a file, or the name."""
    if instance.data is not None:
        return instance.data
    return Path(instance.path) if instance.path else instance.name


def flush() -> None:
    """Write out what was printed, as far as that can be: a child must not print it once more."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # a function may have closed or replaced it
            stream.flush()


def _answered(answer: bytearray, ending: Ending) -> Call:
    try:
        called, imported = pickle.loads(answer)
        assert isinstance(called, Call)
    except Exception:
        reason = "it wrote into the pipe through which its value must come"
        return Call(None, ending.seconds, ending.cpu_seconds, reason)
    warm_up(imported)
    return called


def _live_as_child(
    bind: Callable[[], None], function: Function, instance: Instance, seed: int, answers: int
) -> NoReturn:
    code = 1
    try:
        bind()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        pipe = os.fstat(answers).st_ino
        arrival = Arrival()
        called = call(function, instance, seed)
        code = DEAF
        if os.fstat(answers).st_ino == pipe:  # else it is a file of the function's by now
            with open(answers, "wb") as file:
                pickle.dump((called, arrival.imported()), file)
            flush()
            code = 0
    finally:
        os._exit(code)  # past all that the parent would do at its end
