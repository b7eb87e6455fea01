"""What a function may change of its process, and what is put back when it has returned.

The next run of the process must find what this one found: the folder, the mask of new files, handlers and masks of
signals, timers, limits, streams and the depth of recursion. The environment is left as it is, for modules that are
imported in a run set variables once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any

from ampler.running.one_run import guardian
from ampler.running.one_run.processes import alone

_signal: Any = import_module("_signal")  # as signal, but ten times as fast: it stands around every call
try:
    import resource
except ImportError:  # not Unix: there runs cannot be made, but all else can be done
    LIMITS: tuple[int, ...] = ()
else:
    LIMITS = (
        *(resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_DATA),
        *(resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_STACK),
    )

INTERRUPTS = (int(signal.SIGINT), int(signal.SIGTERM))
NAMES = ("SIGINT", "SIGTERM", "SIGCHLD", "SIGPIPE", "SIGALRM")
HANDLED = tuple(int(getattr(signal, name)) for name in NAMES if hasattr(signal, name))


class Surroundings:
    """A process around a call: what it was before is put back, and a real interrupt is told from a made-up one.

    Beside other threads nothing is put back, as what is changed meanwhile may be theirs; but in a worker all is: there
    threads are what a function left. Interrupts are listened to in any case: they come to the main thread.
    """

    def __init__(self, found: WorkerSurroundings | None = None) -> None:
        self.interrupted = False  # by Ctrl-C or SIGTERM, not by a KeyboardInterrupt that the function raised
        self._found = found
        self._home: _Home | None = None
        self._signals: _Signals | None = None
        self._listeners: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def __enter__(self) -> Surroundings:
        main = threading.current_thread() is threading.main_thread()
        if self._found is not None:
            self._home, self._signals = self._found.home, self._found.signals
        elif alone():
            self._home, self._signals = _Home(), _Signals() if main else None
        if main:
            self._listen()
        return self

    def __exit__(self, *ignored: object) -> None:
        if self._home is not None:
            self._home.put_back()
        for number, listener in self._listeners.items():
            if _signal.getsignal(number) == self._interrupt:
                _signal.signal(number, listener)
        if self._signals is not None:
            self._signals.put_back()
        if self.interrupted:
            raise KeyboardInterrupt  # also if the function has swallowed it

    def _listen(self) -> None:
        for number in INTERRUPTS:
            handler = _signal.getsignal(number)
            if callable(handler):
                self._listeners[number] = handler
                _signal.signal(number, self._interrupt)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.interrupted = True
        self._listeners[number](number, frame)


class WorkerSurroundings:
    """A worker around a call. It does nothing but runs, after which all is put back: so it looks once.

    Where nothing catches interrupts, they end it, and there is nothing to listen to.
    """

    def __init__(self) -> None:
        self.home, self.signals = _Home(), _Signals()
        self.listens = any(callable(self.signals.handlers.get(number)) for number in INTERRUPTS)

    def __enter__(self) -> None:
        """Find all as it was."""

    def __exit__(self, *ignored: object) -> None:
        self.home.put_back()
        self.signals.put_back()


_as_found: dict[int, WorkerSurroundings] = {}  # by the worker's number


def surroundings_of(process: int) -> Surroundings | WorkerSurroundings:
    """Return what stands around the next call in this process, whose number is `process`."""
    found = _as_found.get(process)
    if found is None and guardian.is_worker() and threading.current_thread() is threading.main_thread():
        found = _as_found[process] = WorkerSurroundings()
    return Surroundings(found) if found is None or found.listens else found


class _Home:
    """Folder, mask of new files, limits, streams and depth of recursion."""

    def __init__(self) -> None:
        self._mask = os.umask(0o077)
        os.umask(self._mask)
        self._folder = _folder()
        self._limits = _limits()
        self._streams = sys.stdin, sys.stdout, sys.stderr
        self._depth = sys.getrecursionlimit()

    def put_back(self) -> None:
        os.umask(self._mask)
        sys.stdin, sys.stdout, sys.stderr = self._streams
        if sys.getrecursionlimit() != self._depth:
            sys.setrecursionlimit(self._depth)
        if self._folder and _folder() != self._folder:
            with suppress(OSError):  # it may be gone
                os.chdir(self._folder)
        if (now := _limits()) != self._limits:
            self._put_limits_back(now)

    def _put_limits_back(self, now: list[tuple[int, int]]) -> None:
        for limit, found, before in zip(LIMITS, now, self._limits, strict=True):
            if found != before:
                with suppress(OSError, ValueError):  # a hard limit that was lowered stays low
                    resource.setrlimit(limit, before)


class _Signals:
    """Handlers, the mask and the timer, which would end the next run."""

    def __init__(self) -> None:
        self.handlers = {number: _signal.getsignal(number) for number in HANDLED}
        self._mask = _signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._timed = _signal.getitimer(signal.ITIMER_REAL)[0] != 0

    def put_back(self) -> None:
        for number, handler in self.handlers.items():
            if handler is not None and _signal.getsignal(number) is not handler:  # None: it is none of Python's
                _signal.signal(number, handler)
        _signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        if not self._timed:
            _signal.setitimer(signal.ITIMER_REAL, 0)


def _limits() -> list[tuple[int, int]]:
    return [resource.getrlimit(limit) for limit in LIMITS]


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""
