"""Cells of a table: numbers, names, ends of runs, missing values, and the location of errors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ampler.core.arrays import STATUSES, Codes, Floats
from ampler.core.errors import InvalidData
from ampler.core.failures import KINDS, Kind, kind_of
from ampler.core.settings import Status
from ampler.core.text import composed, parameter, quoted, shortened, unescape_formula
from ampler.data.tables.vocabulary import SUCCESS, WORDS, fold

if TYPE_CHECKING:
    import pandas as pd

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", "--", "."})  # cells that mean "no value"
OUTCOMES = ({"true": 1.0, "false": 0.0}, {"yes": 1.0, "no": 0.0})  # pairs of words that make a column of outcomes
LARGEST_WHOLE = 2**63 - 1  # whole numbers beyond it fit into no column of numbers
LONG_NUMBERS = ("2.4192406017894334e+45", "0.1234567890123456789", "8.5e-310")
HEAD = 10_000  # number of cells used to detect numbers and decimal marks


@dataclass(frozen=True, slots=True)
class RowLocation:
    """Names of rows in errors: a line of a file, or a row of a data frame."""

    source: str
    row: str = "line"

    def of(self, number: object) -> str:
        """Return the name of the row with this number."""
        return f"{self.row} {number} of {self.source}"


# numbers ----------------------------------------------------------------------------------------------------------


def holds_numbers(column: pd.Series[Any]) -> bool:
    """Return whether most cells of a column are numbers: a stray word is then a mistake to report."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return not pd.api.types.is_bool_dtype(column)
    head = column.head(HEAD)
    if len(head) and pd.to_numeric(head, errors="coerce").notna().all() and not _are_truths(column):
        return True
    text = head.astype("str").str.strip()
    text = text[~text.str.lower().isin(MISSING)]
    return len(text) > 0 and bool((pd.to_numeric(text, errors="coerce").notna() | are_numbers(text)).mean() >= 0.5)


def holds_integers(column: pd.Series[Any]) -> bool:
    """Return whether all numbers of a column of numbers are whole."""
    numbers = as_floats(column)
    numbers = numbers[np.isfinite(numbers)]
    return len(numbers) > 0 and bool((numbers == np.round(numbers)).all())


