"""One call of a Python function: in this process, or, under limits, in a forked child that can be killed."""

from __future__ import annotations

import copy
import functools
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path, PosixPath, WindowsPath
from types import BuiltinFunctionType, FunctionType, ModuleType
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
MAX_KNOWN = 1024  # containers that are known to be immutable, by the process that makes the runs
ATOMS = frozenset(
    {type(None), bool, int, float, complex, str, bytes, range, type, PosixPath, WindowsPath}
    | {FunctionType, BuiltinFunctionType, ModuleType}
)


class Call(NamedTuple):
    """What a function call gave: a result, or the reason and the cause why there is none, and how long it took."""

    result: Result | None
    seconds: float
    cpu_seconds: float
    reason: str = ""
    cause: str = ""


def call(function: Function, instance: Instance, seed: int) -> Call:
    """Call a function in this process; whatever it raises becomes the reason of a failure.

    Only an interrupt from outside is none of its business: KeyboardInterrupt goes on.
    """
    process = os.getpid()
    argument, run = argument_of(instance), _with_own_keywords(function.call)
    parameters = untouched(function.parameters) if function.parameters else {}
    with surroundings_of(process):
        began, cpu_began = time.perf_counter(), time.process_time()
        result, reason, cause = None, "", ""
        try:
            result = result_of(run(argument, seed, **parameters), function)
        except NoValue as problem:
            reason, cause = str(problem), "value"
        except BaseException as problem:
            reason, cause = raised(problem), f"exception:{type(problem).__name__}"
        if os.getpid() != process:
            os._exit(0)  # the function has forked and returned twice: only one of them answers
        return Call(result, time.perf_counter() - began, time.process_time() - cpu_began, reason, cause)


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
        return Call(None, ending.seconds, cpu, "it closed the descriptor through which its value must come", "pipe")
    return Ending(ending.cause, ending.seconds, code, max(cpu, ending.cpu_seconds), ending.memory)


def argument_of(instance: Instance) -> Any:
    """Return what a function gets as its instance: a copy of the object, the path of a file, or the name."""
    if instance.data is not None:
        return untouched(instance.data)
    return Path(instance.path) if instance.path else instance.name


def untouched(value: Any) -> Any:
    """Return a value as a run may have it: what can be changed is copied, so that no run sees what another one did.

    What cannot be copied, as a connection or a generator, is given as it is.

    >>> values = [3, 1, 2]
    >>> untouched(values).sort()
    >>> values
    [3, 1, 2]
    """
    if type(value) in ATOMS or _is_known(value):
        return value
    try:
        if not hasattr(value, "__deepcopy__"):  # arrays and tables have a quick one
            return pickle.loads(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
    except Exception:  # a class that is not found by its name, or a function without one
        pass
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


_known: dict[int, Any] = {}  # immutable containers by their id, kept so that the id stays theirs


def _is_known(value: Any) -> bool:
    """Whether a value is an immutable container; each is looked through once."""
    if id(value) in _known:
        return True
    if not _is_immutable(value):
        return False
    if len(_known) >= MAX_KNOWN:
        _known.clear()
    _known[id(value)] = value
    return True


def _is_immutable(value: Any) -> bool:
    if type(value) in ATOMS:
        return True
    if type(value) in (tuple, frozenset):
        return all(map(_is_immutable, value))
    if is_dataclass(value) and not isinstance(value, type):
        frozen = getattr(type(value), "__dataclass_params__").frozen  # noqa: B009 - not in the type's stub
        return frozen and all(_is_immutable(getattr(value, field.name)) for field in fields(value))
    flags = getattr(value, "flags", None)  # of an array that is only read, as one that lies in a file
    return flags is not None and getattr(flags, "writeable", True) is False and not value.dtype.hasobject


def _with_own_keywords(call: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose bound arguments are those of this run alone."""
    if not isinstance(call, functools.partial):
        return call
    keywords: Mapping[str, Any] = untouched(call.keywords)
    return functools.partial(call.func, *untouched(call.args), **keywords)


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
        return Call(None, ending.seconds, ending.cpu_seconds, reason, "pipe")
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
