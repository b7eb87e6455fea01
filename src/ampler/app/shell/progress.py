"""Progress on stderr: a line that changes in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

from ampler.app.shell.output import note
from ampler.running.progress import share_done
from ampler.running.words import under_way

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
            note(under_way(progress))


def _bar(progress: Progress) -> Any:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    share = share_done(progress)
    bar = Table.grid(padding=(0, 1))
    bar.add_row(ProgressBar(total=1.0, completed=share, width=40), Text(f"{share:.0%}"))
    return Group(bar, Text(under_way(progress)))