def to_numbers(column: pd.Series[Any], location: RowLocation, decimal: Mark = ".", *, chosen: bool = True) -> Floats:
    """Return a column as numbers; a missing one is NaN, text is an error that names the line.

    Unless its decimal mark was `chosen`, 1,234 among numbers with points is asked about. A column of yes and no, or of
    true and false, both of them and nothing else, is one of 1 and 0.
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return as_floats(column)
    numbers = _parsed(column)
    if decimal == "." and not np.isnan(numbers).any() and not _are_truths(column):
        return numbers
    text = column.astype("str").str.strip()
    words = text.str.lower()
    if fold(column.name) in SUCCESS and words.isin(["true", "false"]).all():
        return np.asarray(words == "true", dtype=float)
    fits = text.str.fullmatch(PATTERNS[decimal])
    grouped = text[fits & text.str.contains("," if decimal == "." else ".", regex=False)]
    is_mixed = len(grouped) > 0 and text[fits].str.contains(decimal, regex=False).any()
    if is_mixed and not chosen and not grouped.str.contains("[.,].*[.,]").any():
        raise _ambiguous(column.name, location.source, grouped.iloc[0])
    numbers = _parsed(text.where(~fits, text[fits].map(lambda cell: python_number(cell, decimal))))
    wrong = np.isnan(numbers) & ~column.isna().to_numpy() & ~words.isin(MISSING).to_numpy()
    if not wrong.any():
        return numbers
    outcomes = next((pair for pair in OUTCOMES if set(pair) == set(words[wrong])), None)
    if outcomes and np.isnan(numbers).all():
        return np.asarray(words.map(outcomes), dtype=float)
    more = f" (and {wrong.sum() - 1} more rows)" if wrong.sum() > 1 else ""
    raise InvalidData(
        f"{location.of(text[wrong].index[0])} must hold a number in column {str(column.name)!r}, got"
        f" {shortened(text[wrong].iloc[0])!r}{more}"
    )


def as_floats(column: pd.Series[Any]) -> Floats:
    """Return the numbers of a column; NaN for other cells."""
    import pandas as pd

    return pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan, copy=True)


def _parsed(column: pd.Series[Any]) -> Floats:
    """The numbers of the cells to their last digit; NaN for other cells."""
    numbers = as_floats(column)
    if not _parses_exactly():
        finite = np.isfinite(numbers)
        numbers[finite] = [float(cell) for cell in column.to_numpy(dtype=object)[finite]]
    return numbers


@cache
def _parses_exactly() -> bool:
    """Whether this pandas reads all digits; those before 3 may miss the last of sixteen."""
    import pandas as pd

    return all(float(pd.to_numeric(pd.Series([word]))[0]) == float(word) for word in LONG_NUMBERS)


def _are_truths(column: pd.Series[Any]) -> bool:
    """Whether a column holds True and False as such, which pandas takes for 1 and 0."""
    import pandas as pd

    return pd.api.types.is_bool_dtype(column) or isinstance(next(iter(column), None), bool)


def scalar_cells(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of arbitrary objects as texts and numbers."""

    def scalar(cell: Any) -> Any:
        if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) > LARGEST_WHOLE:
            return float("inf") if cell > 0 else float("-inf")
        return cell if cell is None or isinstance(cell, str | int | float | np.generic) else str(cell)

    if column.dtype.kind == "c":  # a complex number would lose its imaginary part
        return column.map(str)
    return column.map(scalar) if column.dtype == object else column


def same(cell: str, level: str) -> bool:
    """Return whether two cells are the same: as numbers, or as text without regard to case.

    >>> same("30", "30.0"), same("Accuracy", "accuracy"), same("D30", "30")
    (True, True, False)
    """
    try:
        return float(cell) == float(level)
    except ValueError:
        return composed(cell).strip().casefold() == composed(level).strip().casefold()


# decimal marks and separators of thousands ------------------------------------------------------------------------

Mark = Literal[".", ","]
BLANKS = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}'\N{RIGHT SINGLE QUOTATION MARK}"


def _pattern(decimal: str, thousands: str) -> str:
    """Numbers with this decimal mark: thousands are separated by one mark everywhere, or nowhere."""
    integer = rf"(?:\d+|[1-9]\d{{0,2}}([{thousands}{BLANKS}])\d{{3}}(?:\1\d{{3}})*)"
    return rf"[+-]?(?:{integer}(?:\{decimal}\d*)?|\{decimal}\d+)(?:[eE][+-]?\d+)?"


PATTERNS: dict[Mark, str] = {".": _pattern(".", ","), ",": _pattern(",", r"\.")}


def are_numbers(text: pd.Series[str]) -> pd.Series[bool]:
    """Return which cells are numbers with either decimal mark."""
    return text.str.fullmatch(PATTERNS["."]) | text.str.fullmatch(PATTERNS[","])


def decimal_mark(frame: pd.DataFrame, name: str, source: str, values: Sequence[str] = ()) -> Mark:
    """Return the decimal mark of one of the columns of values, from cells of all columns; InvalidData asks for it.

    A number such as 1,234 alone may be either. So may 1.234, which is asked about only where semicolons separate cells,
    as they do where the decimal mark is a comma, and where tabs do and all other numbers are whole ones below 1,000.
    """
    marks, example = _marks(frame[name])
    if len(marks) == 1:
        return marks.pop()
    if not marks:
        return "."
    in_others = (_marks(frame[other])[0] for other in frame.columns if other != name)
    others = {mark for found in in_others if len(found) == 1 for mark in found}
    if len(others) == 1:
        return others.pop()
    if "," not in example and (separator := frame.attrs.get("separator")) != ";":
        cells = {str(cell).strip() for column in values or [name] for cell in frame[column].unique()}
        whole = [len(cell) for cell in cells if re.fullmatch(r"[+-]?\d+", cell)]
        if separator != "\t" or max(whole, default=4) > 3:
            return "."
    raise _ambiguous(name, source, example)


