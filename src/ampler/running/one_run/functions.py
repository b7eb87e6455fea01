"""One call of a Python function: in this process, or, under limits, in a forked child that can be killed."""

from __future__ import annotations

import copy
import dis
import functools
import io
import os
import pickle
import signal
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path, PosixPath, WindowsPath
from types import BuiltinFunctionType, CellType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NoReturn

from ampler.core.errors import EngineFailed
from ampler.core.plan import Function, Instance, Limits
from ampler.running.one_run.processes import Ending, Group, Orphans, ending_of
from ampler.running.one_run.readings import NoValue, Outcome, raised, result_of
from ampler.running.one_run.supervisor import EXIT_NO_RESULT_PIPE, alone, die_with, flush, fork, is_worker

IMPORTING = 60.0  # seconds that the imports of a function under limits may take at least
MAX_KNOWN = 1024  # objects of which the process that makes the runs knows whether they can change, or be copied
ATOMS = frozenset(
    {type(None), bool, int, float, complex, str, bytes, range, type, PosixPath, WindowsPath}
    | {BuiltinFunctionType, ModuleType}
)

_signal: Any = import_module("_signal")  # like signal, but ten times as fast: needed for every call
try:
    import resource
except ImportError:  # not Unix: runs are impossible, but everything else works
    LIMITS: tuple[int, ...] = ()
else:
    LIMITS = (
        *(resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_DATA),
        *(resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_STACK),
    )

INTERRUPTS = (int(signal.SIGINT), int(signal.SIGTERM))
NAMES = ("SIGINT", "SIGTERM", "SIGCHLD", "SIGPIPE", "SIGALRM")
HANDLED = tuple(int(getattr(signal, name)) for name in NAMES if hasattr(signal, name))


def call(function: Function, instance: Instance, seed: int) -> Outcome:
    """Call a function in this process; whatever it raises becomes the reason of a failure.

    Only an interrupt from outside is none of its business: KeyboardInterrupt continues."""
    process, started = os.getpid(), time.time()
    argument, run = argument_of(instance), untouched(function.call)  # instance and bound arguments belong to this run
    parameters = untouched(function.parameters) if function.parameters else {}
    with restored(process):
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
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu_began
    if result is None:
        return Outcome(None, seconds, "failed", reason, None, cpu, started, cause=cause)
    value = result.value
    if function.reading.is_time:
        value = seconds if function.reading.kind == "seconds" else cpu
    return Outcome(value, seconds, "ok", "", result.measures, cpu, started, answer=result.answer)


def call_forked(function: Function, instance: Instance, seed: int, limits: Limits) -> Outcome | Ending:
    """Call a function in a forked child; an Ending when the child ended without an answer.

    The child knows the function and the instance already: nothing is pickled but the answer.
    """
    if not (alone() or is_worker()):
        raise EngineFailed(
            "a limit on a function needs a process with one thread, which can be forked; run with workers instead"
        )
    flush()
    orphans = Orphans()
    parent = os.getpid()
    reading, writing = os.pipe()
    began = time.perf_counter()
    child = fork()
    if child == 0:
        os.close(reading)
        _live_as_child(parent, function, instance, seed, writing)
    os.close(writing)
    answer = bytearray()
    try:
        ending = ending_of(child, {reading: answer.extend}, limits, began, orphans)
    finally:
        os.close(reading)
    if ending.cause != "ended" or not (answer or ending.code == EXIT_NO_RESULT_PIPE):
        return ending
    reason = "it closed the descriptor through which its value must come"
    if answer:
        try:
            outcome = pickle.loads(answer)
            assert isinstance(outcome, Outcome)
            return outcome._replace(memory=ending.memory or None)
        except Exception:
            reason = "it wrote into the pipe through which its value must come"
    return Outcome(None, ending.seconds, "failed", reason, cpu=ending.cpu_seconds, cause="pipe")


def _live_as_child(parent: int, function: Function, instance: Instance, seed: int, answers: int) -> NoReturn:
    code = 1
    try:
        die_with(parent)
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        pipe = os.fstat(answers).st_ino
        outcome = call(function, instance, seed)
        code = EXIT_NO_RESULT_PIPE
        if os.fstat(answers).st_ino == pipe:  # otherwise the function has reused this file descriptor
            with open(answers, "wb") as file:
                pickle.dump(outcome, file)
            flush()
            code = 0
    finally:
        os._exit(code)  # skips the parent's exit handlers


