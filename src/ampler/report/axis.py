"""The axis of a figure that a page draws itself: places in percent of its width, split where one value dwarfs others.

Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ampler.analysis.units import number_in_unit, signed
from ampler.core.text import are_changes, change, digits

DWARFS = 10.0  # ratio to the median of the others above which an axis is split
ZOOMED = 0.25  # maximum share of the zoomed part in the whole range
GAP, FAR = 4.0, 30.0  # percent of the width: gap between panels, and width of a panel for outliers
CLEAR = 3.0  # percent of the width without marks next to a gap
MARGIN = 0.04  # margin on both sides, as a share of the range
INSIDE = 4.0  # percent of the width from an end within which labels are inside (svg.html)
LETTER = 2.0  # percent of the width that a letter of a mark takes
STEPS = (1.0, 2.0, 5.0, 10.0)
LARGEST_EXPONENT = 700.0  # beyond it exp overflows, or is 0
LARGEST = 1e300  # of a range; beyond it widths overflow
MANY_FACTORS = math.log(4.0)  # a range beyond it has marks at 1, 2, 5, 10


Row = tuple[float, float, float]  # low, value, high


class Mark(NamedTuple):
    """A mark of an axis: its position in percent, and its label."""

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

    def position(self, value: float) -> float:
        """Return the position of a value in percent, clipped to the axis."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low or 1.0)
        return round(self.left + share * (self.right - self.left), 2)


