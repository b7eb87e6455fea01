"""Data from a file held against the types of our values: a field that does not fit is named, never used. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from reprlib import repr as shown
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Value = TypeVar("Value")


def checked(value: Value) -> Value:
    """Return a value whose fields are all of the types it declares; ValueError names the first that is not.

    >>> from ampler.core.values import Limits
    >>> checked(Limits(timeout="long"))
    Traceback (most recent call last):
    ...
    ValueError: timeout of Limits is 'long'
    """
    for name, kind in _hints(value).items():
        if not fits(getattr(value, name), kind):
            raise ValueError(f"{name} of {type(value).__name__} is {shown(getattr(value, name))}")
    return value


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type as our values declare it; numbers must be finite.

    >>> fits({"a": 3}, Mapping[str, int]), fits(True, int), fits(float("nan"), float | None)
    (True, False, False)
    """
    if kind is Any:
        return True
    if is_dataclass(kind):
        return isinstance(value, kind) and _all_fit(value)  # type: ignore[arg-type]
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in inner)
    if origin is Literal:
        return isinstance(value, str | int) and value in inner
    if origin is tuple:
        return isinstance(value, tuple) and all(fits(each, inner[0]) for each in value)
    if origin is not None:  # a mapping
        return isinstance(value, Mapping) and all(fits(a, inner[0]) and fits(b, inner[1]) for a, b in value.items())
    return _is(value, kind)


def _is(value: Any, kind: Any) -> bool:
    """A bare type: whole numbers are numbers, truth values are neither."""
    if kind is float:
        return type(value) in (int, float) and _is_finite(value)
    return value is None if kind in (None, NoneType) else type(value) is kind


def _is_finite(number: float) -> bool:
    try:
        return isfinite(number)
    except OverflowError:  # a whole number beyond all floats
        return False


def _all_fit(value: Any) -> bool:
    return all(fits(getattr(value, name), kind) for name, kind in _hints(value).items())


def _hints(value: Any) -> dict[str, Any]:
    return _declared(type(value))  # type: ignore[arg-type]


@cache
def _declared(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
