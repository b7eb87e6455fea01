"""Tables as text that fits a width: columns are narrowed, left out or folded into cards; no number is broken. Pure."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ampler.core.names import short_names
from ampler.core.wording import printable

Kind = Literal["number", "words", "name"]

GAP = "  "
SHORTEST_NAME = 24  # characters that a name keeps before a column is left out for it
NAMES_SHARE = 0.4  # of a narrow terminal that names keep at least
SHORTEST_WORDS = 16  # characters that a line of words keeps
BOUND = re.compile(r"(?<=\d) (?=(?:%|s|min|h|d|GB|MB|kB)(?!\w))| (?=[=≥≤] )|(?<=[=≥≤]) ")
TIE = "\N{NO-BREAK SPACE}"
USUAL = 80  # columns of a terminal that does not say how many it has


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, and what may become of it where room is short.

    Numbers end at the right and are never broken; words fold between words; names are cut so that they can be told
    apart. Columns with the largest `leaves` are left out first, those with 0 never. `narrow` may stand for it.
    """

    head: str
    cells: tuple[str, ...]
    kind: Kind = "number"
    leaves: int = 0
    narrow: Column | None = None


@dataclass(frozen=True, slots=True)
class Fitted:
    """A table as lines: its head, its body, and the heads of the columns that found no room."""

    head: tuple[str, ...]
    body: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it."""
        return self.head + self.body


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table for a terminal; `breaks` are lines that stand before the rows of these numbers.

    >>> table = TextTable((Column("pair", ("a × b", "a × c"), "name"), Column("p", ("0.04", "1e-05"))))
    >>> print("\\n".join(table.fitted().lines))
    pair       p
    a × b   0.04
    a × c  1e-05
    """

    columns: tuple[Column, ...]
    breaks: Mapping[int, str] = field(default_factory=dict)

    def fitted(self, width: int = USUAL) -> Fitted:
        """Return the lines in so many columns; where not even the columns that must stay fit, each row is a card."""
        whole = [_plain(column) for column in self.columns]
        kept = dict(enumerate(whole))
        while (widths := _widths(kept.values(), width)) is None:
            if any(column.narrow for column in kept.values()):
                kept = {place: column.narrow or column for place, column in kept.items()}
                continue
            leaving = max(reversed(kept), key=lambda place: kept[place].leaves)
            if not kept[leaving].leaves:
                return Fitted((), tuple(_cards(whole, self.breaks, width)))
            del kept[leaving]
        heads, *rows = _folded(list(kept.values()), widths)
        body: list[str] = []
        for number, row in enumerate(rows):
            body += [self.breaks[number]] if number in self.breaks else []
            body += row
        left_out = (column.head for place, column in enumerate(whole) if place not in kept)
        return Fitted(tuple(heads), tuple(body), tuple(left_out))


def table_of(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    names: Collection[int] = (0,),
    words: Collection[int] = (),
    leaves: Mapping[int, int] | None = None,
) -> TextTable:
    """Return a table of rows; `names` and `words` are the places of such columns, `leaves` says which leave first."""
    kinds: dict[int, Kind] = {**dict.fromkeys(names, "name"), **dict.fromkeys(words, "words")}
    gone = leaves or {}
    columns = (
        Column(head, tuple(row[place] for row in rows), kinds.get(place, "number"), gone.get(place, 0))
        for place, head in enumerate(header)
    )
    return TextTable(tuple(columns))