@dataclass(frozen=True, slots=True)
class Axis:
    """One panel, or several side by side with scales of their own; `panels` are in the order of their values."""

    panels: tuple[Panel, ...]

    @property
    def is_split(self) -> bool:
        """Whether there are two scales or more, which a reader must know."""
        return len(self.panels) > 1

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of all panels."""
        return tuple(mark for panel in self.panels for mark in panel.marks)

    @property
    def breaks(self) -> tuple[float, ...]:
        """The centres of the gaps, in percent."""
        return tuple((one.right + other.left) / 2 for one, other in pairwise(self.panels))

    def holds(self, value: float) -> bool:
        """Return whether a panel shows the value."""
        return any(panel.low <= value <= panel.high for panel in self.panels)

    def position(self, value: float) -> float:
        """Return the position of a value, in percent."""
        return next((panel for panel in self.panels if value <= panel.high), self.panels[-1]).position(value)


def axis_of(
    rows: Sequence[Row],
    unit: str,
    *,
    always: Sequence[float] = (),
    most: int = 5,
    split: bool = True,
) -> Axis:
    """Return the axis of rows of (low, value, high), with all of `always`, whose first value is neutral.

    With `split` it may have several panels.

    >>> axis_of([(-1.1, -0.8, -0.5), (-0.03, -0.01, 0.0), (0.0, 0.01, 0.02)], "percent", always=[0.0]).is_split
    True
    """
    known, neutral = [row for row in rows if math.isfinite(row[1])], always[0] if always else 0.0
    near, far = _apart(known, neutral)
    (low, high), (least, largest) = _range(near, always), _range(known, always)
    below, above = ([row for row in far if row[1] < low], [row for row in far if row[1] > high])
    if not (split and (below or above) and high - low < ZOOMED * (largest - least)):
        return Axis((_panel((least, largest), unit, 0.0, 100.0, most, neutral),))
    left, right = (FAR + GAP if below else 0.0), (100.0 - FAR - GAP if above else 100.0)
    panels = [_panel((low, high), unit, left, right, most if right - left > 70 else 3, neutral)]
    if below:
        first, last = _range(below, ())
        panels.insert(0, _panel((first, min(last, low)), unit, 0.0, FAR, 2))
    if above:
        first, last = _range(above, ())
        panels.append(_panel((max(first, high), last), unit, 100.0 - FAR, 100.0, 2))
    return Axis(tuple(panels))


def _apart(rows: Sequence[Row], neutral: float) -> tuple[list[Row], list[Row]]:
    """Split the rows at the widest gap above the median, by ratio."""
    ordered = sorted(rows, key=lambda row: abs(row[1] - neutral))
    sizes = [abs(row[1] - neutral) for row in ordered]
    if len(sizes) < 3 or not sizes[-1] > DWARFS * median(sizes[:-1]):
        return ordered, []
    first = len(sizes) // 2
    ratios = [sizes[k] / sizes[k - 1] if sizes[k - 1] else math.inf for k in range(first, len(sizes))]
    cut = first + max(range(len(ratios)), key=ratios.__getitem__)
    return ordered[:cut], ordered[cut:]


def _range(rows: Sequence[Row], always: Sequence[float]) -> tuple[float, float]:
    """From the lowest end to the highest, with a margin; open ends count as their value."""
    ends = [end if math.isfinite(end) else row[1] for row in rows for end in (row[0], row[2])]
    values = [*ends, *(row[1] for row in rows), *always] or [0.0]
    low, high = max(min(values), -LARGEST), min(max(values), LARGEST)
    beside = MARGIN * (high - low) or abs(low) or 1.0
    return low - beside, high + beside


def _panel(
    bounds: tuple[float, float], unit: str, left: float, right: float, most: int, neutral: float = math.nan
) -> Panel:
    """A panel with at least two labels, among them the neutral value."""
    bare = Panel(*bounds, left, right)
    first, last = left + (CLEAR if left else 0.0), right - (CLEAR if right < 100 else 0.0)
    values: list[float] = []
    for number in (most, most + 2, 2 * most + 4):
        values = values if len(values) > 1 else marks_between(*bounds, unit, number)
        values = [value for value in values if first <= bare.position(value) <= last]
    values = values if len(values) <= most + 2 else [values[0], values[-1]]
    values = _apart_from(values, bare, neutral, LETTER * max(map(len, mark_texts(values, unit, bounds)), default=0))
    marks = zip(map(bare.position, values), mark_texts(values, unit, bounds), strict=True)
    return Panel(*bounds, left, right, tuple(Mark(*mark) for mark in marks))


def _apart_from(values: Sequence[float], panel: Panel, neutral: float, room: float) -> list[float]:
    """The values whose labels fit, in order, with the neutral value if the panel contains it."""
    kept = [neutral] if panel.low <= neutral <= panel.high else []

    def middle(value: float) -> float:  # of its text: those at an end stay inside
        at = panel.position(value)
        return at + room / 2 if at < INSIDE else at - room / 2 if at > 100 - INSIDE else at

    for value in sorted(values, key=lambda value: abs(value - neutral) if kept else -abs(value)):
        if all(abs(middle(value) - middle(other)) > room for other in kept):
            kept.append(value)
    return sorted(kept)


def mark_texts(values: Sequence[float], unit: str, bounds: tuple[float, float]) -> list[str]:
    """Return the labels of an axis, with equal decimals and without a percent sign.

    Ratios near 1 are percent changes.

    >>> mark_texts([-0.02, 0.0, 0.005], "percent", (-0.03, 0.01))
    ['−2.0', '0', '+0.5']
    >>> mark_texts([0.0, math.log(2.0)], "ratio", (0.0, 1.0)), mark_texts([0.0, 0.0198], "ratio", (0.0, 0.02))
    (['×1', '×2'], ['0', '+2'])
    """
    if unit == "ratio" and not are_changes(*bounds):
        return [
            f"×{digits(math.exp(v))}" if abs(v) < LARGEST_EXPONENT else f"×10^{digits(v / math.log(10))}"
            for v in values
        ]
    numbers = [round(change(v), 9) if unit == "ratio" else number_in_unit(v, unit) for v in values]
    plain = [digits(number) for number in numbers]
    places = max((len(text.partition(".")[2]) for text in plain if "e" not in text), default=0)
    texts = [text if "e" in text else f"{number:.{places}f}" for text, number in zip(plain, numbers, strict=True)]
    written = [text.replace("-", "−") if number else "0" for text, number in zip(texts, numbers, strict=True)]
    return written if unit == "share" else [signed(text) for text in written]


def marks_between(low: float, high: float, unit: str, most: int) -> list[float]:
    """Return round values between two: of factors, their logarithms.

    >>> [round(value, 2) for value in marks_between(-0.052, 0.031, "percent", 5)]
    [-0.04, -0.02, 0.0, 0.02]
    >>> [round(math.exp(value), 2) for value in marks_between(-0.3, 0.3, "ratio", 5)]
    [0.8, 0.9, 1.0, 1.1, 1.2, 1.3]
    """
    if unit != "ratio":
        return _round_values(low, high, most)
    if high - low <= MANY_FACTORS and max(abs(low), abs(high)) < LARGEST_EXPONENT:
        return [math.log(value) for value in _round_values(math.exp(low), math.exp(high), most) if value > 0]
    first, last = low / math.log(10), high / math.log(10)
    power = 10 ** max(0, math.floor(math.log10((last - first) / most)))
    for step, factors in [(1, (1.0, 2.0, 5.0)), *((power * step, (1.0,)) for step in (1, 2, 5, 10))]:
        if last - first > (most + 1) * step:
            continue
        decades = range(math.floor(first / step) * step, math.ceil(last) + 1, step)
        marks = [math.log(factor) + decade * math.log(10) for decade in decades for factor in factors]
        inside = [value for value in marks if low <= value <= high]
        if len(inside) <= most or factors == (1.0,):
            return inside
    return []


def _round_values(low: float, high: float, most: int) -> list[float]:
    rough = max((high - low) / most, math.ulp(max(abs(low), abs(high))))
    power = 10.0 ** math.floor(math.log10(rough))
    steps = (factor * power for factor in STEPS if factor * power >= 0.7 * rough)
    step = next(steps, rough)  # underflow
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
