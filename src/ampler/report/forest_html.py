"""The rows of the comparisons drawn: a table whose bars are SVG, for any page that has the components' style sheet.

Bars have their places in percent, so that they fill whatever width a page gives them, on a screen or on paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ampler.report.axis import Axis, Panel
from ampler.report.forest import Forest, ForestRow
from ampler.report.look import MARKS

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = files("ampler.report").joinpath("templates")
HEIGHT, MIDDLE = 28, 14  # pixels of a row, and where its bar lies
ARROW = 5  # pixels
DOT = 4.5


def template_text(name: str) -> str:
    """Return a template, style sheet or script of the report."""
    return TEMPLATES.joinpath(name).read_text(encoding="utf-8")


def components_css() -> str:
    """Return the style of the components that pages share; `look.tokens_css` gives the colours and sizes it takes."""
    return template_text("components.css")


def forest_html(forest: Forest, *, name: str = "forest") -> str:
    """Return the comparisons as a table with bars; ids begin with `name`.

    A page needs `look.tokens_css()` and `components_css()`.
    """
    values = {"forest": forest, "name": name, "mark": verdict_mark, "bar": _bar_of(forest), "scale": _scale(forest)}
    return page_templates().get_template("forest.html").render(**values)


@cache
def page_templates() -> Environment:
    """Return what fills our templates: every text is escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(template_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def verdict_mark(finding: str) -> str:
    """Return the mark that goes with a finding."""
    return MARKS.get(finding, "–")


def _bar_of(forest: Forest) -> Any:
    from markupsafe import Markup

    behind = "".join(_behind(forest))
    return lambda row: Markup(f"{_svg(HEIGHT, _words(row))}{behind}{''.join(_bar(row, forest.axis))}</svg>")


def _svg(height: int, words: str) -> str:
    return f'<svg class="bar" role="img" aria-label="{escape(words)}" width="100%" height="{height}">'


def _words(row: ForestRow) -> str:
    return f"{row.first} − {row.second}: {row.estimate_text}, {row.interval_text}"


def _behind(forest: Forest) -> Iterator[str]:
    """What every row has behind its bar: the margin's band, gridlines, the line of no difference, the breaks."""
    axis = forest.axis
    if forest.margin is not None:
        low, high = (axis.place(end) for end in forest.margin)
        yield f'<rect class="band" x="{low:g}%" width="{high - low:g}%" y="0" height="100%"/>'
    for panel in axis.panels:
        for mark in panel.marks:
            yield f'<line class="grid" x1="{mark.at:g}%" x2="{mark.at:g}%" y1="0" y2="100%"/>'
    at = axis.place(forest.neutral)
    yield f'<line class="neutral" x1="{at:g}%" x2="{at:g}%" y1="0" y2="100%"/>'
    for place in axis.breaks:
        yield _break(place, HEIGHT)


def _break(place: float, height: int) -> str:
    """Two slanted lines: here the scale changes."""
    return "".join(
        f'<svg x="{place:g}%" overflow="visible"><path class="break" d="M{x - 3},{height} L{x + 3},0"/></svg>'
        for x in (-3, 2)
    )


def _bar(row: ForestRow, axis: Axis) -> Iterator[str]:
    """The interval with its estimate; arrows where it goes on beyond what is shown."""
    if math.isnan(row.estimate):
        return
    low, high = (row.low, row.high) if not math.isnan(row.low) else (row.estimate, row.estimate)
    first, last = axis.panels[0], axis.panels[-1]
    yield f'<g class="{row.finding.replace(" ", "-")}"><title>{escape(_words(row))}</title>'
    start, end = axis.place(low), axis.place(high)
    yield f'<line class="interval" x1="{start:g}%" x2="{end:g}%" y1="{MIDDLE}" y2="{MIDDLE}"/>'
    if low < first.low:
        yield _arrow(first, left=True)
    if high > last.high:
        yield _arrow(last, left=False)
    yield f'<circle class="dot" cx="{axis.place(row.estimate):g}%" cy="{MIDDLE}" r="{DOT}"/></g>'


def _arrow(panel: Panel, *, left: bool) -> str:
    place, tip = (panel.left, 0) if left else (panel.right, 0)
    back = ARROW if left else -ARROW
    path = f"M{back},{MIDDLE - ARROW} L{tip},{MIDDLE} L{back},{MIDDLE + ARROW}"
    return f'<svg x="{place:g}%" overflow="visible"><path class="arrow" d="{path}"/></svg>'


def _scale(forest: Forest) -> Any:
    """The numbers of the axis, and who is better on which side."""
    from markupsafe import Markup

    left, right = map(escape, forest.sides)
    parts = [_svg(40, f"axis; left: {forest.sides[0]}, right: {forest.sides[1]}")]
    for panel in forest.axis.panels:
        parts += [
            f'<text x="{mark.at:g}%" y="34" text-anchor="{_anchor(mark.at)}">{escape(mark.text)}</text>'
            for mark in panel.marks
        ]
    parts += [_break(place, 40) for place in forest.axis.breaks]
    parts += [f'<text y="12">◂ {left}</text><text x="100%" y="12" text-anchor="end">{right} ▸</text>']
    return Markup("".join(parts) + "</svg>")


def _anchor(at: float) -> str:
    return "start" if at < 4 else "end" if at > 96 else "middle"
