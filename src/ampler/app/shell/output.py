"""How every command prints: paragraphs, points, tables and the next command for people, one JSON document for programs.

Nothing is wider than the terminal, and no number is broken. Colours are for terminals alone, and not where NO_COLOR is
set.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence

from ampler.core.layout import USUAL, TextTable, broken_lines, cells_taken
from ampler.core.wording import listed, printable

DONE, PROBLEM, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130  # exit codes
WIDEST = 100  # longer lines of prose are hard to read, however wide the terminal
MOST_HEADS = 60  # of columns without room that are named


class WrongUsage(Exception):
    """The options do not fit together: one sentence on stderr and exit code 2."""


def say(text: str, *, style: str = "") -> None:
    """Print a paragraph on stdout, wrapped between words to the width of the terminal (80 in a pipe).

    A word that is longer than a line, such as a path, is left whole: it will be copied.
    """
    for line in broken_lines(printable(text), _prose_width()):
        _print(line, style)


def say_lines(lines: Iterable[str]) -> None:
    """Print lines as they are: what is copied, and what programs read."""
    for line in lines:
        print(printable(line))


def say_points(points: Iterable[str]) -> None:
    """Print sentences as a list, one point each."""
    for point in points:
        for number, line in enumerate(broken_lines(printable(point), _prose_width() - 2)):
            print(f"{' ' if number else '•'} {line}")


def say_table(table: TextTable, *, colours: Mapping[str, str] | None = None) -> None:
    """Print a table on stdout, and which columns found no room; `colours` are those of marks at the start of a line."""
    width = terminal_width()
    fitted = table.fitted(width)
    print()
    for line in fitted.head:
        _print(line, "bold")
    if fitted.head:
        print("─" * max(map(cells_taken, fitted.lines)))
    for line in fitted.body:
        _print_row(line, (colours or {}).get(line.lstrip()[:1], ""))
    if fitted.left_out:
        say(f"Left out at {width} columns: {listed(fitted.left_out, MOST_HEADS)} (--json shows all).", style="dim")
    print()


def say_next(*words: object, apart: bool = True) -> None:
    """Print the command to go on with, on a line of its own that is never wrapped, so that it can be copied."""
    if apart:
        print()
    print(printable(f"Next: {shlex.join(['ampler', *map(str, words)])}"))


def note(text: str) -> None:
    """Print a line on stderr: what a person wants to know and a program reading stdout must not see."""
    print(printable(text), file=sys.stderr)


def write_json(document: object) -> None:
    """Print a value as one JSON document; what is infinite or unknown is null."""
    from ampler.core.plain import jsonable

    text = json.dumps(jsonable(document), indent=2, ensure_ascii=False, allow_nan=False)
    print(text if text.isprintable() else re.sub(r"[^\n]", lambda mark: _in_json(mark[0]), text))


def terminal_width() -> int:
    """Return the columns of the terminal: what COLUMNS says, else what the terminal says, else 80."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):
        try:
            return os.get_terminal_size(stream.fileno()).columns or USUAL  # type: ignore[union-attr]
        except (AttributeError, ValueError, OSError):
            continue
    return USUAL


def has_colours() -> bool:
    """Whether stdout is a terminal that shows colours, and nobody has asked for none."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _prose_width() -> int:
    return min(terminal_width(), WIDEST)


def _in_json(mark: str) -> str:
    """A character of a JSON document; one that a terminal would obey is written as its number."""
    return mark if mark.isprintable() else json.dumps(mark)[1:-1]


def _print(line: str, style: str) -> None:
    """Print a line, in its style where there are any."""
    _print_spans(line, [(0, len(line), style)] if style else [])


def _print_row(line: str, style: str) -> None:
    """Print a row of a table with its mark, and the word at its end, in their colour."""
    mark, word = len(line) - len(line.lstrip()) + 1, line.rfind("  ") + 2
    _print_spans(line, [(0, mark, style), (word, len(line), style)] if style else [])


def _print_spans(line: str, spans: Sequence[tuple[int, int, str]]) -> None:
    if not spans or not has_colours():
        print(line)
        return
    from rich.console import Console
    from rich.text import Text

    text = Text(line)
    for start, end, style in spans:
        text.stylize(style, start, end)
    Console(file=sys.stdout, highlight=False).print(text, soft_wrap=True)
