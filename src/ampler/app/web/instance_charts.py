"""The charts of one instance: the values of its runs, and the differences with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ampler.app.web.charts import Scale, chart, dot, label, line, ticks
from ampler.core.wording import count, digits, shortened

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, ROW, NAMES, FOOT = 592, 28, 176, 40
MOST_DOTS = 200  # runs of an algorithm that are drawn; they are taken evenly
LONGEST_NAME = 24


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """A difference with its interval, in the unit in which it is told."""

    name: str
    estimate: float
    low: float
    high: float
    words: str
    differs: bool


def runs_chart(values: Mapping[str, Sequence[float]]) -> Markup:
    """Draw every run of each algorithm as a dot on its line, and their mean as a stroke."""
    everything = [value for each in values.values() for value in each]
    low, high = _padded(min(everything), max(everything))
    across, tall = Scale(low, high, NAMES, WIDTH - 8), len(values) * ROW
    parts = _foot(across, low, high, tall, "value of a run")
    for row, (name, each) in enumerate(values.items()):
        middle = row * ROW + ROW / 2
        parts.append(label((NAMES - 10, middle + 4.5), shortened(name, LONGEST_NAME), anchor="end"))
        parts.append(line((NAMES, middle), (WIDTH - 8, middle), "rule"))
        step = max(1, math.ceil(len(each) / MOST_DOTS))
        parts += [
            dot((across(value), middle + _jitter(place)), "run", radius=3) for place, value in enumerate(each[::step])
        ]
        if each:
            mean = across(sum(each) / len(each))
            parts.append(line((mean, middle - 11), (mean, middle + 11), "interval"))
    return chart(WIDTH, tall + FOOT, parts, words=f"Values of {count(len(everything), 'run')} by algorithm")


def differences_chart(rows: Sequence[DifferenceRow]) -> Markup:
    """Draw each difference with its interval around the line of no difference, one row each."""
    known = [number for row in rows for number in (row.low, row.high, row.estimate) if math.isfinite(number)]
    low, high = _padded(min([*known, 0.0]), max([*known, 0.0]))
    across, tall = Scale(low, high, NAMES, WIDTH - 76), len(rows) * ROW
    parts = _foot(across, low, high, tall, "difference")
    parts.append(line((across(0.0), 0), (across(0.0), tall), "axis"))
    for row, each in enumerate(rows):
        middle, kind = row * ROW + ROW / 2, "dot" if each.differs else "dot quiet"
        parts.append(label((NAMES - 10, middle + 4.5), shortened(each.name, LONGEST_NAME), anchor="end"))
        parts.append(label((WIDTH, middle + 4.5), each.words, anchor="end", kind="strong"))
        if math.isfinite(each.estimate):
            ends = [bound if math.isfinite(bound) else edge for bound, edge in ((each.low, low), (each.high, high))]
            words = f"{each.name}: {each.words}, {digits(each.low)} to {digits(each.high)}"
            parts.append(line((across(ends[0]), middle), (across(ends[1]), middle), "interval"))
            parts.append(dot((across(each.estimate), middle), kind, words=words))
    return chart(WIDTH, tall + FOOT, parts, words="; ".join(f"{each.name}: {each.words}" for each in rows[:20]))


def _foot(across: Scale, low: float, high: float, tall: float, name: str) -> list[str]:
    marks = ticks(low, high, 5)
    parts = [label((across(at), tall + 18), digits(at, 4), anchor="middle") for at in marks]
    parts.append(line((across.begin, tall + 2), (across.end, tall + 2), "axis"))
    return [*parts, label(((across.begin + across.end) / 2, tall + 36), name, anchor="middle")]


def _padded(low: float, high: float) -> tuple[float, float]:
    around = 0.04 * (high - low) or max(1e-9, abs(high) * 0.05)
    return low - around, high + around


def _jitter(place: int) -> float:
    """Neighbouring dots a little apart, always in the same way."""
    return (place * 5 % 7 - 3) * 1.6