def _ambiguous(name: object, source: str, example: str) -> InvalidData:
    mark: Mark = "," if "," in example else "."
    grouped: Mark = "." if mark == "," else ","
    return InvalidData(
        f"column {name!r} of {source} is ambiguous: {shortened(example)!r} may be"
        f" {python_number(example, grouped)} or {python_number(example, mark)}; specify the decimal mark:"
        f" {parameter('decimal', grouped)} or {parameter('decimal', mark)}"
    )


def python_number(cell: str, decimal: Mark) -> str:
    """Return a number as Python writes it.

    >>> python_number("1.234,5", ","), python_number("1 234.5", ".")
    ('1234.5', '1234.5')
    """
    blanks = str.maketrans("", "", BLANKS + ("." if decimal == "," else ","))
    return cell.translate(blanks).replace(decimal, ".")


def _marks(column: pd.Series[Any]) -> tuple[set[Mark], str]:
    """The decimal marks that a column may have, and an ambiguous cell; no mark where its cells have none."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return set(), ""
    for cells in (column.head(HEAD), column):
        text = pd.Series(cells.unique(), dtype="object").astype("str").str.strip()
        text = text[text.str.contains("[.,]")]
        text = text[are_numbers(text)] if len(text) else text
        marks = {mark for mark, pattern in PATTERNS.items() if len(text) and text.str.fullmatch(pattern).all()}
        if len(marks) == 1:
            return marks, ""
        if len(text) and "," not in text.iloc[0] and column.attrs.get("separator") != ";":
            break  # usually a decimal point: skip the other cells
    return marks, str(text.iloc[0]) if len(text) else ""


# names ------------------------------------------------------------------------------------------------------------

CROSSED = 0.9  # of all combinations: a setting of which some runs are missing is still one


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """One name per row, as its position in `names`; -1 without a name."""

    codes: Codes
    names: tuple[str, ...]

    def at(self, rows: Codes) -> Coded:
        """Return the same for some of the rows, without the names that none of them has."""
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        names = tuple(self.names[code] for code in present if code >= 0)
        return Coded(codes - (present[0] < 0 if len(present) else 0), names)

    def of(self, row: int) -> str:
        """Return the name of a row."""
        return self.names[int(self.codes[row])]


def coded(column: pd.Series[Any]) -> Coded:
    """Return the names of a column without the blanks around them."""
    import pandas as pd

    codes, uniques = pd.factorize(column)
    cells = (int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in uniques)  # instance 3.0
    names = (composed(unescape_formula(str(cell).strip())) for cell in cells)
    positions: dict[str, int] = {}
    merged = [positions.setdefault(name, len(positions)) if name else -1 for name in names]
    return Coded(np.asarray([*merged, -1], dtype=np.intp)[codes], tuple(positions))


def row_names(frame: pd.DataFrame, columns: Sequence[str], location: RowLocation) -> Coded:
    """Return the name of each row, joined when several columns make it: "f1, Dimension=10"."""
    parts = [coded(frame[name]) for name in columns]
    for name, part in zip(columns, parts, strict=True):
        if (part.codes < 0).any():
            row = frame.index[int(np.argmax(part.codes < 0))]
            raise InvalidData(f"{location.of(row)} must hold a name in column {name!r}, got an empty cell")
    if len(parts) == 1:
        return parts[0]
    codes, first = combination(*(part.codes for part in parts))
    rest = list(zip(columns[1:], parts[1:], strict=True))
    names = (", ".join([parts[0].of(row), *(f"{column}={part.of(row)}" for column, part in rest)]) for row in first)
    return Coded(codes, tuple(names))


def combination(*columns: Codes) -> tuple[Codes, Codes]:
    """Return the number of each row's combination, and the row where each combination first appears."""
    import pandas as pd

    codes = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        codes = pd.factorize(codes * (int(column.max(initial=0)) + 2) + column + 1)[0].astype(np.intp)
    return codes, np.flatnonzero(~pd.Series(codes).duplicated().to_numpy()).astype(np.intp)


