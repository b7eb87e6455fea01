"""Output of commands: paragraphs, points, tables and the next command for people, one JSON document for programs.

Nothing is wider than the terminal, and no number is broken. Colours are for terminals alone, and not where NO_COLOR is
set; they can be read on black and on white.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from ampler.core.text import DEFAULT_WIDTH, TextTable, display_width, listed, printable, wrap_lines
from ampler.core.verdicts import MARKS

json_descriptor: int | None = None  # target of the JSON document; None: stdout
SCHEMA_VERSION = 1  # version of the JSON documents; raised if a field is removed or changes its meaning
DONE, PROBLEM, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130  # exit codes
MAX_WIDTH = 100  # longer lines of prose are hard to read, however wide the terminal
MAX_HIDDEN_COLUMNS = 60  # maximum number of names


class WrongUsage(Exception):
    """The options do not fit together: one sentence on stderr and exit code 2, or another `code`."""

    def __init__(self, text: str, code: int = WRONG_USAGE) -> None:
        super().__init__(text)
        self.code = code


def say(text: str, *, style: str = "") -> None:
    """Print a paragraph on stdout, wrapped between words to the width of the terminal (80 in a pipe).

    A word that is longer than a line, such as a path, is left whole: it will be copied.
    """
    for line in wrap_lines(printable(text), _prose_width()):
        _print(line, (0, len(line)), style=style)


def say_lines(lines: Iterable[str]) -> None:
    """Print lines unchanged, for copying and for programs."""
    for line in lines:
        print(printable(line))


def say_points(points: Iterable[str]) -> None:
    """Print sentences as a list, one point each."""
    for point in points:
        for number, line in enumerate(wrap_lines(printable(point), _prose_width() - 2)):
            print(f"{' ' if number else '•'} {line}")


def say_table(table: TextTable, *, colours: Mapping[str, str] | None = None) -> None:
    """Print a table on stdout, and which columns it lacks; `colours` are those of marks at the start of a line."""
    width = terminal_width()
    fitted = table.fitted(width)
    print()
    for line in fitted.head:
        _print(line, (0, len(line)), style="bold")
    if fitted.head:
        print("─" * max(map(display_width, fitted.lines)))
    for line in fitted.body:
        mark, verdict = len(line) - len(line.lstrip()) + 1, line.rfind("  ") + 2
        _print(line, (0, mark), (verdict, len(line)), style=(colours or {}).get(line.lstrip()[:1], ""))
    if fitted.left_out:
        hidden = listed(fitted.left_out, MAX_HIDDEN_COLUMNS)
        say(f"Hidden columns at {width} characters: {hidden} (see --json).", style="dim")
    print()


def say_next(*arguments: object, apart: bool = True) -> None:
    """Print the next command, on a line of its own that is never wrapped, so that it can be copied."""
    if apart:
        print()
    print(printable(f"Next: {shlex.join(['ampler', *map(str, arguments)])}"))


def note(text: str) -> None:
    """Print a line on stderr, for people; programs read stdout."""
    print(printable(text), file=sys.stderr)


def write_json(document: dict[str, Any]) -> None:
    """Print one JSON document, with the version of its schema; what is unknown is null."""
    from ampler.core.serialization import jsonable

    document = {"schema_version": SCHEMA_VERSION} | document
    text = json.dumps(jsonable(document), indent=2, ensure_ascii=False, allow_nan=False)
    text = re.sub(r"[^\n]", lambda mark: mark[0] if mark[0].isprintable() else json.dumps(mark[0])[1:-1], text)
    if json_descriptor is None:
        print(text)
        return
    with open(json_descriptor, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors, closefd=False) as file:
        print(text, file=file)


def terminal_width() -> int:
    """Return the width of the terminal: COLUMNS, otherwise that of the terminal, otherwise 80."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):
        try:
            return os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH  # type: ignore[union-attr]
        except (AttributeError, ValueError, OSError):
            continue
    return DEFAULT_WIDTH


def has_colours() -> bool:
    """Whether stdout is a terminal that shows colours, and NO_COLOR is not set."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def mark_colours() -> Mapping[str, str]:
    """Return the colour of each mark of a verdict."""
    from ampler.report.theme import TERMINAL

    return {mark: TERMINAL[verdict] for verdict, mark in MARKS.items()}


def _prose_width() -> int:
    return min(terminal_width(), MAX_WIDTH)


def _print(line: str, *spans: tuple[int, int], style: str) -> None:
    """Print a line with parts of it in a style, where there are any."""
    if not style or not has_colours():
        print(line)
        return
    from rich.console import Console
    from rich.text import Text

    text = Text(line)
    for start, end in spans:
        text.stylize(style, start, end)
    Console(file=sys.stdout, highlight=False).print(text, soft_wrap=True)