_imported_ahead: set[int] = set()  # functions by their id


def import_ahead(call: Any, limits: Limits) -> None:
    """Import the modules that a function imports in its body, so that its first run is not slower than the others.

    Under limits a child tries it first: an import that never ends, or that ends the process, harms nothing.
    """
    if id(call) in _imported_ahead:
        return
    _imported_ahead.add(id(call))
    while isinstance(call, functools.partial):
        call = call.func
    statements = _imports_of(call)
    if not statements:
        return
    if limits != Limits():
        if not (alone() or is_worker()):
            return
        flush()
        parent, child = os.getpid(), fork()
        if child == 0:
            try:
                die_with(parent)
                _import(statements)
            finally:
                os._exit(0)
        group = Group(child)
        ending = group.watch({}, Limits(timeout=max(IMPORTING, limits.timeout or 0.0)), began=time.perf_counter())
        code, *_ = group.end()
        if ending.cause != "ended" or code != 0:
            return
    _import(statements)


def _imports_of(function: Any) -> list[Callable[[], object]]:
    """The new import statements of a function, its inner functions, and the functions of its module that it calls."""
    statements: list[Callable[[], object]] = []
    namespace = getattr(function, "__globals__", {})
    pending, visited = [getattr(function, "__code__", None)], set()
    while pending:
        code = pending.pop()
        if not isinstance(code, CodeType) or code in visited:
            continue
        visited.add(code)
        arguments: deque[Any] = deque(maxlen=2)
        for instruction in dis.get_instructions(code):
            if instruction.opname == "IMPORT_NAME":
                (level, names), module = arguments, instruction.argval
                loaded = sys.modules.get(module)
                if level or loaded is None or not all(hasattr(loaded, name) for name in names or ()):
                    statements.append(functools.partial(__import__, module, namespace, None, names or (), level))
            arguments.append(instruction.argval)
        pending += code.co_consts
        for called in map(namespace.get, code.co_names):
            if isinstance(called, FunctionType) and called.__globals__ is namespace:
                pending.append(called.__code__)
    return statements


def _import(statements: Iterable[Callable[[], object]]) -> None:
    for statement in statements:
        with suppress(BaseException):  # the run will report the error
            statement()


def argument_of(instance: Instance) -> Any:
    """Return what a function gets as its instance: a copy of the object, the path of a file, or the name."""
    if instance.data is not None:
        return untouched(instance.data)
    return Path(instance.path) if instance.path else instance.name


def untouched(value: Any) -> Any:
    """Return a copy of a mutable value, so that runs do not affect each other.

    What cannot be copied, as a connection or a generator, is given as it is (see `is_shared`).

    >>> values = [3, 1, 2]
    >>> untouched(values).sort()
    >>> values
    [3, 1, 2]
    """
    if type(value) in ATOMS or id(value) in _immutable:
        return value
    if _is_immutable(value):
        if len(_immutable) >= MAX_KNOWN:
            _immutable.clear()
        _immutable[id(value)] = value
        return value
    try:
        if not hasattr(value, "__deepcopy__"):  # arrays and tables have a quick one
            _Pickler(copied := io.BytesIO(), pickle.HIGHEST_PROTOCOL).dump(value)
            return pickle.loads(copied.getvalue())
    except Exception:  # a class with its own copy method, or an empty cell
        pass
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


