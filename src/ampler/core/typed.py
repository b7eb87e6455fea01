"""Data from a file held against the types of our values: a field that does not fit is named, never used. Pure.

What a type asks for is worked out once: every run that is read from a study file is held against it. A column of many
values is looked at as a whole; only one that is unusual is looked at value by value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import chain
from math import isfinite
from reprlib import repr as shown
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Value = TypeVar("Value")
Fitting = Callable[[Any], bool]
Usual = Callable[[Collection[Any]], bool]


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


def all_fit(values: Collection[Any], kind: Any) -> bool:
    """Whether all values of a column are of a type as our values declare it.

    >>> all_fit([1.5, 2, None], float | None), all_fit([1.5, float("inf")], float)
    (True, False)
    """
    return _usual_of(kind)(values) or all(map(_test_of(kind), values))


@cache
def kinds_of(kind: type) -> Mapping[str, Any]:
    """Return the types of the fields that a dataclass declares, by name."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def _tests(kind: Any) -> tuple[tuple[str, Fitting], ...]:
    """The fields that a type declares, each with what tells whether a value fits."""
    return tuple((name, _test_of(inner)) for name, inner in kinds_of(kind).items())


@cache
def _test_of(kind: Any) -> Fitting:
    if kind is Any:
        return lambda value: True
    if is_dataclass(kind):
        return lambda value: isinstance(value, kind) and _fields_fit(value)  # type: ignore[arg-type]
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


def _fields_fit(value: Any) -> bool:
    return all(test(getattr(value, name)) for name, test in _tests(type(value)))  # type: ignore[arg-type]


# Columns: what tells at once that all values fit. It may say no to a column that fits, never yes to one that does not.


@cache
def _usual_of(kind: Any) -> Usual:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is float:
        return lambda values: _types(values) <= {int, float} and _all_finite(values)
    if kind in (int, str):
        return lambda values: _types(values) <= {kind}
    if origin is Literal and _types(inner) == {str}:
        return lambda values: _types(values) <= {str} and set(inner).issuperset(values)
    if origin in (Union, UnionType) and len(inner) == 2 and inner[1] is NoneType:
        usual = _usual_of(inner[0])
        return lambda values: usual([value for value in values if value is not None])
    if origin is Mapping:
        return _usual_mappings(_usual_of(inner[0]), _usual_of(inner[1]))
    return lambda values: False


def _usual_mappings(names: Usual, content: Usual) -> Usual:
    def usual(values: Collection[Any]) -> bool:
        joined = chain.from_iterable
        return (
            _types(values) <= {dict} and names(list(joined(values))) and content(list(joined(map(dict.values, values))))
        )

    return usual


def _types(values: Collection[Any]) -> set[type]:
    return set(map(type, values))


def _all_finite(values: Collection[float]) -> bool:
    try:
        return all(map(isfinite, values))
    except OverflowError:
        return False
