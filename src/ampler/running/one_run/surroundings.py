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
from typing import Any, TypeVar

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

    def __init__(self) -> None:
        self.interrupted = False  # by Ctrl-C or SIGTERM, not by a KeyboardInterrupt that the function raised
        self._home: _Home | None = None
        self._signals: _Signals | None = None
        self._listeners: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def __enter__(self) -> Surroundings:
        worker, main = guardian.is_worker(), threading.current_thread() is threading.main_thread()
        if worker or alone():
            self._home = _found(_Home, worker)
            self._signals = _found(_Signals, worker) if main else None
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


Kind = TypeVar("Kind", "_Home", "_Signals")
_as_found: dict[tuple[int, type], Any] = {}  # by the worker


def _found(kind: type[Kind], worker: bool) -> Kind:
    """What the process is now. A worker does nothing but runs, after which all is put back: it looks once."""
    if not worker:
        return kind()
    place = os.getpid(), kind
    if place not in _as_found:
        _as_found[place] = kind()
    found: Kind = _as_found[place]
    return found


class _Home:
    """Folder, mask of new files, limits, streams and depth of recursion."""

    def __init__(self) -> None:
        self._mask = os.umask(0o077)
        os.umask(self._mask)
        self._folder = _folder()
        self._limits = [resource.getrlimit(limit) for limit in LIMITS]
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
        for limit, before in zip(LIMITS, self._limits, strict=True):
            if resource.getrlimit(limit) != before:
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


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""
