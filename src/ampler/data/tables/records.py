"""JSON that is a table → a data frame: a list of records, columns by name, or rows below columns, as pandas has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 18  # digits of a whole number that is kept as one
INSIDE = ("data", "records", "rows", "runs")  # under which records may lie in a document


def read_records(content: bytes) -> pd.DataFrame | None:
    """Return the table in a JSON document; None when it holds none.

    >>> read_records(b'[{"solver": "a", "result": 1.5}, {"solver": "b", "result": 2}]').shape
    (2, 2)
    """
    import pandas as pd

    try:
        found = _table(json.loads(content, parse_int=_whole))
    except (ValueError, RecursionError):
        return None
    if not found:
        return None
    frame = pd.DataFrame(found)
    numbered = all(str(label).isdigit() for label in frame.index)  # other labels name the instances
    return frame.reset_index(drop=True) if numbered else frame


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= LONGEST else float(digits)


def _table(document: Any) -> Any:
    """The records or the columns in a document, as a data frame takes them; None when there are none."""
    if isinstance(document, list):
        return document if all(map(_is_record, document)) else None
    if not isinstance(document, Mapping):
        return None
    if isinstance(document.get("columns"), list) and isinstance(document.get("data"), list):
        return _of_rows(document["columns"], document["data"])
    inside = (_table(document[name]) for name in INSIDE if isinstance(document.get(name), list))
    return next((found for found in inside if found), None) or _columns(document)


def _is_record(each: Any) -> bool:
    return isinstance(each, Mapping) and bool(each) and all(map(_is_cell, each.values()))


def _is_cell(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _of_rows(columns: list[Any], rows: list[Any]) -> Any:
    """Rows below the names of their columns."""
    fits = all(isinstance(row, list) and len(row) == len(columns) and all(map(_is_cell, row)) for row in rows)
    return [dict(zip(map(str, columns), row, strict=True)) for row in rows] if fits else None


def _columns(document: Mapping[str, Any]) -> Any:
    """Columns by name: lists of one length, or cells by the names of their rows."""
    columns = list(document.values())
    if len(columns) < 2:
        return None
    if all(isinstance(each, list) and each and all(map(_is_cell, each)) for each in columns):
        return dict(document) if len(set(map(len, columns))) == 1 else None
    return dict(document) if all(map(_is_record, columns)) else None
