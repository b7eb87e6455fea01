"""How every command prints: paragraphs, points and tables for people, one JSON document for programs."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ampler.core.wording import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

DONE, PROBLEM, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130  # exit codes
WIDEST = 100  # longer lines of prose are hard to read, however wide the terminal


class WrongUsage(Exception):
    """The options do not fit together: one sentence on stderr and exit code 2."""


def say(text: str, *, style: str | None = None) -> None:
    """Print a paragraph on stdout, wrapped between words to the width of the terminal (80 in a pipe).

    A word that is longer than a line, such as a path, is left whole: it will be copied.
    """
    from rich.console import Console
    from rich.text import Text

    width = min(Console(file=sys.stdout).width, WIDEST)
    lines = textwrap.wrap(printable(text), width, break_long_words=False, break_on_hyphens=False)
    _print(Text("\n".join(lines), style=style or ""), wrap=False)


def say_lines(lines: Iterable[str]) -> None:
    """Print lines as they are laid out: tables of fixed width."""
    for line in lines:
        print(printable(line))


def say_points(points: Iterable[str]) -> None:
    """Print sentences as a list, one point each."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    for point in points:
        grid.add_row("•", Text(printable(point)))
    if grid.row_count:
        _print(grid, widest=WIDEST)


def say_table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, left: Iterable[str] = ()) -> None:
    """Print a table on stdout; columns named in `left` hold words, all others numbers, which end at the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    words = set(left)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for header in headers:
        table.add_column(Text(printable(header)), justify="left" if header in words else "right")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    _print(table)


def note(text: str) -> None:
    """Print a line on stderr: what a person wants to know and a program reading stdout must not see."""
    print(printable(text), file=sys.stderr)


def write_json(document: object) -> None:
    """Print a value as one JSON document; what is infinite or unknown is null."""
    from ampler.core.plain import jsonable

    text = json.dumps(jsonable(document), indent=2, ensure_ascii=False, allow_nan=False)
    print(text if text.isprintable() else re.sub(r"[^\n]", lambda mark: _in_json(mark[0]), text))


def _in_json(mark: str) -> str:
    """A character of a JSON document; one that a terminal would obey is written as its number."""
    return mark if mark.isprintable() else json.dumps(mark)[1:-1]


def _print(what: RenderableType, *, widest: int | None = None, wrap: bool = True) -> None:
    """Print with rich: colours in a terminal, plain text in a pipe, no spaces at the ends of lines."""
    from rich.console import Console

    console = Console(file=sys.stdout)
    with console.capture() as captured:
        console.print(what, width=min(console.width, widest or console.width), soft_wrap=not wrap)
    for line in captured.get().splitlines():
        print(line.rstrip())
