"""Results as plain values: for JSON, and as rows of a data frame. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
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
