"""What a function returned or raised: a value and its measures, or the reason why there is none. Pure.

Nothing of it can be trusted to show itself: texts may raise, be endless, or hold what no file can.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ampler.core.values import Function
from ampler.running.one_run.readings import NoValue, Result, excerpt

SHOWN = 60  # characters of what was returned that fit into a message
NO_REAL_NUMBERS = "cUSMmV"  # kinds of numpy that have a float all the same: complex, text, dates and raw bytes


def result_of(returned: Any, function: Function) -> Result:
    """Return the value in what a function returned: a number, or one of its measures."""
    if type(returned) is float and function.reading.kind != "json" and math.isfinite(returned):
        return Result(returned)  # the usual case, found out quickly
    if returned is None and function.reading.is_time:
        return Result(0.0)  # the time will take its place
    if not isinstance(returned, Mapping):
        if function.reading.kind == "json":
            raise NoValue(f"a mapping with {function.reading.what!r} must be returned, got {described(returned)}")
        return Result(_number(returned, "a number or a mapping of numbers must be returned"))
    numbers = {str(name): _plain(number, f"the measure {name!r} must be a number") for name, number in returned.items()}
    if not numbers:
        raise NoValue("at least one measure must be returned, got an empty mapping")
    chosen = function.reading.what if function.reading.kind == "json" else next(iter(numbers))
    if chosen not in numbers:
        raise NoValue(f"the measure {chosen!r} must be among those returned, got {', '.join(map(repr, numbers))}")
    value = _number(numbers[chosen], f"the measure {chosen!r} must be a finite number")
    return Result(value, {name: number for name, number in numbers.items() if math.isfinite(number)})


def raised(problem: BaseException) -> str:
    """Return what was raised and where, in one line, whatever it says of itself."""
    words = excerpt(_said(problem))
    return f"it raised {type(problem).__name__}{': ' if words else ''}{words}{_where(problem)}"


def described(value: Any) -> str:
    """Return the kind of a value and its beginning, in a few words."""
    if value is None:
        return "nothing"
    try:
        shown = excerpt(_BRIEFLY.repr(value), width=SHOWN)
    except BaseException:  # it is a stranger's code that shows it
        shown = "that cannot be shown"
    return f"{type(value).__name__} {shown}"


def _number(value: Any, wanted: str) -> float:
    number = _plain(value, wanted)
    if not math.isfinite(number):
        raise NoValue(f"the value must be a finite number, got {number}")
    return number


def _plain(value: Any, wanted: str) -> float:
    """A number of any library as a float; text, dates, complex numbers and arrays are none."""
    if isinstance(value, float):
        return float.__pos__(value)  # of its own kind, whatever it says as a float
    if not hasattr(type(value), "__float__") or getattr(value, "ndim", 0) != 0 or _is_no_real_number(value):
        raise NoValue(f"{wanted}, got {described(value)}")
    try:
        return float.__pos__(float(value))
    except OverflowError:
        return math.inf


def _is_no_real_number(value: Any) -> bool:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return isinstance(value, complex | str | bytes) or (isinstance(kind, str) and kind in tuple(NO_REAL_NUMBERS))


def _said(problem: BaseException) -> str:
    try:
        return str(problem)
    except BaseException:  # what cannot be printed was raised all the same
        return "it cannot be printed"


def _where(problem: BaseException) -> str:
    """The place at which it was raised, if that is not our own call."""
    step, frames = problem.__traceback__, 0
    while step is not None and step.tb_next is not None:
        step, frames = step.tb_next, frames + 1
    if step is None or not frames:
        return ""
    return f" ({Path(step.tb_frame.f_code.co_filename).name}, line {step.tb_lineno})"


def _brief() -> reprlib.Repr:
    brief = reprlib.Repr()
    brief.maxstring = brief.maxother = brief.maxlong = SHOWN
    return brief


_BRIEFLY = _brief()  # a million things are not written out to show the first few