def combinations(*columns: Codes) -> int:
    """Return the number of different combinations."""
    return len(combination(*columns)[1])


def is_crossed(cells: Codes, column: Coded) -> bool:
    """Return whether (nearly) every level of a column occurs in every cell, as those of a setting do."""
    levels = len(column.names)
    return levels > 1 and combinations(cells, column.codes) >= CROSSED * levels * len(np.unique(cells))


def needed(frame: pd.DataFrame, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return the candidates without those that the others determine, as a suite of instances, or a constant."""
    codes = {name: coded(frame[name]).codes for name in candidates}
    for name in reversed(candidates):
        rest = {other: column for other, column in codes.items() if other != name}
        if rest and combinations(*rest.values()) == combinations(*codes.values()):
            codes = rest
    return tuple(codes)


# ends of runs ---------------------------------------------------------------------------------------------------

FAILURES: tuple[Kind, ...] = ("wrong", "memout", "crash", "unknown", "error")
FAILED: Mapping[str, Kind] = {word: kind for kind in FAILURES for word in WORDS[kind]}


def statuses(
    frame: pd.DataFrame, column: str | None, value: Floats
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], tuple[str, ...]]:
    """Return status and kind of each run as codes, and notes; one without a finite value has failed in any case."""
    status = np.zeros(len(value), dtype=np.uint8)
    kind = status.copy()
    notes: tuple[str, ...] = ()
    if column is not None:
        words = coded(frame[column])
        outcomes = {word: outcome_of(word, exit_code="code" in fold(column)) for word in words.names}
        if any(outcomes.values()):
            ends = {word: outcome or "failed" for word, outcome in outcomes.items()}
            kinds = [FAILED.get(fold(w), "error") if end == "failed" else kind_of(end) for w, end in ends.items()]
            # an empty cell (-1) means ok
            status = np.array([*map(STATUSES.index, ends.values()), 0], dtype=np.uint8)[words.codes]
            kind = np.array([*map(KINDS.index, kinds), 0], dtype=np.uint8)[words.codes]
        elif len(words.names) > 1:
            raise InvalidData(
                f"column {column!r} must hold words such as ok, timeout, memout, crash and wrong, got"
                f" {quoted(words.names, 5)}; replace them, or ignore the column with {parameter('ignore', column)}"
            )
        else:
            notes = (f"column {column!r} holds no known run status ({quoted(words.names, 5)}), so it is not used",)
    silent = (status == 0) & ~np.isfinite(value)
    status[silent], kind[silent] = STATUSES.index("failed"), KINDS.index("unknown")
    if "cause" in frame.columns:  # as ampler export writes it
        causes = coded(frame["cause"])
        for code, cause in enumerate(causes.names):
            kind[(status == STATUSES.index("failed")) & (causes.codes == code)] = KINDS.index(kind_of("failed", cause))
    return status, kind, notes


def outcome_of(word: str, *, exit_code: bool = False) -> Status | None:
    """Return what a word for a run's status means; None when it is not known.

    >>> outcome_of("Time-out"), outcome_of("memout"), outcome_of("0", exit_code=True), outcome_of("blue")
    ('timeout', 'failed', 'ok', None)
    """
    folded = fold(word)
    if folded in WORDS["ok"] or (exit_code and folded in {"0", "00"}):  # 00 is 0.0 without its point
        return "ok"
    if folded in WORDS["timeout"]:
        return "timeout"
    if folded == "lost":
        return "lost"
    return "failed" if folded in FAILED or exit_code else None
