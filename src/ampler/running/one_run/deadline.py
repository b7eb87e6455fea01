"""Work that is given up after some time: for regular expressions, which look for signals while they match."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class _TooLate(BaseException):
    """The time is over."""


def within(seconds: float, work: Callable[[], object]) -> bool:
    """Do some work, and say whether it was done within some seconds; else it was given up.

    Only the main thread hears of signals: elsewhere the work is done however long it takes.
    """
    try:
        with _alarm(seconds):
            work()
        return True
    except _TooLate:
        return False


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    blocked = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    left, again = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left, again)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGALRM, before)


def _ring(number: int, frame: FrameType | None) -> None:
    raise _TooLate
