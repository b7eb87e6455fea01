"""One call of a Python function: in this process, or, under limits, in a forked child that can be killed."""

from __future__ import annotations

import math
import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ampler.core.values import Function, Instance, Limits
from ampler.running.one_run import guardian
from ampler.running.one_run.processes import Ending, Group, drain
from ampler.running.one_run.readings import NoValue, Result, excerpt
from ampler.running.one_run.strays import Watch


@dataclass(frozen=True, slots=True)
class Call:
    """What a function call gave: a result, or the reason why there is none, and how long it took."""

    result: Result | None
    seconds: float
    cpu_seconds: float
    reason: str = ""


def call(function: Function, instance: Instance, seed: int) -> Call:
    """Call a function in this process; whatever it raises becomes the reason of a failure."""
    began, cpu_began = time.perf_counter(), time.process_time()
    result, reason = None, ""
    try:
        returned = function.call(argument_of(instance), seed, **function.parameters)
        result = result_of(returned, function)
    except NoValue as problem:
        reason = str(problem)
    except (Exception, SystemExit) as problem:
        reason = _raised(problem)
    return Call(result, time.perf_counter() - began, time.process_time() - cpu_began, reason)


def call_forked(function: Function, instance: Instance, seed: int, limits: Limits) -> Call | Ending:
    """Call a function in a forked child; an Ending when the child ended without an answer.

    The child knows the function and the instance already: nothing is pickled but the answer.
    """
    sys.stdout.flush()
    sys.stderr.flush()
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
        called: Call = pickle.loads(answer)
        return called
    return Ending(ending.cause, ending.seconds, code, max(cpu, ending.cpu_seconds), ending.memory)


def argument_of(instance: Instance) -> Any:
    """Return what a function gets as its instance: the object, the path of a file, or the name."""
    if instance.data is not None:
        return instance.data
    return Path(instance.path) if instance.path else instance.name


def result_of(returned: Any, function: Function) -> Result:
    """Return the value in what a function returned: a number, or one of its measures."""
    if returned is None and function.reading.is_time:
        return Result(0.0)  # the time will take its place
    if not isinstance(returned, Mapping):
        if function.reading.kind == "json":
            raise NoValue(f"a mapping with {function.reading.what!r} must be returned, got {_described(returned)}")
        return Result(_number(returned, "a number or a mapping of numbers must be returned"))
    numbers = {str(name): _plain(number, f"the measure {name!r} must be a number") for name, number in returned.items()}
    if not numbers:
        raise NoValue("at least one measure must be returned, got an empty mapping")
    chosen = function.reading.what if function.reading.kind == "json" else next(iter(numbers))
    if chosen not in numbers:
        raise NoValue(f"the measure {chosen!r} must be among those returned, got {', '.join(map(repr, numbers))}")
    value = _number(numbers[chosen], f"the measure {chosen!r} must be a finite number")
    return Result(value, {name: number for name, number in numbers.items() if math.isfinite(number)})


def _number(value: Any, wanted: str) -> float:
    number = _plain(value, wanted)
    if not math.isfinite(number):
        raise NoValue(f"the value must be a finite number, got {number}")
    return number


def _plain(value: Any, wanted: str) -> float:
    """A number of any library as a float; text and arrays are none."""
    if not hasattr(type(value), "__float__") or getattr(value, "ndim", 0) != 0 or _is_complex(value):
        raise NoValue(f"{wanted}, got {_described(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _is_complex(value: Any) -> bool:
    """Complex numbers of numpy have a float: they lose their imaginary part."""
    return isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c"


def _described(value: Any) -> str:
    return "nothing" if value is None else f"{type(value).__name__} {excerpt(repr(value), width=60)}"


def _raised(problem: BaseException) -> str:
    """What was raised and where, in one line."""
    frames = traceback.extract_tb(problem.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    words = excerpt(str(problem))
    return f"it raised {type(problem).__name__}{': ' if words else ''}{words}{where}"


def _live_as_child(
    bind: Callable[[], None], function: Function, instance: Instance, seed: int, answers: int
) -> NoReturn:
    code, child = 1, os.getpid()
    try:
        bind()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        called = call(function, instance, seed)
        if os.getpid() != child:
            os._exit(0)  # the function has forked and returned twice: only one of them answers
        with open(answers, "wb") as file:
            pickle.dump(called, file)
        sys.stdout.flush()
        sys.stderr.flush()
        code = 0
    finally:
        os._exit(code)  # past all that the parent would do at its end
