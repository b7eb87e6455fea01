"""Results as plain text and as plain values for JSON. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def jsonable(value: Any) -> Any:
    """Return the value made of lists, dicts, texts and finite numbers; what is infinite or unknown is None.

    >>> jsonable({"interval": (0.5, float("inf")), "rank": np.int64(3)})
    {'interval': [0.5, None], 'rank': 3}
    """
    if isinstance(value, np.generic | np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in fields(value)}
    return [jsonable(item) for item in value]


def flat(value: Any) -> dict[str, Any]:
    """Return the fields of a frozen value as one row; an interval becomes two columns, its bounds."""
    row: dict[str, Any] = {}
    for field in fields(value):
        item = getattr(value, field.name)
        if isinstance(item, tuple):
            row[f"{field.name}_lower"], row[f"{field.name}_upper"] = item
        else:
            row[field.name] = item
    return row


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int] = ()) -> list[str]:
    """Return the lines of a table; columns are set to the right, those in `left` to the left.

    >>> print("\\n".join(text_table(["pair", "p"], [["a × b", "0.04"], ["a × c", "1e-05"]], left=[0])))
    pair       p
    a × b   0.04
    a × c  1e-05
    """
    cells = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(header))]
    return ["  ".join(_set(row[place], widths[place], place in left) for place in range(len(row))) for row in cells]


def _set(text: str, width: int, to_the_left: bool) -> str:
    return text.ljust(width) if to_the_left else text.rjust(width)
