"""Cells of a table: what is a number, what is missing, what is a mistake, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidData
from ampler.core.names import composed
from ampler.core.wording import shortened
from ampler.data.tables.numerals import Mark, are_numbers, plain_column
from ampler.data.tables.vocabulary import SUCCESS, fold

if TYPE_CHECKING:
    import pandas as pd

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", "--", "."})  # cells that mean "no value"
TRUTH = ("true", "false")  # whether a run succeeded: 1 or 0
YES_OR_NO = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
OUTCOMES = ({"true", "false"}, {"yes", "no"})  # a column of these two words and of nothing else holds outcomes
LARGEST_WHOLE = 2**63 - 1  # whole numbers beyond it fit into no column of numbers
LONG_NUMBERS = ("2.4192406017894334e+45", "0.1234567890123456789", "8.5e-310")
LOOKED_AT = 10_000  # so many cells tell whether a column holds numbers


@dataclass(frozen=True, slots=True)
class Place:
    """How to speak of a row in an error: a line of a file, or a row of a data frame."""

    source: str
    row: str = "line"

    def of(self, number: object) -> str:
        """The row with this number, in words."""
        return f"{self.row} {number} of {self.source}"


def holds_numbers(column: pd.Series[Any]) -> bool:
    """Whether most cells of a column are numbers: a stray word is then a mistake to report, not a column of text."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return not pd.api.types.is_bool_dtype(column)
    if pd.to_numeric(column.head(LOOKED_AT), errors="coerce").notna().all() and not _are_truths(column):
        return len(column) > 0
    text = column.head(LOOKED_AT).astype("str").str.strip()
    text = text[~text.str.lower().isin(MISSING)]
    return len(text) > 0 and bool((pd.to_numeric(text, errors="coerce").notna() | are_numbers(text)).mean() >= 0.5)


def holds_whole_numbers(column: pd.Series[Any]) -> bool:
    """Whether all numbers of a column of numbers are whole."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    known = numbers[np.isfinite(numbers)]
    return len(known) > 0 and bool((known == np.round(known)).all())


def to_numbers(column: pd.Series[Any], place: Place, decimal: Mark = ".") -> Floats:
    """Return a column as numbers; a missing one is NaN, text is an error that names the line.

    A column of yes and no, or of true and false, both of them and nothing else, is one of 1 and 0.
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return column.to_numpy(dtype=float, na_value=np.nan)
    plain = _parsed(column)
    if decimal == "." and not np.isnan(plain).any() and not _are_truths(column):
        return plain
    text = column.astype("str").str.strip()
    if fold(column.name) in SUCCESS and text.str.lower().isin(TRUTH).all():
        return np.asarray(text.str.lower() == "true", dtype=float)
    numbers = _parsed(plain_column(text, decimal))
    strange = text[np.isnan(numbers) & ~column.isna().to_numpy()]
    strange = strange[~strange.str.lower().isin(MISSING)]
    if not len(strange):
        return numbers
    if np.isnan(numbers).all() and {*strange.str.lower()} in OUTCOMES:
        return np.asarray(text.str.lower().map(YES_OR_NO), dtype=float)
    more = f" (and {len(strange) - 1} more rows)" if len(strange) > 1 else ""
    raise InvalidData(
        f"{place.of(strange.index[0])} must hold a number in column {str(column.name)!r}, got"
        f" {shortened(strange.iloc[0])!r}{more}"
    )


def _parsed(column: pd.Series[Any]) -> Floats:
    """The numbers that cells say, to their last digit; NaN for what is none."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan, copy=True)
    if not _parses_exactly():
        said = np.isfinite(numbers)
        numbers[said] = [float(cell) for cell in column.to_numpy(dtype=object)[said]]
    return numbers


@cache
def _parses_exactly() -> bool:
    """Whether this pandas reads all digits; those before 3 may miss the last of sixteen."""
    import pandas as pd

    return all(float(pd.to_numeric(pd.Series([word]))[0]) == float(word) for word in LONG_NUMBERS)


def plain_cells(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of a stranger's objects as words and numbers: what is neither is shown as a word."""
    if column.dtype.kind == "c":  # a complex number would lose its imaginary part
        return column.map(str)
    return column.map(_plain) if column.dtype == object else column


def _plain(cell: Any) -> Any:
    if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) > LARGEST_WHOLE:
        return float("inf") if cell > 0 else float("-inf")
    return cell if cell is None or isinstance(cell, str | int | float | np.generic) else str(cell)


def same(cell: str, wanted: str) -> bool:
    """Whether two cells say the same: as numbers, or as words without regard to case.

    >>> same("30", "30.0"), same("Accuracy", "accuracy"), same("D30", "30")
    (True, True, False)
    """
    try:
        return float(cell) == float(wanted)
    except ValueError:
        return composed(cell).strip().casefold() == composed(wanted).strip().casefold()


def _are_truths(column: pd.Series[Any]) -> bool:
    """Whether a column holds True and False as such, which pandas takes for 1 and 0."""
    import pandas as pd

    return pd.api.types.is_bool_dtype(column) or isinstance(next(iter(column), None), bool)
