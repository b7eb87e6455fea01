"""What the marks of a drawn figure say when pointed at: their name, value and interval, as the figure has them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ampler.core.wording import digits
from ampler.report.axis import told, told_alike
from ampler.report.figures.numbers import unit_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

MOST = 400  # marks of one figure
REACH = 4.0  # points around a mark
POINTS = 72.0  # to an inch

Segment = tuple[tuple[float, float], tuple[float, float]]


class Hover(NamedTuple):
    """A place in the SVG of a figure, in points from its upper left corner, and what is said there."""

    x: float
    y: float
    text: str


def hover_svg(figure: Figure) -> str:
    """Return invisible marks with titles, to be laid over a figure that has been drawn."""
    found = [mark for ax in figure.axes for mark in hovers(ax)]
    if len(found) > MOST:
        return ""
    return "".join(map(_circle, found))


def _circle(each: Hover) -> str:
    where = f'cx="{each.x:.1f}" cy="{each.y:.1f}" r="{REACH:g}"'
    return f'<circle class="mark" {where}><title>{escape(each.text)}</title></circle>'


def hovers(ax: Axes) -> Iterator[Hover]:
    """Yield the marks of one pair of axes."""
    names = _names(ax.xaxis), _names(ax.yaxis)
    segments = list(_segments(ax))
    figure = ax.get_figure(root=True)
    assert figure is not None
    height = figure.get_size_inches()[1] * POINTS
    for point in _marks(ax):
        x, y = ax.transData.transform(point) * POINTS / figure.dpi
        yield Hover(float(x), float(height - y), _said(ax, point, names, segments))


def _marks(ax: Axes) -> Iterator[tuple[float, float]]:
    """The places of all marks: of lines without a stroke, and of scattered points."""
    from matplotlib.collections import PathCollection

    for line in ax.lines:
        if line.get_linestyle() in ("None", "none", " ", "") and line.get_marker() not in (None, "None", "none", ""):
            yield from _finite(np.asarray(line.get_xydata()))
    for collection in ax.collections:
        if isinstance(collection, PathCollection):
            yield from _finite(np.asarray(collection.get_offsets()))


def _finite(points: Any) -> Iterator[tuple[float, float]]:
    for x, y in points:
        if math.isfinite(x) and math.isfinite(y):
            yield float(x), float(y)


def _segments(ax: Axes) -> Iterator[Segment]:
    """The strokes that may be intervals of marks."""
    from matplotlib.collections import LineCollection

    for collection in ax.collections:
        if isinstance(collection, LineCollection):
            for segment in collection.get_segments():
                if len(segment) == 2:
                    (x0, y0), (x1, y1) = np.asarray(segment, float).tolist()
                    yield (x0, y0), (x1, y1)


def _names(axis: Axis) -> Mapping[int, str]:
    """The words at the marks of an axis that has words; none where it has numbers."""
    from matplotlib.ticker import FixedLocator

    if not isinstance(axis.get_major_locator(), FixedLocator):
        return {}
    formatter, places = axis.get_major_formatter(), axis.get_majorticklocs()
    texts = [formatter(place, k).replace(r"\$", "$").replace("\n", " ") for k, place in enumerate(places)]
    return {round(float(place)): text for place, text in zip(places, texts, strict=True) if text}


def _said(
    ax: Axes, point: tuple[float, float], names: tuple[Mapping[int, str], Mapping[int, str]], segments: list[Segment]
) -> str:
    """The name on the axis that has names, and the value on the other; both values where there are no names."""
    axes = ax.xaxis, ax.yaxis
    named = next((side for side in (1, 0) if names[side]), None)
    if named is None:
        return ", ".join(_number(axis, value) for axis, value in zip(axes, point, strict=True))
    value = _in_words(axes[1 - named], point[1 - named], _interval(segments, point, along=1 - named))
    return f"{names[named].get(round(point[named]), '')}\n{value}".strip()


def _interval(segments: list[Segment], point: tuple[float, float], along: int) -> tuple[float, float] | None:
    """The ends of the longest stroke on the line of a mark."""
    across = 1 - along
    there = [(one[along], other[along]) for one, other in segments if one[across] == other[across] == point[across]]
    return max(there, key=lambda ends: abs(ends[1] - ends[0]), default=None)


def _in_words(axis: Axis, value: float, ends: tuple[float, float] | None) -> str:
    unit = unit_at(axis)
    texts = [_number(axis, each) for each in (value, *(ends or ()))]
    if unit is not None and ends is not None:
        texts = list(told_alike(unit, value, *ends))
    return texts[0] if ends is None else f"{texts[0]} ({texts[1]} to {texts[2]})"


def _number(axis: Axis, value: float) -> str:
    """A value with three digits, in the unit of its axis."""
    from matplotlib.ticker import FuncFormatter

    unit = unit_at(axis)
    if unit is not None:
        return told(value, unit)

    rounded = float(f"{value:.3g}")
    formatter = axis.get_major_formatter()
    return str(formatter(rounded, None)) if isinstance(formatter, FuncFormatter) else digits(value).replace("-", "−")
