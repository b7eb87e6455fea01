"""Data from a file held against the types of our values: a field that does not fit is named, never used. Pure.

What a type asks for is worked out once: every run that is read from a study file is held against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from reprlib import repr as shown
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Value = TypeVar("Value")
Fitting = Callable[[Any], bool]


def checked(value: Value) -> Value:
    """Return a value whose fields are all of the types it declares; ValueError names the first that is not.

    >>> from ampler.core.values import Limits
    >>> checked(Limits(timeout="long"))
    Traceback (most recent call last):
    ...
    ValueError: timeout of Limits is 'long'
    """
    for name, test in _tests(type(value)):  # type: ignore[arg-type]
        if not test(getattr(value, name)):
            raise ValueError(f"{name} of {type(value).__name__} is {shown(getattr(value, name))}")
    return value


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type as our values declare it; numbers must be finite.

    >>> fits({"a": 3}, Mapping[str, int]), fits(True, int), fits(float("nan"), float | None)
    (True, False, False)
    """
    return _test_of(kind)(value)


@cache
def _tests(kind: Any) -> tuple[tuple[str, Fitting], ...]:
    """The fields that a type declares, each with what tells whether a value fits."""
    hints = get_type_hints(kind)
    return tuple((field.name, _test_of(hints[field.name])) for field in fields(kind))


@cache
def _test_of(kind: Any) -> Fitting:
    if kind is Any:
        return lambda value: True
    if is_dataclass(kind):
        return lambda value: isinstance(value, kind) and _all_fit(value)  # type: ignore[arg-type]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return lambda value: isinstance(value, str | int) and value in inner
    return _bare(kind) if origin is None else _composed(origin, [_test_of(each) for each in inner])


def _composed(origin: Any, parts: list[Fitting]) -> Fitting:
    """Of alternatives, of tuples of any length, of mappings."""
    first, last = parts[0], parts[-1]
    if origin in (Union, UnionType):
        return lambda value: any(part(value) for part in parts)
    if origin is tuple:
        return lambda value: isinstance(value, tuple) and all(map(first, value))
    return lambda value: isinstance(value, Mapping) and all(map(first, value.keys())) and all(map(last, value.values()))


def _bare(kind: Any) -> Fitting:
    """A type by itself: whole numbers are numbers, truth values are neither."""
    if kind is float:
        return lambda value: type(value) in (int, float) and _is_finite(value)
    if kind in (None, NoneType):
        return lambda value: value is None
    return lambda value: type(value) is kind


def _is_finite(number: float) -> bool:
    try:
        return isfinite(number)
    except OverflowError:  # a whole number beyond all floats
        return False


def _all_fit(value: Any) -> bool:
    return all(test(getattr(value, name)) for name, test in _tests(type(value)))  # type: ignore[arg-type]