class _Pickler(pickle.Pickler):
    """Pickler that copies functions with their state; objects without a name are not copied."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, CellType):
            return CellType, (), (None, {"cell_contents": value.cell_contents})
        if isinstance(value, FunctionType) and not _is_immutable(value):
            own = {name: getattr(value, name) for name in ("__defaults__", "__kwdefaults__", "__qualname__", "__doc__")}
            return _copied_function, (_reference(value), value.__closure__), (value.__dict__, own)
        if not isinstance(value, FunctionType | type):
            return NotImplemented
        named = getattr(sys.modules.get(value.__module__), value.__name__, None) is value
        return NotImplemented if named else (_referenced, (_reference(value),))


_references: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # functions and classes by their id


def _reference(value: Any) -> int:
    _references[id(value)] = value
    return id(value)


def _referenced(key: int) -> Any:
    return _references[key]


def _copied_function(key: int, closure: tuple[CellType, ...] | None) -> FunctionType:
    function = _references[key]
    return FunctionType(function.__code__, function.__globals__, function.__name__, None, closure)


def is_shared(value: Any) -> bool:
    """Whether runs in one process would share an instance or an algorithm, as it can be changed but not copied."""
    if value is None:
        return False
    if id(value) not in _shared:
        if len(_shared) >= MAX_KNOWN:
            _shared.clear()
        _shared[id(value)] = untouched(value) is value and not _is_immutable(value), value
    return _shared[id(value)][0]


_shared: dict[int, tuple[bool, Any]] = {}  # objects by their id, which are held so that the id stays theirs
_immutable: dict[int, Any] = {}  # containers by id, each inspected once and kept alive so that its id stays valid


def _is_immutable(value: Any) -> bool:
    if type(value) in ATOMS:
        return True
    if type(value) in (tuple, frozenset):
        return all(map(_is_immutable, value))
    if isinstance(value, FunctionType):
        return not (value.__dict__ or value.__closure__ or value.__kwdefaults__) and _is_immutable(value.__defaults__)
    if is_dataclass(value) and not isinstance(value, type):
        frozen = getattr(type(value), "__dataclass_params__").frozen  # noqa: B009 - not in the type's stub
        return frozen and all(_is_immutable(getattr(value, field.name)) for field in fields(value))
    flags = getattr(value, "flags", None)  # a read-only array, such as a memory map
    return flags is not None and getattr(flags, "writeable", True) is False and not value.dtype.hasobject


# What a function may change of its process, and what is put back when it has returned: the next run must find what this
# one found. The environment is left as it is, for modules that are imported in a run set variables once.


class ProcessState:
    """The state of this process at one moment; only the main thread has one of signals."""

    def __init__(self) -> None:
        self._mask = os.umask(0o077)
        os.umask(self._mask)
        self._folder, self._depth = _folder(), sys.getrecursionlimit()
        self._limits = [resource.getrlimit(limit) for limit in LIMITS]
        self._streams = sys.stdin, sys.stdout, sys.stderr
        self._main = threading.current_thread() is threading.main_thread()
        self._handlers = {number: _signal.getsignal(number) for number in HANDLED} if self._main else {}
        self._blocked = _signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._timed = _signal.getitimer(signal.ITIMER_REAL)[0] != 0

    def restore(self) -> None:
        """Restore everything."""
        os.umask(self._mask)
        sys.stdin, sys.stdout, sys.stderr = self._streams
        if sys.getrecursionlimit() != self._depth:
            sys.setrecursionlimit(self._depth)
        if self._folder and _folder() != self._folder:
            with suppress(OSError):  # it may be gone
                os.chdir(self._folder)
        for limit, before in zip(LIMITS, self._limits, strict=True):
            if resource.getrlimit(limit) != before:
                with suppress(OSError, ValueError):  # a hard limit that was lowered stays low
                    resource.setrlimit(limit, before)
        if not self._main:
            return
        for number, handler in self._handlers.items():
            if handler is not None and _signal.getsignal(number) is not handler:  # None: not set from Python
                _signal.signal(number, handler)
        _signal.pthread_sigmask(signal.SIG_SETMASK, self._blocked)
        if not self._timed:
            _signal.setitimer(signal.ITIMER_REAL, 0)


_of_workers: dict[int, ProcessState] = {}  # by process: recorded once, as a worker does nothing but runs


@contextmanager
def restored(process: int) -> Iterator[None]:
    """Restore the state of this process, whose number is `process`, after a call; raise a real interrupt again.

    Beside other threads nothing is restored, as what is changed meanwhile may be theirs; but in a worker all is: there
    threads are what a function left. A KeyboardInterrupt that a function raises by itself is none from outside.
    """
    state, in_main = _of_workers.get(process), threading.current_thread() is threading.main_thread()
    if state is None and (is_worker() or alone()):
        state = ProcessState()
        if is_worker() and in_main:
            _of_workers[process] = state
    listeners: dict[int, Callable[[int, FrameType | None], Any]] = {}
    interrupted = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        listeners[number](number, frame)

    for number in INTERRUPTS if in_main else ():
        if callable(handler := _signal.getsignal(number)):
            listeners[number] = handler
            _signal.signal(number, note)
    try:
        yield
    finally:
        for number, listener in listeners.items():
            if _signal.getsignal(number) is note:
                _signal.signal(number, listener)
        if state is not None:
            state.restore()
        if interrupted:
            raise KeyboardInterrupt


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""
