"""Values as plain data: documents for other programs, records that are kept, digests that tell records apart. Pure.

A document (`jsonable`) is read by strangers, so what is infinite or unknown is null. A record (`plain`) is compared
with later ones, so nothing is lost: what JSON cannot hold is kept as text.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from dataclasses import Field, fields, is_dataclass
from typing import Any

UNSAID = "unsaid"  # metadata of a field that came later: the value a record without the field stands for


def jsonable(value: Any) -> Any:
    """Return a value as JSON knows it: dataclasses and mappings as objects, arrays as lists, NaN and ∞ as null.

    >>> jsonable({"power": float("nan"), "levels": (0.025, 0.05)})
    {'power': None, 'levels': [0.025, 0.05]}
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # numpy's arrays and numbers, without importing numpy here
        return jsonable(value.tolist())
    if isinstance(value, Iterable):
        return [jsonable(item) for item in value]
    return str(value)  # paths, dates


def flat(value: Any) -> dict[str, Any]:
    """Return the fields of a frozen value as one row; an interval becomes two columns, its bounds."""
    row: dict[str, Any] = {}
    for field in fields(value):
        item = getattr(value, field.name)
        if isinstance(item, tuple) and len(item) == 2:
            row[f"{field.name}_lower"], row[f"{field.name}_upper"] = item
        else:
            row[field.name] = item
    return row


def plain(value: Any) -> Any:
    """Return a value as a record keeps it: numbers that are not finite as text, functions by where they are defined."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, Set):
        return sorted((plain(each) for each in value), key=canonical)
    if isinstance(value, Collection):
        return [plain(each) for each in value]
    if hasattr(value, "item"):  # a numpy number
        return plain(value.item())
    if is_dataclass(value) and not isinstance(value, type):
        return described_rule(value)
    return origin(value) if callable(value) else repr(value)


def described_rule(rule: Any) -> dict[str, Any]:
    """Return a rule as plain data: its type's name and fields; of a plain function, where it is defined.

    A field that came later is left out where it says what was so before, so that records of earlier days are equal.
    """
    if is_dataclass(rule) and not isinstance(rule, type):
        return {
            "rule": type(rule).__name__,
            **{field.name: plain(getattr(rule, field.name)) for field in fields(rule) if _is_said(field, rule)},
        }
    return {"rule": origin(rule)}


def _is_said(field: Field[Any], rule: Any) -> bool:
    return field.init and not (UNSAID in field.metadata and getattr(rule, field.name) == field.metadata[UNSAID])


def origin(function: Any) -> str:
    """Return where a callable is defined, as "module:name".

    >>> origin(math.sqrt)
    'math:sqrt'
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def canonical(data: Any, *, sort_keys: bool = False) -> str:
    """Write plain data as JSON without blanks; the order of names is kept, as it carries meaning."""
    return (_sorting if sort_keys else _keeping)(data)


def _encoder(*, sort_keys: bool) -> Callable[[Any], str]:
    """What writes JSON; made once, as making it takes longer than what it writes for a run."""
    return json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=sort_keys).encode


_keeping, _sorting = _encoder(sort_keys=False), _encoder(sort_keys=True)


def digest(data: Any) -> str:
    """Return a short hash of plain data; the order in which a mapping names its keys does not matter."""
    return hashlib.blake2b(canonical(data, sort_keys=True).encode(), digest_size=16).hexdigest()
