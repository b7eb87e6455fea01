"""The line on which each key of a TOML text stands. tomllib tells lines for syntax errors only. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

KeyPath = tuple[str | int, ...]

PART = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
KEY = re.compile(rf"{PART}(?:[ \t]*\.[ \t]*{PART})*")
BLANK = re.compile(r"(?:\s|#[^\n]*)+")
# One piece of a value: a string of any of the four kinds, a comment, or a character. Inside brackets a value goes on
# over the end of the line.
PIECE = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'" r"|\#[^\n]*|.", re.DOTALL
)


def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the line (from 1) of every key and table of a valid TOML text; tables in arrays are numbered from 0.

    Keys inside inline tables are not listed: they stand where their table does.

    >>> key_lines('seed = 1\\n\\n[[algorithm]]\\nname = "full"')
    {('seed',): 1, ('algorithm', 0): 3, ('algorithm', 0, 'name'): 4}
    """
    lines: dict[KeyPath, int] = {}
    arrays: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for position, opening, key in _statements(text):
        if opening == "[[":
            name = _numbered((), key, arrays, last=False)
            arrays[name] = arrays.get(name, -1) + 1
        path = table = _numbered((), key, arrays) if opening else table
        if not opening:
            path = (*table, *key)
        lines.setdefault(path, text.count("\n", 0, position) + 1)
    return lines


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of a key, or else of the nearest table around it; of an array of tables, that of the first."""
    while path and path not in lines and (*path, 0) not in lines:
        path = path[:-1]
    return lines.get(path, lines.get((*path, 0)))


def _statements(text: str) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Every statement: where it begins, its opening bracket if it is a header, and its key."""
    position = 0
    while True:
        blank = BLANK.match(text, position)
        position = blank.end() if blank else position
        if position >= len(text):
            return
        opening = "[[" if text.startswith("[[", position) else "[" if text[position] == "[" else ""
        inner = BLANK.match(text, position + len(opening))
        match = KEY.match(text, inner.end() if inner else position + len(opening))
        if match is None:
            return  # not TOML; tomllib has said so
        yield position, opening, tuple(_unquoted(part) for part in re.findall(PART, match[0]))
        position = _end_of_line(text, match.end()) if opening else _end_of_value(text, match.end())


def _unquoted(part: str) -> str:
    return str(tomllib.loads(f"key = {part}")["key"]) if part[0] in "\"'" else part


def _end_of_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _end_of_value(text: str, position: int) -> int:
    depth = 0
    for piece in PIECE.finditer(text, position):
        depth += (piece[0] in ("[", "{")) - (piece[0] in ("]", "}"))
        if piece[0] == "\n" and depth == 0:
            return piece.start()
    return len(text)


def _numbered(path: KeyPath, key: tuple[str, ...], arrays: dict[KeyPath, int], *, last: bool = True) -> KeyPath:
    """The path of a header: after the name of an array of tables comes the number of its last table."""
    for place, part in enumerate(key, start=1):
        path = (*path, part)
        if path in arrays and (last or place < len(key)):
            path = (*path, arrays[path])
    return path
