"""The runs of a study as a table that any program can read: CSV or Parquet."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, get_type_hints

from ampler.core.errors import InvalidData
from ampler.core.runs import Observation, RunKey
from ampler.core.serialization import replace_file
from ampler.core.text import escape_formula

# The columns of a run: the fields of its key, these, and all further fields of an observation.
# Measures have columns of their own.
KEY = get_type_hints(RunKey)
FIELDS = {name: kind for name, kind in get_type_hints(Observation).items() if name not in ("key", "measures")}
FIRST = ("attempt", "round", "seed", "value", "seconds", "status", "message")
COLUMNS = (*KEY, *FIRST, *(name for name in FIELDS if name not in FIRST))
ROWS = 50_000  # rows per block of a Parquet file,
LINES = 5_000  # and of a CSV file


def write_runs(
    observations: Iterable[Observation], path: str | os.PathLike[str], *, measures: Sequence[str] = ()
) -> int:
    """Write runs as a table, CSV or Parquet by the name's ending; return their number.

    Each of the `measures` gets a column. A file of that name is replaced only when the new one is complete.
    """
    table = Path(path)
    write = writer_for(table)
    with nullcontext(table) if is_device(table) else replace_file(table) as draft:
        rows = ((*_key(run.key), *_fields(run), *map((run.measures or {}).get, measures)) for run in observations)
        return write(rows, [column(name) for name in measures], draft)


def measure_names(observations: Iterable[Observation]) -> tuple[str, ...]:
    """Return the names of all measures that runs reported, in the order in which they first appear."""
    return tuple(dict.fromkeys(name for observation in observations for name in observation.measures or ()))


def column(measure: str) -> str:
    """Return the name of a measure's column: its own, unless a column is called so already.

    >>> column("gap"), column("value")
    ('gap', 'measure.value')
    """
    reserved = {name.casefold() for name in COLUMNS}
    return f"measure.{measure}" if measure.strip().casefold() in reserved else measure


def is_device(path: Path) -> bool:
    """Whether a path is a device such as /dev/stdout, which is written to and not replaced."""
    return path.is_relative_to("/dev")


def writer_for(path: Path) -> Callable[[Iterator[Row], Sequence[str], Path], int]:
    """Return the writer for a file of this name; InvalidData if there is none."""
    if is_device(path):
        return _write_csv
    match path.suffix.lower():
        case ".csv":
            return _write_csv
        case ".parquet" | ".pq":
            return _write_parquet
    raise InvalidData(f"the table must be called something.csv or something.parquet, got {str(path)!r}")


Row = tuple[Any, ...]


_key = attrgetter(*KEY)
_fields = attrgetter(*(name for name in COLUMNS if name in FIELDS))


def _write_csv(rows: Iterator[Row], further: Sequence[str], path: Path) -> int:
    number = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([escape_formula(name) for name in (*COLUMNS, *further)])
        while group := list(islice(rows, LINES)):
            writer.writerows(zip(*map(_cells, zip(*group, strict=True)), strict=True))
            number += len(group)
    return number


def _cells(column: Sequence[Any]) -> Iterable[Any]:
    """The cells of some rows of a column: names come again and again, and most numbers are written as they are."""
    kinds = set(map(type, column))
    if kinds == {str}:
        safe = {text: escape_formula(text) for text in set(column)}
        return [safe[text] for text in column]
    return column if kinds <= {int, float} and all(map(math.isfinite, column)) else map(_cell, column)


def _cell(cell: Any) -> Any:
    """A text that no spreadsheet reads as a formula; infinite and unknown numbers are empty cells."""
    if isinstance(cell, str):
        return escape_formula(cell)
    return "" if isinstance(cell, float) and not math.isfinite(cell) else cell


def _write_parquet(rows: Iterator[Row], further: Sequence[str], path: Path) -> int:
    from ampler.data.tables.files import parquet_modules

    pa, parquet = parquet_modules()
    kinds = {int: pa.int64(), int | None: pa.int64(), float: pa.float64(), float | None: pa.float64()}
    columns = [(name, kinds.get((KEY | FIELDS)[name], pa.string())) for name in COLUMNS]
    schema = pa.schema([*columns, *((name, pa.float64()) for name in further)])
    number = 0
    with parquet.ParquetWriter(path, schema) as writer:
        while group := list(islice(rows, ROWS)):
            cells = zip(zip(*group, strict=True), schema.types, strict=True)
            writer.write_table(pa.table([pa.array(column, kind) for column, kind in cells], schema=schema))
            number += len(group)
    return number
