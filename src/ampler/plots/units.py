"""The unit of a difference in a figure: what the axis is called and how its numbers are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ampler.plots.names import labels

if TYPE_CHECKING:
    from matplotlib.axis import Axis

    from ampler.analysis import Analysis

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
    """Write the numbers of an axis of differences: percent differences in percent."""
    if difference == "percent":
        axis.set_major_formatter(lambda value, _: f"{100 * value:.5g} %".replace("-", "−"))


def in_unit(value: float, difference: str, digits: int) -> str:
    """Return a difference as text.

    >>> in_unit(-0.0345, "percent", 1), in_unit(12.345, "simple", 2)
    ('−3.5 %', '12.35')
    """
    text = f"{100 * value:.{digits}f} %" if difference == "percent" else f"{value:.{digits}f}"
    return text.replace("-", "−")
