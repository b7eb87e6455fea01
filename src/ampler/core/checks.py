"""Numbers and words checked once, at the public door: a value that fits, or one sentence why not. Pure.

Every check takes the name of what is checked, the value, and a way out for the sentence; the class of the error is that
of the door.
"""

from __future__ import annotations

from math import inf, isfinite, nan
from numbers import Integral, Real
from reprlib import repr as shown
from typing import Any

from ampler.core.errors import InvalidDesign, InvalidInput

Door = type[InvalidInput]
MOST_WORKERS = 4096  # processes of one machine: a slip of the finger must not take it down


def finite(name: str, value: Any, way_out: str = "", *, error: Door = InvalidDesign) -> float:
    """Return a finite float; text, truth values and arrays are no numbers."""
    result = _float(value)
    if not isfinite(result):
        raise error(_sentence(name, "must be a finite number", value, way_out))
    return result


def positive(
    name: str, value: Any, way_out: str = "", *, most: float | None = None, error: Door = InvalidDesign
) -> float:
    """Return a finite number above 0, and not above `most`."""
    result = _float(value)
    if not (0 < result < inf and (most is None or result <= most)):
        limit = "" if most is None else f" of at most {most:,}"
        raise error(_sentence(name, f"must be a positive number{limit}", value, way_out))
    return result


def share(name: str, value: Any, way_out: str = "", *, error: Door = InvalidDesign) -> float:
    """Return a number strictly between 0 and 1."""
    result = _float(value)
    if not 0 < result < 1:
        raise error(_sentence(name, "must lie strictly between 0 and 1", value, way_out))
    return result


def integer(
    name: str,
    value: Any,
    least: int | None = None,
    most: int | None = None,
    way_out: str = "",
    *,
    error: Door = InvalidDesign,
) -> int:
    """Return a whole number within limits; 57.0 is one, 57.5, "57" and True are not."""
    result = _int(value)
    if result is None or (least is not None and result < least) or (most is not None and result > most):
        raise error(_sentence(name, f"must be a whole number{_limits(least, most)}", value, way_out))
    return result


def choice(name: str, value: Any, choices: tuple[str, ...], way_out: str = "", *, error: Door = InvalidDesign) -> Any:
    """Return one of the words."""
    if not (isinstance(value, str) and value in choices):
        from difflib import get_close_matches

        near = get_close_matches(value, choices, 1) if isinstance(value, str) else []
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise error(_sentence(name, f"must be one of {', '.join(map(repr, choices))}", value, way_out, hint))
    return value


def simple_if_rate(statistic: Any, difference: str, *, error: Door = InvalidDesign) -> None:
    """Insist that rates are compared by their simple differences, which are percentage points."""
    if statistic == "rate" and difference != "simple":
        raise error(
            f"rates are compared in percentage points, difference 'simple', got {difference!r}: to a rate of 0 there is"
            " no ratio"
        )


def truth(name: str, value: Any, *, error: Door = InvalidInput) -> bool:
    """Return True or False; nothing else stands for them."""
    if not isinstance(value, bool):
        raise error(_sentence(name, "must be True or False", value, ""))
    return value


def function(name: str, value: Any, way_out: str = "", *, error: Door = InvalidInput) -> Any:
    """Return what can be called, or None for nothing to call."""
    if value is not None and not callable(value):
        raise error(_sentence(name, "must be a function or None", value, way_out))
    return value


def _sentence(name: str, must: str, value: Any, way_out: str, hint: str = "") -> str:
    return f"{name} {must}, got {shown(value)}{hint}" + (f": {way_out}" if way_out else "")


def _limits(least: int | None, most: int | None) -> str:
    if least is not None and most is not None:
        return f" from {least:,} to {most:,}"
    return "" if least is None else f" of {least:,} or more"


def _float(value: Any) -> float:
    """NaN for what is no number, infinity for a whole number beyond 1e308."""
    if isinstance(value, bool) or not (isinstance(value, Real) or _is_decimal(value)):
        return nan
    try:
        return float(value)
    except OverflowError:
        return inf


def _is_decimal(value: Any) -> bool:
    from decimal import Decimal  # few have one, and the shell's help must be quick

    return isinstance(value, Decimal)


def _int(value: Any) -> int | None:
    """None for what is no whole number; one of more than 53 bits keeps them all."""
    if isinstance(value, Integral):
        return None if value is True or value is False else int(value)
    result = _float(value)
    return int(result) if result.is_integer() else None


def workers(name: str, value: Any, way_out: str = "", *, error: Door = InvalidInput) -> int:
    """Return a number of worker processes that a machine can have."""
    return integer(name, value, 1, MOST_WORKERS, way_out or "one for each core is usual", error=error)
