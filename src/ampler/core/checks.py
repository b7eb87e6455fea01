"""The numbers of a design, checked once at the public door: a value that fits, or one sentence why not. Pure."""

from __future__ import annotations

from decimal import Decimal
from math import inf, isfinite, nan
from numbers import Real
from reprlib import repr as shown
from typing import Any

from ampler.core.errors import InvalidDesign


def number(name: str, value: Any, way_out: str) -> float:
    """Return a finite float; text, truth values and arrays are no numbers."""
    result = _float(value)
    if not isfinite(result):
        raise InvalidDesign(f"{name} must be a finite number, got {shown(value)}: {way_out}")
    return result


def whole(name: str, value: Any, least: int, most: int, way_out: str) -> int:
    """Return a whole number within limits; 57.0 is one, 57.5 and "57" are not."""
    result = number(name, value, way_out)
    if not (result.is_integer() and least <= result <= most):
        raise InvalidDesign(f"{name} must be a whole number from {least} to {most}, got {shown(value)}: {way_out}")
    return int(result)


def share(name: str, value: Any, way_out: str) -> float:
    """Return a number strictly between 0 and 1."""
    result = number(name, value, way_out)
    if not 0 < result < 1:
        raise InvalidDesign(f"{name} must lie strictly between 0 and 1, got {shown(value)}: {way_out}")
    return result


def choice(name: str, value: Any, choices: tuple[str, ...], way_out: str) -> Any:
    """Return one of the words."""
    if not (isinstance(value, str) and value in choices):
        words = ", ".join(repr(word) for word in choices[:-1]) + f" or {choices[-1]!r}"
        raise InvalidDesign(f"{name} must be {words}, got {shown(value)}: {way_out}")
    return value


def _float(value: Any) -> float:
    """NaN for what is no number, infinity for a whole number beyond 1e308."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return nan
    try:
        return float(value)
    except OverflowError:
        return inf
