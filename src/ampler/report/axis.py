"""The axis of a figure that a page draws itself: places in percent of its width, split where one value dwarfs others.

Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ampler.core.wording import alike, digits, ratio_texts

DWARFS = 10.0  # times the median of the others: beyond this an axis is split
ZOOMED = 0.25  # of the whole range: what is zoomed must be smaller than this, or splitting shows nothing
GAP, FAR = 4.0, 30.0  # percent of the width: between two panels, and of a panel with what lies far out
CLEAR = 3.0  # percent of the width without marks beside a gap
MARGIN = 0.04  # of a range, on both sides
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MANY_FACTORS = math.log(4.0)  # a range beyond it has marks at 1, 2, 5, 10


class Mark(NamedTuple):
    """A mark of an axis: where it stands, in percent, and what is written there."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of an axis with one scale: from `low` to `high`, drawn from `left` to `right` percent of the width."""

    low: float
    high: float
    left: float
    right: float
    marks: tuple[Mark, ...] = ()

    def place(self, value: float) -> float:
        """Return where a value stands, in percent; what lies outside stands at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.left + share * (self.right - self.left), 2)


@dataclass(frozen=True, slots=True)
class Axis:
    """One panel, or several side by side with scales of their own; `panels` are in the order of their values."""

    panels: tuple[Panel, ...]

    @property
    def is_split(self) -> bool:
        """Whether there are two scales or more, which a reader must be told."""
        return len(self.panels) > 1

    @property
    def breaks(self) -> tuple[float, ...]:
        """The middles of the gaps, in percent."""
        return tuple((one.right + other.left) / 2 for one, other in pairwise(self.panels))

    def place(self, value: float) -> float:
        """Return where a value stands, in percent."""
        return next((panel for panel in self.panels if value <= panel.high), self.panels[-1]).place(value)


def axis_of(
    rows: Sequence[tuple[float, float, float]], unit: str, *, always: Sequence[float] = (), most: int = 5
) -> Axis:
    """Return the axis of rows of (low, value, high); it holds all of `always`, the first of which favours neither.

    >>> axis_of([(-1.1, -0.8, -0.5), (-0.03, -0.01, 0.0), (0.0, 0.01, 0.02)], "percent", always=[0.0]).is_split
    True
    """
    known = [row for row in rows if math.isfinite(row[1])]
    near, far = _apart(known, neutral=always[0] if always else 0.0)
    if not far:
        return Axis((_panel(_range(known, always), unit, 0.0, 100.0, most),))
    low, high = _range(near, always)
    sides = ([row for row in far if row[1] < low], [row for row in far if row[1] > high])
    if not any(sides) or not _is_worth((low, high), _range(known, always)):
        return Axis((_panel(_range(known, always), unit, 0.0, 100.0, most),))
    return Axis(tuple(_panels(sides, (low, high), unit, most)))


def _apart(
    rows: Sequence[tuple[float, float, float]], neutral: float
) -> tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]]:
    """The rows that stand together, and those that dwarf them: beyond the widest gap above the median, by ratio."""
    ordered = sorted(rows, key=lambda row: abs(row[1] - neutral))
    sizes = [abs(row[1] - neutral) for row in ordered]
    if len(sizes) < 3 or not sizes[-1] > DWARFS * median(sizes[:-1]):
        return ordered, []
    first = len(sizes) // 2
    ratios = [sizes[k] / sizes[k - 1] if sizes[k - 1] else math.inf for k in range(first, len(sizes))]
    cut = first + max(range(len(ratios)), key=ratios.__getitem__)
    return ordered[:cut], ordered[cut:]


def _is_worth(near: tuple[float, float], whole: tuple[float, float]) -> bool:
    return near[1] - near[0] < ZOOMED * (whole[1] - whole[0])


def _range(rows: Sequence[tuple[float, float, float]], always: Sequence[float]) -> tuple[float, float]:
    """From the lowest end to the highest, with a margin; open ends count as their value."""
    ends = [end if math.isfinite(end) else row[1] for row in rows for end in (row[0], row[2])]
    values = [*ends, *(row[1] for row in rows), *always] or [0.0]
    low, high = min(values), max(values)
    beside = MARGIN * (high - low) or abs(low) or 1.0
    return low - beside, high + beside


def _panels(
    sides: tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]],
    near: tuple[float, float],
    unit: str,
    most: int,
) -> Iterator[Panel]:
    """What lies far below, what is near, what lies far above."""
    below, above = sides
    marks = 2 if most > 4 else 1  # where room is short
    left, right = (FAR + GAP if below else 0.0), (100.0 - FAR - GAP if above else 100.0)
    if below:
        low, high = _range(below, ())
        yield _panel((low, min(high, near[0])), unit, 0.0, FAR, marks)
    yield _panel(near, unit, left, right, most if right - left > 70 else 3)
    if above:
        low, high = _range(above, ())
        yield _panel((max(low, near[1]), high), unit, 100.0 - FAR, 100.0, marks)


def _panel(bounds: tuple[float, float], unit: str, left: float, right: float, most: int) -> Panel:
    bare = Panel(*bounds, left, right)
    values = marks_between(*bounds, unit, most)
    marks = [Mark(bare.place(value), _at_mark(value, unit).removesuffix(" points")) for value in values]
    inside = (left + (CLEAR if left else 0.0), right - (CLEAR if right < 100 else 0.0))
    return Panel(*bounds, left, right, tuple(mark for mark in marks if inside[0] <= mark.at <= inside[1]))


def marks_between(low: float, high: float, unit: str, most: int) -> list[float]:
    """Return round values between two: of factors, their logarithms.

    >>> [round(value, 2) for value in marks_between(-0.052, 0.031, "percent", 5)]
    [-0.04, -0.02, 0.0, 0.02]
    >>> [round(math.exp(value), 2) for value in marks_between(-0.3, 0.3, "ratio", 5)]
    [0.8, 1.0, 1.2]
    """
    if unit != "ratio":
        return _round_values(low, high, most)
    if high - low <= MANY_FACTORS:
        return [math.log(value) for value in _round_values(math.exp(low), math.exp(high), most) if value > 0]
    decades = range(math.floor(low / math.log(10)), math.ceil(high / math.log(10)) + 1)
    factors = [math.log(step) + power * math.log(10) for power in decades for step in (1.0, 2.0, 5.0)]
    inside = [value for value in factors if low <= value <= high]
    return inside if len(inside) <= most else inside[:: math.ceil(len(inside) / most)]


def _round_values(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in STEPS if factor * power >= rough * 0.999)
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _at_mark(value: float, unit: str) -> str:
    """A mark of an axis: of ratios as factors, whose steps are round."""
    return f"×{digits(math.exp(value))}" if unit == "ratio" else told(value, unit)


def told(value: float, unit: str) -> str:
    """Write a difference in its unit: percent, a factor, points, a share in percent, or a number.

    >>> told(-0.758, "percent"), told(0.27, "ratio"), told(0.05, "points"), told(-1.5, "simple"), told(0.5, "share")
    ('−75.8 %', '+31.0 %', '5 points', '−1.5', '50 %')
    """
    if unit == "ratio":
        return told_alike(unit, value)[0]
    return "–" if math.isnan(value) else _in_unit(digits(in_unit(value, unit)), unit)


def told_alike(unit: str, value: float, *limits: float) -> tuple[str, ...]:
    """Write an estimate and its limits in their unit, with the same decimals.

    >>> told_alike("percent", -0.016, -0.0319, -0.0000825)
    ('−1.60 %', '−3.19 %', '−0.01 %')
    """
    if unit == "ratio":
        texts_of_ratios = zip((value, *limits), ratio_texts(value, *limits), strict=True)
        return tuple("–" if math.isnan(each) else text.replace("-", "−") for each, text in texts_of_ratios)
    values = [in_unit(each, unit) for each in (value, *limits)]
    texts = zip(values, alike(*values), strict=True)
    return tuple("–" if math.isnan(each) else _in_unit(text, unit) for each, text in texts)


def in_unit(value: float, unit: str) -> float:
    """Return a difference as a number of its unit: percent, points, or as it is."""
    return value if unit == "simple" else 100 * value


def _in_unit(text: str, unit: str) -> str:
    return text.replace("-", "−") + {"percent": " %", "share": " %", "points": " points"}.get(unit, "")