def cells_taken(text: str) -> int:
    """Return how many columns of a terminal a text takes: letters of East Asia take two, marks above others none.

    >>> cells_taken("abc"), cells_taken("算法"), cells_taken("é")
    (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_letter_width, text))


def broken_lines(text: str, width: int) -> list[str]:
    """Return the lines of a text broken between words; a number stays with its unit, a long word stays whole.

    >>> broken_lines("joint 95 % interval", 9)
    ['joint', '95 %', 'interval']
    """
    bound = BOUND.sub(TIE, text)
    lines = textwrap.wrap(bound, max(width, 1), break_long_words=False, break_on_hyphens=False)
    return [line.replace(TIE, " ") for line in lines] or [""]


def _letter_width(letter: str) -> int:
    if unicodedata.category(letter) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1


def _plain(column: Column) -> Column:
    """Without characters that would move the cursor, on one line."""
    narrow = None if column.narrow is None else _plain(column.narrow)
    return replace(column, head=_line(column.head), cells=tuple(map(_line, column.cells)), narrow=narrow)


def _line(text: str) -> str:
    return " ".join(printable(text).split())


# how wide ---------------------------------------------------------------------------------------------------------


def _widths(columns: Collection[Column], width: int) -> list[int] | None:
    """The widths of the columns, as near to what they ask for as there is room; None if they do not fit."""
    widths = [_least(column, width) for column in columns]
    spare = width - sum(widths) - len(GAP) * (len(columns) - 1)
    if spare < 0:
        return None
    for place, column in enumerate(columns):
        more = min(spare, _natural(column) - widths[place])
        widths[place] += more
        spare -= more
    return widths


def _natural(column: Column) -> int:
    return max(map(cells_taken, (column.head, *column.cells)))


def _least(column: Column, width: int) -> int:
    """What a column needs: numbers whole, the words of its head whole, and enough of names and words to be read."""
    head = max(map(cells_taken, column.head.split()), default=0)
    cells = max(map(cells_taken, column.cells), default=0)
    if column.kind == "number":
        return max(head, cells)
    name = min(SHORTEST_NAME, int(NAMES_SHARE * width))
    shortest = name if column.kind == "name" else max(SHORTEST_WORDS, _longest_word(column.cells))
    return max(min(head, shortest), min(cells, shortest))


def _longest_word(cells: Sequence[str]) -> int:
    return max((cells_taken(word) for cell in cells for word in cell.split()), default=0)


# lines ------------------------------------------------------------------------------------------------------------


def _folded(columns: Sequence[Column], widths: Sequence[int]) -> list[list[str]]:
    """The lines of the head and of each row."""
    heads = [broken_lines(column.head, width) for column, width in zip(columns, widths, strict=True)]
    body = [_cells(column, width) for column, width in zip(columns, widths, strict=True)]
    rows = [heads, *(list(row) for row in zip(*body, strict=True))]
    sides = [column.kind == "number" for column in columns]
    return [_joined(row, widths, sides) for row in rows]


def _cells(column: Column, width: int) -> list[list[str]]:
    if column.kind == "words":
        return [broken_lines(cell, width) for cell in column.cells]
    if column.kind == "name" and max(map(cells_taken, column.cells), default=0) > width:
        return [[name] for name in _names(column.cells, width)]
    return [[cell] for cell in column.cells]


def _names(names: Sequence[str], width: int) -> Sequence[str]:
    """The names in so many columns, whatever letters they have."""
    short = short_names(names, width)
    return short if max(map(cells_taken, short)) <= width else short_names(names, max(4, width // 2))


def _joined(row: Sequence[Sequence[str]], widths: Sequence[int], to_the_right: Sequence[bool]) -> list[str]:
    """The cells of a row beside each other, in as many lines as the tallest takes."""
    tall = max(map(len, row), default=1)
    return [
        GAP.join(
            _set(cell[line] if line < len(cell) else "", width, right)
            for cell, width, right in zip(row, widths, to_the_right, strict=True)
        ).rstrip()
        for line in range(tall)
    ]


def _set(text: str, width: int, to_the_right: bool) -> str:
    room = " " * (width - cells_taken(text))
    return f"{room}{text}" if to_the_right else f"{text}{room}"


def _cards(columns: Sequence[Column], breaks: Mapping[int, str], width: int) -> list[str]:
    """Each row as a few lines: its name, then the rest one below the other with their heads."""
    first = next((column for column in columns if column.kind == "name"), columns[0])
    lines: list[str] = []
    for number, name in enumerate(first.cells):
        lines += [breaks[number]] if number in breaks else []
        lines += broken_lines(name, width)
        for column in columns:
            if column is not first and column.cells[number]:
                lines += _entry(column.head, column.cells[number], width)
    return lines


def _entry(head: str, cell: str, width: int) -> list[str]:
    one_line = f"{GAP}{head}: {cell}" if head else f"{GAP}{cell}"
    if cells_taken(one_line) <= width:
        return [one_line]
    return [f"{GAP}{line}" for line in (*broken_lines(f"{head}:", width - 2), *broken_lines(cell, width - 2))]
