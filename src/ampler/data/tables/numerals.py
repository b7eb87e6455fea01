"""How numbers are written in a column: which mark is the decimal one, and which separates thousands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ampler.core.errors import InvalidData
from ampler.core.spoken import parameter
from ampler.core.wording import shortened

if TYPE_CHECKING:
    import pandas as pd

Mark = Literal[".", ","]
BLANKS = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}'\N{RIGHT SINGLE QUOTATION MARK}"
HEAD = 10_000  # cells that mostly decide


def _pattern(decimal: str, thousands: str) -> str:
    """Numbers with this decimal mark: thousands are separated by one mark everywhere, or nowhere."""
    whole = rf"(?:\d+|[1-9]\d{{0,2}}([{thousands}{BLANKS}])\d{{3}}(?:\1\d{{3}})*)"
    return rf"[+-]?(?:{whole}(?:\{decimal}\d*)?|\{decimal}\d+)(?:[eE][+-]?\d+)?"


PATTERNS: dict[Mark, str] = {".": _pattern(".", ","), ",": _pattern(",", r"\.")}


def are_numbers(text: pd.Series[str]) -> pd.Series[bool]:
    """Which cells are numbers with either decimal mark."""
    return text.str.fullmatch(PATTERNS["."]) | text.str.fullmatch(PATTERNS[","])


def decimal_mark(frame: pd.DataFrame, name: str, source: str) -> Mark:
    """Return the decimal mark of a column, from its cells, else from other columns; else it is asked for.

    A number such as 1,234 alone may be either. So may 1.234, which is asked about only where semicolons separate cells,
    as they do where the decimal mark is a comma.
    """
    fits, example = _marks(frame[name])
    if len(fits) == 1:
        return next(iter(fits))
    if not fits:
        return "."
    others = {
        mark for other in frame.columns if other != name and len(own := _marks(frame[other])[0]) == 1 for mark in own
    }
    if len(others) == 1:
        return others.pop()
    if "," not in example and frame.attrs.get("separator") != ";":
        return "."
    mark: Mark = "," if "," in example else "."
    grouped: Mark = "." if mark == "," else ","
    raise InvalidData(
        f"column {name!r} of {source} can be read in two ways, as {shortened(example)!r} may be"
        f" {plain(example, grouped)} or {plain(example, mark)}; say which mark is the decimal one:"
        f" {parameter('decimal', grouped)} or {parameter('decimal', mark)}"
    )


def plain(cell: str, decimal: Mark) -> str:
    """Return a number as Python writes it.

    >>> plain("1.234,5", ","), plain("1 234.5", ".")
    ('1234.5', '1234.5')
    """
    for blank in (*BLANKS, "." if decimal == "," else ","):
        cell = cell.replace(blank, "")
    return cell.replace(decimal, ".")


def plain_column(text: pd.Series[str], decimal: Mark) -> pd.Series[str]:
    """Return the numbers of a column as Python writes them; other cells stay."""
    fits = text.str.fullmatch(PATTERNS[decimal])
    return text.where(~fits, text[fits].map(lambda cell: plain(cell, decimal)))


def _marks(column: pd.Series[Any]) -> tuple[frozenset[Mark], str]:
    """The decimal marks that a column may have, and an ambiguous cell; no mark where its cells have none."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return frozenset(), ""
    for cells in (column.head(HEAD), column):
        marked = _marked(cells)
        fits = frozenset(
            mark for mark, pattern in PATTERNS.items() if len(marked) and marked.str.fullmatch(pattern).all()
        )
        if len(fits) == 1:
            return fits, ""
        if len(marked) and "," not in marked.iloc[0] and column.attrs.get("separator") != ";":
            break  # mostly a decimal point: the other cells are not looked through
    return fits, str(marked.iloc[0]) if len(marked) else ""


def _marked(column: pd.Series[Any]) -> pd.Series[str]:
    """The cells that are numbers in either way and hold a point or a comma."""
    import pandas as pd

    text = pd.Series(column.unique(), dtype="object").astype("str").str.strip()
    text = text[text.str.contains("[.,]")]
    return text[are_numbers(text)] if len(text) else text
