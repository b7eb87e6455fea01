"""SVG in pages: rows of comparisons and instances, and figures with titles of their marks.

The markup of rows and instances is in templates/svg.html; here are their places and texts. Figures are those of
matplotlib: their texts stay texts, their colours and letters follow the page, and their marks have titles. A page needs
`theme.tokens_css()` and templates/components.css.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ampler.analysis import Analysis, units
from ampler.analysis.rows import ComparisonRow, difference_unit, rows_of
from ampler.analysis.units import quantity_text, signed
from ampler.core.text import digits, shortened
from ampler.report import rows as forests
from ampler.report.axis import Axis, axis_of, marks_between
from ampler.report.figures.canvas import UNITS, figure_of
from ampler.report.resources import templates
from ampler.report.rows import MAX_HEAD, MAX_SPOTS, Forest, Spot
from ampler.report.tables import Cell, ReportTable, number_cell, table_of
from ampler.report.theme import PROPERTIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as FigureAxis
    from matplotlib.figure import Figure

MAX_INSTANCES = 3_000  # maximum number of values of all comparisons in a page
MAX_DOTS = 40_000  # of all comparisons together in a page
FAR_APART = 20.0  # times the smallest value: beyond this a scatter plot is logarithmic
STEP, HIGHEST = 9, 120  # pixels between dots that would lie on each other, and of the highest pile
APART = 1.25  # percent of the width of a pile of dots


def forest_html(forest: Forest, *, name: str = "forest") -> str:
    """Return the comparisons as a table with bars; ids begin with `name`."""
    drawn = Places(forest.axis, forest.sides)
    return templates().get_template("forest.html").render(forest=forest, name=name, drawn=drawn)


@dataclass(frozen=True, slots=True)
class Places:
    """Positions of the parts of a line, in percent of the width, or as path data with a width of 1000."""

    axis: Axis
    sides: tuple[str, str]  # labels of values left and right of the neutral one

    def cut(self, values: Sequence[float]) -> tuple[bool, bool]:
        """Return whether some of the values lie beyond the axis, to the left and to the right."""
        low, high = self.axis.panels[0].low, self.axis.panels[-1].high
        return any(value < low for value in values), any(value > high for value in values)

    def rug(self, values: Sequence[float]) -> str:
        """Return the strokes of the values that the axis shows, one below another drawn once."""
        places = {round(10 * self.axis.position(value)) for value in values if self.axis.holds(value)}
        return "".join(f"M{at} 0v7" for at in sorted(places))

    def points(self, spots: Sequence[Spot]) -> tuple[int, list[tuple[str, str]]]:
        """Return the height of dots, and for each class the data of a path."""
        height, dots = self.dots(spots, None)
        kinds = dict.fromkeys(kind for kind, *_ in dots)
        return height, [
            (own, "".join(f"M{10 * x:.0f} {y}h0" for kind, x, y, _ in dots if kind == own)) for own in kinds
        ]

    def dots(self, spots: Sequence[Spot], unit: str | None) -> tuple[int, list[tuple[str, float, int, str]]]:
        """Return the height of dots, and for each its class, place, height from above, and title."""
        places = [APART * round(self.axis.position(spot.difference) / APART) for spot in spots]
        levels = stacked(places)
        step = min(STEP, HIGHEST / (max(levels, default=0) + 1))
        height = round((max(levels, default=0) + 1) * step + STEP)
        kinds = self.sides[0], "inconclusive", self.sides[1]
        tops = [round(height - (level + 0.6) * step) for level in levels]
        titles = [forests.mark_text(spot, unit) if unit else "" for spot in spots]
        classes = [kinds[1 + int(np.sign(spot.difference))] for spot in spots]
        return height, list(zip(classes, places, tops, titles, strict=True))


# the instances of a comparison ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PairInstances:
    """Content of an opened comparison; omitted if there are too many."""

    key: str
    title: str
    strip: Any  # markup
    scatter: Any  # markup
    table: ReportTable | None


def how_many_detailed(analysis: Analysis) -> int:
    """Return of how many comparisons a page holds every value."""
    return 0 if analysis.single is not None else max(1, MAX_INSTANCES // max(analysis.instances, 1))


def opened_pairs(analysis: Analysis) -> tuple[list[PairInstances], Callable[[ComparisonRow], str]]:
    """Return the comparisons that a page can open, with the identifier of each."""
    rows = [] if analysis.single is not None else rows_of(analysis)[: max(1, MAX_DOTS // max(analysis.instances, 1))]
    detailed, kept = how_many_detailed(analysis), {row.pair for row in rows}
    opened = [pair_instances(analysis, row, detailed=k < detailed) for k, row in enumerate(rows)]
    return opened, lambda row: f"#{forests.pair_key(row)}" if row.pair in kept else ""


def pair_instances(analysis: Analysis, row: ComparisonRow, *, detailed: bool = True) -> PairInstances:
    """Return the instances of a comparison as dots on an axis, as a scatter plot and as a table."""
    unit = difference_unit(analysis)
    if unit == "share":  # unit of estimates; single differences have the unit of the values
        unit = "points" if analysis.settings.are_rates else analysis.settings.difference
    spots = forests.spots_of(analysis, row)
    is_drawn = len(analysis.comparisons) == 1 and len(spots) <= MAX_SPOTS  # by the line of the two
    strip = ""
    if detailed and not is_drawn:
        places = Places(forests.axis_of_spots(spots, unit), forests.sides_of(analysis))
        label = f"The difference on each of {len(spots)} instances, {row.subject} − {row.other}"
        names = " − ".join(shortened(name, MAX_HEAD) for name in (row.subject, row.other))
        head, titled = f"{forests.axis_head(analysis, places.axis, unit)}, {names}", len(spots) <= MAX_SPOTS
        height, dots = places.dots(spots, unit) if titled else places.points(spots)
        strip = _markup("strip", label, head, places, height, dots, titled)
    title = f"{row.subject} − {row.other}{'' if analysis.unfinished else f': {row.verdict_text}'}"
    table = _table(spots, row, unit, analysis) if detailed else None
    return PairInstances(forests.pair_key(row), title, strip, _scatter(spots, row, analysis), table)


def _markup(macro: str, *values: Any) -> Any:
    return getattr(templates().get_template("svg.html").module, macro)(*values)


def _scatter(spots: Sequence[Spot], row: ComparisonRow, analysis: Analysis) -> Any:
    """The values of one against those of the other, on logarithmic axes where they are of different sizes."""
    values = np.array([(spot.first, spot.second) for spot in spots if math.isfinite(spot.first + spot.second)])
    if not len(values):
        return ""
    is_log = values.min() > 0 and values.max() > FAR_APART * values.min()
    places = np.log(values) if is_log else values
    axis = axis_of([(float(places.min()), float(places.mean()), float(places.max()))], "simple", always=())
    panel = axis.panels[0]
    marks = marks_between(panel.low, panel.high, "ratio" if is_log else "simple", 4)
    named = [(panel.position(mark), digits(math.exp(mark) if is_log else mark).replace("-", "−")) for mark in marks]
    gains = np.sign(places[:, 1] - places[:, 0]) * (1 if analysis.settings.better == "lower" else -1)
    paths = []
    for kind, sign in (("better", 1), ("worse", -1), ("inconclusive", 0)):
        dots = [(panel.position(x), panel.position(y)) for x, y in places[gains == sign].tolist()]
        if dots:
            paths.append((kind, "".join(f"M{10 * x:.0f} {1000 - 10 * y:.0f}h0" for x, y in dots)))
    label = f"{row.subject} against {row.other} on {len(values)} instances; on the line both are equal"
    measure = shortened(analysis.measure, MAX_HEAD)
    heads = [f"{measure}, {shortened(name, MAX_HEAD)}" for name in (row.subject, row.other)]
    return _markup("scatter", label, named, paths, *heads)


def _table(spots: Sequence[Spot], row: ComparisonRow, unit: str, analysis: Analysis) -> ReportTable:
    settings, has_errors = analysis.settings, any(math.isfinite(spot.error) for spot in spots)
    head = "instance", row.subject, row.other, units.location_header("difference", settings)
    rows = []
    for spot in spots:
        text = quantity_text(spot.difference, unit)  # a common unit is in the heading
        text = text if unit == "ratio" else text.removesuffix(" %").removesuffix(" points")
        name, values = Cell(spot.name, spot.name.casefold(), full_name=spot.full_name), (spot.first, spot.second)
        error = [units.table_factor(settings) * spot.error] if has_errors else []
        rows.append([name, *(number_cell(value, 4) for value in values), Cell(text, spot.difference), *error])
    heads = (*head, units.unit_header("SE", settings)) if has_errors else head
    return table_of(forests.pair_key(row), heads, rows, row=row)


def stacked(places: Sequence[float]) -> list[int]:
    """Return how high each dot lies, so that dots at nearly the same place lie above each other.

    >>> stacked([10.0, 10.2, 10.4, 50.0])
    [0, 1, 2, 0]
    """
    heights: dict[int, int] = {}
    levels = []
    for at in places:
        column = round(at / APART)
        levels.append(heights.get(column, 0))
        heights[column] = levels[-1] + 1
    return levels


# figures ----------------------------------------------------------------------------------------------------------

SETTINGS: dict[Any, Any] = {"svg.hashsalt": "ampler"}  # the same figure gives the same page
AS_TEXT = SETTINGS | {"svg.fonttype": "none"}  # texts can be read aloud, searched and copied
_VARIABLES = {colour: f"var(--{name})" for colour, name in PROPERTIES.items()}


def figure_svg(figure: Figure, settings: Mapping[Any, Any] = SETTINGS, **options: Any) -> str:
    """Return what matplotlib writes into an SVG file."""
    import matplotlib

    buffer = StringIO()
    with matplotlib.rc_context(dict(settings)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has fonts for every script
        figure.savefig(buffer, format="svg", metadata={"Date": None}, **options)
    return buffer.getvalue()


def inline_svg(ax: Axes, *, name: str, label: str) -> str:
    """Return the figure of `ax` as an <svg> element with the id prefix `name` and the description `label`."""
    figure = figure_of(ax)
    element = svg_element(figure_svg(figure, AS_TEXT, transparent=True), name=name, label=label)
    return element.replace("</svg>", f"{hover_svg(figure)}</svg>") if element.count("</svg>") == 1 else element


def svg_element(text: str, *, name: str, label: str) -> str:
    """Return matplotlib's SVG as an element of a page, with the width of the page.

    What only a file of its own needs is left out, and the rule for all elements, which would leak into the page.
    """
    body = text[text.index("<svg") :]
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.DOTALL)
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
    body = re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>\s*", "", body, count=1, flags=re.DOTALL)
    body = re.sub(r"#[0-9a-f]{6}\b", lambda colour: _VARIABLES.get(colour[0], colour[0]), body)
    body = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", body)
    body = re.sub(r"(font: [^;\"]*?px |font-family: )[^;\"]*", r"\1var(--letters)", body)
    view = re.search(r'viewBox="[^"]*"', body)
    assert view is not None
    opening = f'<svg role="img" aria-label="{escape(label)}" {view[0]}>'
    return re.sub(r"<svg[^>]*>", lambda _: opening, body, count=1)


# titles of the marks of a figure: name, value and interval -----------------------------------------

MAX_MARKS = 400  # of one figure
REACH = 4.0  # points around a mark
POINTS = 72.0  # to an inch

Segment = tuple[tuple[float, float], tuple[float, float]]


class Hover(NamedTuple):
    """A place in the SVG of a figure, in points from its upper left corner, and its text."""

    x: float
    y: float
    text: str


def hover_svg(figure: Figure) -> str:
    """Return invisible marks with titles, to be laid over a figure that has been drawn."""
    marks = [mark for ax in figure.axes for mark in hovers(ax)]
    circle = '<circle class="mark" cx="{:.1f}" cy="{:.1f}" r="{:g}"><title>{}</title></circle>'
    return "".join(circle.format(x, y, REACH, escape(text)) for x, y, text in marks) if len(marks) <= MAX_MARKS else ""


def hovers(ax: Axes) -> Iterator[Hover]:
    """Yield the marks of one pair of axes: the name on the axis that has names and the value on the other, or both."""
    axes, names, segments = (ax.xaxis, ax.yaxis), (_names(ax.xaxis), _names(ax.yaxis)), list(_segments(ax))
    figure = figure_of(ax)
    side = next((side for side in (1, 0) if names[side]), None)
    for point in _marks(ax):
        if side is None:
            text = ", ".join(_number(axis, value) for axis, value in zip(axes, point, strict=True))
        else:
            along, place = 1 - side, point[side]
            strokes = [(one[along], end[along]) for one, end in segments if one[side] == end[side] == place]
            interval = max(strokes, key=lambda ends: abs(ends[1] - ends[0]), default=None)  # the longest one
            text = f"{names[side].get(round(place), '')}\n{_value_text(axes[along], point[along], interval)}".strip()
        x, y = ax.transData.transform(point) * POINTS / figure.dpi
        yield Hover(float(x), float(figure.get_size_inches()[1] * POINTS - y), text)


def _marks(ax: Axes) -> Iterator[tuple[float, float]]:
    """The places of all marks: of lines without a stroke, and of scattered points."""
    from matplotlib.collections import PathCollection

    none = ("None", "none", " ", "", None)
    marks = [line.get_xydata() for line in ax.lines if line.get_linestyle() in none and line.get_marker() not in none]
    marks += [points.get_offsets() for points in ax.collections if isinstance(points, PathCollection)]
    for places in marks:
        yield from ((float(x), float(y)) for x, y in np.asarray(places) if math.isfinite(x) and math.isfinite(y))


def _segments(ax: Axes) -> Iterator[Segment]:
    """The strokes that may be intervals of marks."""
    from matplotlib.collections import LineCollection

    for collection in ax.collections:
        for segment in collection.get_segments() if isinstance(collection, LineCollection) else ():
            if len(segment) == 2:
                (x0, y0), (x1, y1) = np.asarray(segment, float).tolist()
                yield (x0, y0), (x1, y1)


def _names(axis: FigureAxis) -> Mapping[int, str]:
    """The names at the marks of an axis; none where it has numbers."""
    from matplotlib.ticker import FixedLocator

    if not isinstance(axis.get_major_locator(), FixedLocator):
        return {}
    formatter, places = axis.get_major_formatter(), axis.get_majorticklocs()
    texts = [formatter(place, k).replace(r"\$", "$").replace("\n", " ") for k, place in enumerate(places)]
    return {round(float(place)): text for place, text in zip(places, texts, strict=True) if text}


def _value_text(axis: FigureAxis, value: float, ends: tuple[float, float] | None) -> str:
    if ends is None:
        return _number(axis, value)
    unit, values = UNITS.get(axis), (value, *ends)
    estimate, low, high = (
        [_number(axis, end) for end in values] if unit is None else units.quantity_texts(unit, *values)
    )
    return f"{estimate if unit in (None, 'share') else signed(estimate)} ({units.range_text(low, high)})"


def _number(axis: FigureAxis, value: float) -> str:
    """A value with three digits, in the unit of its axis."""
    from matplotlib.ticker import FuncFormatter

    if (unit := UNITS.get(axis)) is not None:
        return quantity_text(value, unit)
    formatter = axis.get_major_formatter()
    if isinstance(formatter, FuncFormatter):
        return str(formatter(float(f"{value:.3g}"), None))
    return digits(value).replace("-", "−")
