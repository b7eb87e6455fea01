"""Names in a table as codes: one small integer per row, and the names in the order of first appearance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ampler.core.arrays import Codes
from ampler.core.errors import InvalidData
from ampler.core.names import composed
from ampler.core.wording import as_meant
from ampler.data.tables.cells import Place

if TYPE_CHECKING:
    import pandas as pd

NEARLY = 0.9  # of all combinations: a setting of which some runs are missing is still one


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """One name per row: its place among `names`, or -1 where there is none."""

    codes: Codes
    names: tuple[str, ...]

    def at(self, rows: Codes) -> Coded:
        """The same names for some of the rows."""
        return Coded(self.codes[rows], self.names)

    def without_absent(self) -> Coded:
        """The same rows, the names without those that no row has."""
        there = np.unique(self.codes[self.codes >= 0])
        places = np.full(len(self.names) + 1, -1, dtype=np.intp)  # the last place is that of no name
        places[there] = np.arange(len(there))
        return Coded(places[self.codes], tuple(self.names[code] for code in there))

    def of(self, row: int) -> str:
        """The name of a row."""
        return self.names[int(self.codes[row])]


def coded(column: pd.Series[Any]) -> Coded:
    """Return the names of a column without the blanks around them."""
    import pandas as pd

    codes, uniques = pd.factorize(column)
    places: dict[str, int] = {}
    merged = [places.setdefault(name, len(places)) if (name := _name(each)) else -1 for each in uniques]
    return Coded(np.asarray([*merged, -1], dtype=np.intp)[codes], tuple(places))


def row_names(frame: pd.DataFrame, columns: Sequence[str], place: Place) -> Coded:
    """Return the name of each row, joined when several columns make it: "f1, Dimension=10"."""
    parts = [coded(frame[name]) for name in columns]
    for name, part in zip(columns, parts, strict=True):
        if (part.codes < 0).any():
            row = frame.index[int(np.argmax(part.codes < 0))]
            raise InvalidData(f"{place.of(row)} must hold a name in column {name!r}, got an empty cell")
    return parts[0] if len(parts) == 1 else _joined(columns, parts)


def combination(*columns: Codes) -> tuple[Codes, Codes]:
    """Return the number of each row's combination, and the row where each combination first appears."""
    import pandas as pd

    codes = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        codes = pd.factorize(codes * (int(column.max(initial=0)) + 2) + column + 1)[0].astype(np.intp)
    first = np.flatnonzero(~pd.Series(codes).duplicated().to_numpy())
    return codes, first.astype(np.intp)


def varies(cells: Codes, column: Coded) -> bool:
    """Whether rows of the same cell differ in a column."""
    return len(combination(cells, column.codes)[1]) > len(np.unique(cells))


def is_crossed(cells: Codes, column: Coded) -> bool:
    """Whether (nearly) every level of a column occurs in every cell, as those of a setting do."""
    levels = len(column.names)
    return levels > 1 and len(combination(cells, column.codes)[1]) >= NEARLY * levels * len(np.unique(cells))


def needed(frame: pd.DataFrame, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return the candidates without those that the others determine, as a suite of instances, or a constant."""
    codes = {name: coded(frame[name]).codes for name in candidates}
    kept = list(candidates)
    for name in reversed(candidates):
        rest = [other for other in kept if other != name]
        if rest and _count(codes, rest) == _count(codes, kept):
            kept = rest
    return tuple(kept)


def _name(cell: object) -> str:
    """A cell as a name; 3.0 in a data frame is the instance 3, and an apostrophe before a formula is taken off."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else composed(as_meant(str(cell).strip()))


def _joined(columns: Sequence[str], parts: Sequence[Coded]) -> Coded:
    codes, first = combination(*(part.codes for part in parts))
    rest = list(zip(columns[1:], parts[1:], strict=True))
    names = (", ".join([parts[0].of(row), *(f"{column}={part.of(row)}" for column, part in rest)]) for row in first)
    return Coded(codes, tuple(names))


def _count(codes: Mapping[str, Codes], names: Sequence[str]) -> int:
    return len(combination(*(codes[name] for name in names))[1])
