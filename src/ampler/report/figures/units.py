"""The unit of a difference in a figure: what the axis is called and how its numbers are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ampler.report.figures.names import labels

if TYPE_CHECKING:
    from matplotlib.axis import Axis

    from ampler.analysis import Analysis

MARKS = 5  # on an axis: more would touch each other in a column
_KINDS = {"simple": "difference", "percent": "percent difference", "log-ratio": "log-ratio"}


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
        "log-ratio": f"log({first} / {second})",
    }[settings.difference]
    return f"{_KINDS[settings.difference].capitalize()}, {sides}"


def write_in_unit(axis: Axis, difference: str) -> None:
    """Write the numbers of an axis of differences: percent differences in percent, all others in full at each mark.

    Matplotlib's own way, a factor at the end of the axis, is overlooked and stands where our words do.
    """
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(MARKS, steps=[1, 2, 2.5, 5, 10]))
    scale, unit = (100, " %") if difference == "percent" else (1, "")
    axis.set_major_formatter(lambda value, _: f"{compact(scale * value)}{unit}")


def compact(value: float) -> str:
    """Return a number at a mark of an axis, short however large or small it is.

    >>> compact(-2e7), compact(0.05), compact(125000.0)
    ('−2e7', '0.05', '125000')
    """
    mantissa, exponent, power = f"{value:.6g}".partition("e")
    return (mantissa + (f"e{int(power)}" if exponent else "")).replace("-", "−")


def in_unit(value: float, difference: str, digits: int) -> str:
    """Return a difference as text.

    >>> in_unit(-0.0345, "percent", 1), in_unit(12.345, "simple", 2)
    ('−3.5 %', '12.35')
    """
    text = f"{100 * value:.{digits}f} %" if difference == "percent" else f"{value:.{digits}f}"
    return text.replace("-", "−")
