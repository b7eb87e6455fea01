"""Numbers of figures: what differences are called, and how they stand on axes and beside marks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ampler.report.figures.labels import labels

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.ticker import Locator

    from ampler.analysis import Analysis

MARKS = 5  # on an axis: more would touch each other in a column
TEN = math.log(10)
BEYOND = 30.0  # logarithms whose factors are written by their power alone
NEAR, FAR = 6.0, 300.0  # factors less than this apart stand evenly as numbers, and at 1, 2, 5, 10, …
_DIFFERENCES = {"simple": "difference", "percent": "percent difference", "ratio": "factor"} | {
    "points": "percentage points"
}


def difference_name(analysis: Analysis) -> str:
    """Return what the differences are, with the sides named.

    The first side is the reference, or "first" in a comparison of all with all.
    """
    settings = analysis.settings
    first = "first" if settings.reference is None else labels([settings.reference], 16)[0]
    second = "second" if settings.reference is None else "other"
    sides = {
        "simple": f"{first} − {second}",
        "percent": f"({first} − {second}) / {'grand mean' if settings.reference is None else first}",
        "ratio": f"{first} / {second}",
    }[settings.difference]
    return f"{_DIFFERENCES[unit_of(analysis)].capitalize()}, {sides}"


def unit_of(analysis: Analysis) -> str:
    """Return the kind of the differences, which is their unit: "simple", "percent", "ratio"; "points" for rates."""
    return "points" if analysis.settings.are_rates else analysis.settings.difference


_UNITS: WeakKeyDictionary[Axis, str] = WeakKeyDictionary()  # of the axes that differences are drawn on


def remember_unit(axis: Axis, difference: str) -> None:
    """Keep in which unit the numbers of an axis are told, for who points at its marks."""
    _UNITS[axis] = difference


def unit_at(axis: Axis) -> str | None:
    """Return the unit in which the numbers of an axis are told; None where they are plain numbers."""
    return _UNITS.get(axis)


def write_in_unit(axis: Axis, difference: str) -> None:
    """Write the numbers of an axis of differences: percent and points times 100, ratios as factors, others in full.

    Matplotlib's own way, a factor at the end of the axis, is overlooked and stands where our words do.
    """
    from matplotlib.ticker import MaxNLocator

    remember_unit(axis, difference)
    axis.set_major_locator(_factors() if difference == "ratio" else MaxNLocator(MARKS, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(lambda value, _: at_mark(value, difference))


def at_mark(value: float, difference: str) -> str:
    """Return a difference as it stands at a mark of an axis.

    >>> at_mark(-0.025, "percent"), at_mark(0.6931472, "ratio"), at_mark(12.5, "simple")
    ('−2.5 %', '×2', '12.5')
    """
    if difference == "ratio":
        return f"×{compact(math.exp(value), 3)}" if abs(value) < BEYOND else f"×1e{value / TEN:.0f}".replace("-", "−")
    scale, unit = _scale(difference)
    return f"{compact(scale * value)}{unit}"


def _factors() -> Locator:
    """Marks at round factors: evenly apart as numbers where they are near, else at 1, 2, 5, 10, or powers of ten."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    class Factors(MaxNLocator):
        def tick_values(self, vmin: float, vmax: float) -> Any:
            if vmax - vmin > math.log(FAR):
                return TEN * np.asarray(MaxNLocator(MARKS, integer=True).tick_values(vmin / TEN, vmax / TEN))
            near = MaxNLocator(MARKS, steps=[1, 2, 2.5, 5, 10])
            wide = LogLocator(10, (1.0, 2.0, 5.0), numticks=2 * MARKS)
            locator = near if vmax - vmin < math.log(NEAR) else wide
            marks = np.asarray(locator.tick_values(*np.exp(np.clip([vmin, vmax], -BEYOND, BEYOND))))
            return np.log(marks[marks > 0])

        def __call__(self) -> Any:
            assert self.axis is not None
            return self.tick_values(*self.axis.get_view_interval())

    return Factors()


def compact(value: float, significant: int = 6) -> str:
    """Return a number at a mark of an axis, short however large or small it is.

    >>> compact(-2e7), compact(0.05), compact(125000.0)
    ('−2e7', '0.05', '125000')
    """
    mantissa, exponent, power = f"{value:.{significant}g}".partition("e")
    return (mantissa + (f"e{int(power)}" if exponent else "")).replace("-", "−")


def size_text(value: float, difference: str, digits: int) -> str:
    """Return a difference as text.

    >>> size_text(-0.0345, "percent", 1), size_text(12.345, "simple", 2), size_text(0.05, "points", 1)
    ('−3.5 %', '12.35', '5.0')
    >>> size_text(0.27, "ratio", 2)
    '×1.31'
    """
    if difference == "ratio":
        return f"×{math.exp(value):.{digits}f}" if abs(value) < BEYOND else at_mark(value, difference)
    scale, unit = _scale(difference)
    return f"{scale * value:.{digits}f}{unit}".replace("-", "−")


def _scale(difference: str) -> tuple[int, str]:
    """What differences are multiplied by where they are written, and the sign behind them."""
    return {"percent": (100, " %"), "points": (100, "")}.get(difference, (1, ""))
