"""Designs, analyses, advice and studies as a notebook shows them: the answer, a table and a figure, all escaped."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from ampler.analysis import Analysis
from ampler.analysis.advice import Advice, words
from ampler.analysis.answer import finding_sentence
from ampler.analysis.cautions import gravity, ranked
from ampler.analysis.units import measure_in_words
from ampler.design import Design
from ampler.design.words import rank_rows
from ampler.front import Study
from ampler.report.figures import draw_intervals, draw_power_curve, intervals_data, power_curve_data
from ampler.report.figures.style import canvas
from ampler.report.look import LIGHT
from ampler.report.tables import comparisons_table
from ampler.study.plan import design_of
from ampler.study.words import planned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 24  # of a table; the value itself has them all
SHOWN = 3  # cautions


@singledispatch
def notebook_html(value: object) -> str:
    """Return the value as a piece of HTML that needs nothing else and runs nothing."""
    return f"<pre>{escape(str(value))}</pre>"


@notebook_html.register
def _(value: Analysis) -> str:
    table = comparisons_table(value)
    rows = [[cell.text for cell in row] for row in table.rows]
    warnings = (f"{gravity(each.kind)}: {each.sentence}" for each in ranked(value.warnings)[:SHOWN])
    figure = draw_intervals(intervals_data(value))
    minded = (f"{measure_in_words(value)}.", *warnings)
    return _page(finding_sentence(value), minded, _table(table.header, rows), _image(figure, "all comparisons"))


@notebook_html.register
def _(value: Design) -> str:
    rows = [[f"{row.rank:,}", f"{row.level:.3g}", f"{row.power:.3f}"] for row in rank_rows(value)]
    said = f"{value.instances:,} instances: power {value.power:.3f} for d = {value.effect:.4g}"
    figure = draw_power_curve(power_curve_data(value))
    return _page(said, (), _table(("rank of the p-value", "level", "power"), rows), _image(figure, "power by effect"))


@notebook_html.register
def _(value: Advice) -> str:
    plan = words.planned_study(value)
    points = [*([] if plan is None else [plan]), *words.sentences(value.warnings)]
    tables = [_table(words.PARTS, words.part_rows(value))] if value.is_exact else []
    return _page(value.answer, points, *tables, *([_curve(value)] if value.is_exact else []))


@notebook_html.register
def _(value: Study) -> str:
    plan = value.plan
    rows = [[each.name, f"{each.cost:g}"] for each in plan.algorithms]
    design = design_of(plan)
    figure = [] if design is None else [_image(draw_power_curve(power_curve_data(design)), "power by effect")]
    return _page(f"{plan.name}: {planned(plan)}.", plan.warnings, _table(("algorithm", "cost of a run"), rows), *figure)


def _curve(value: Advice) -> str:
    """What each accuracy costs, the cheapest marked."""
    with canvas(None) as ax:
        ax.plot([each.se for each in value.curve], [each.cost for each in value.curve], color=LIGHT["accent"])
        ax.plot([value.best.se], [value.best.cost], "o", color=LIGHT["contrast"])
        ax.set_xlabel("se on each instance")
        ax.set_ylabel("cost, in runs")
    return _image(ax, "the cost of each accuracy")


def _page(answer: str, points: Iterable[str], *parts: str) -> str:
    listed = "".join(f"<li>{escape(point)}</li>" for point in points)
    below = f"<ul>{listed}</ul>" if listed else ""
    return f"<div><p><strong>{escape(answer)}</strong></p>{''.join(parts)}{below}</div>"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    more = f"<p>{len(rows) - MOST_ROWS:,} more rows.</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(_rows(rows[:MOST_ROWS]))}</tbody></table>{more}"


def _rows(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in rows:
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"


def _image(ax: Axes, said: str) -> str:
    """The figure as an image, in which nothing can run, and which is closed."""
    import matplotlib

    figure = ax.get_figure(root=True)
    assert figure is not None
    buffer = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "ampler"}), warnings.catch_warnings():  # the same page every time
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has fonts for every script
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{escape(said)}" src="data:image/svg+xml;base64,{data}">'
