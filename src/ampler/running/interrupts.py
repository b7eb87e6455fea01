"""Ctrl-C and SIGTERM end a study in order, also where the first moment to do so passed unheard."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Interrupts:
    """Within its `with` statement Ctrl-C and SIGTERM raise KeyboardInterrupt; only the main thread hears them.

    What is raised while Python clears away an object never arrives, as when one of Dask's futures goes: it is printed
    and forgotten. So a signal is noted, and `repeat` raises what could not be raised or did not arrive. A handler that
    a program has set for Ctrl-C itself stays.
    """

    def __init__(self) -> None:
        self._came = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            theirs = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
            for number in (signal.SIGTERM,) if theirs else (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def repeat(self) -> None:
        """Raise KeyboardInterrupt if a signal came before: we would not be here if it had arrived."""
        if self._came:
            raise KeyboardInterrupt

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._came = True
        while frame is not None and frame.f_code.co_name != "__del__":
            frame = frame.f_back
        if frame is None:
            raise KeyboardInterrupt
