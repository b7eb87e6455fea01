"""Progress on stderr: a line that changes in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

from ampler.app.shell.output import note
from ampler.core.wording import short_duration

if TYPE_CHECKING:
    from ampler.running import Progress

LINE_EVERY = 10.0  # seconds between lines where nothing can be overwritten


class Display(AbstractContextManager["Display"]):
    """Shows progress as it is called with it. Use it in a `with` statement."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._live: Any = None
        self._next = time.monotonic() + LINE_EVERY

    def __enter__(self) -> Display:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            # no thread of its own: workers are forked from this process
            live = Live(console=Console(file=sys.stderr), auto_refresh=False, transient=True)
            self._live = self._stack.enter_context(live)
        return self

    def __exit__(self, *problem: Any) -> None:
        self._stack.close()

    def __call__(self, progress: Progress) -> None:
        """Show where the study stands now."""
        if self._live is not None:
            self._live.update(_bar(progress), refresh=True)
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_EVERY
            note(described(progress))


def described(progress: Progress) -> str:
    """Return progress as one line.

    >>> from ampler.running import Progress
    >>> described(Progress(40, 12, runs=8419, new=300, seconds=75, rate=41.3, error=0.062, target=0.05, left=5400))
    '12 of 40 instances, 8 419 runs, 41 runs/s, worst SE 0.062 (target 0.05), about 1 h 30 min left'
    """
    return ", ".join(
        [
            f"{progress.finished} of {progress.instances} instances",
            f"{_grouped(progress.runs)} runs",
            f"{progress.rate:.{0 if progress.rate >= 10 else 2}f} runs/s",
            *([] if progress.error is None else [f"worst SE {progress.error:.3g} (target {progress.target:g})"]),
            *([f"{_grouped(progress.failures)} failed"] if progress.failures else []),
            *([] if progress.left is None else [f"about {short_duration(progress.left)} left"]),
        ]
    )


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _bar(progress: Progress) -> Any:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    share = _share(progress)
    bar = Table.grid(padding=(0, 1))
    bar.add_row(ProgressBar(total=1.0, completed=share, width=40), Text(f"{share:.0%}"))
    return Group(bar, Text(described(progress)))


def _share(progress: Progress) -> float:
    """The part of the work that is done, by time where the rest can be told, else by instances."""
    if progress.left is not None and progress.new and progress.runs == progress.new:
        return progress.seconds / (progress.seconds + progress.left) if progress.seconds + progress.left else 1.0
    return progress.finished / progress.instances if progress.instances else 1.0
