"""A bar that shows how far a study is: a line in a terminal, a bar in a notebook, nothing in a pipe."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from html import escape
from importlib import import_module
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from ampler.running.progress import share_done
from ampler.running.words import under_way

if TYPE_CHECKING:
    from ampler.core.values import Progress

PARTS = 20  # of the bar in a terminal


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """Shows progress as it is called with it; use it in a `with` statement, at whose end it is gone."""

    def __init__(self) -> None:
        self._notebook = _display()
        self._handle: Any = None
        self._shown = False

    def __call__(self, progress: Progress) -> None:
        """Show where the study stands now."""
        if self._notebook is not None:
            self._in_notebook(progress)
        elif sys.stderr.isatty():
            self._shown = True
            sys.stderr.write(f"\r\x1b[K{bar_line(progress, get_terminal_size().columns)}")
            sys.stderr.flush()

    def __exit__(self, *problem: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _in_notebook(self, progress: Progress) -> None:
        page = {"text/html": bar_html(progress), "text/plain": under_way(progress)}
        if self._handle is None:
            self._handle = self._notebook(page, raw=True, display_id=True)
        else:
            self._handle.update(page, raw=True)


def bar_line(progress: Progress, width: int) -> str:
    """Return the bar as a line that fits so many columns.

    >>> from ampler.running import Progress
    >>> bar_line(Progress(4, 2, runs=80, new=0, seconds=2, rate=40, error=None, target=None, left=None), 80)
    '██████████░░░░░░░░░░ 50% 2 of 4 instances, 80 runs, 40 runs/s'
    """
    share = share_done(progress)
    full = round(PARTS * share)
    return f"{'█' * full}{'░' * (PARTS - full)} {share:.0%} {under_way(progress)}"[: max(1, width - 1)]


def bar_html(progress: Progress) -> str:
    """Return the bar as a notebook shows it."""
    share = share_done(progress)
    return f'<progress value="{share:.4f}" max="1"></progress> {share:.0%} {escape(under_way(progress))}'


def _display() -> Any:
    """What displays in a notebook; None elsewhere."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    if running is None or not hasattr(running, "kernel"):
        return None
    return import_module("IPython.display").display
