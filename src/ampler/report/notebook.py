"""Designs, analyses, advice and studies as a notebook shows them: the answer, a table and a figure, all escaped."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import singledispatch
from html import escape
from typing import TYPE_CHECKING

from ampler.analysis import Analysis
from ampler.analysis import advice_text as words
from ampler.analysis.advice import Advice
from ampler.analysis.text import finding_sentence
from ampler.analysis.units import measure_text
from ampler.api import Study
from ampler.core.errors import by_severity
from ampler.design import Design
from ampler.design.text import rank_rows
from ampler.report.figures.canvas import canvas, figure_of
from ampler.report.figures.intervals import draw_intervals, intervals_data
from ampler.report.figures.planning import draw_power_curve, power_curve_data
from ampler.report.resources import templates
from ampler.report.svg import figure_svg
from ampler.report.tables import comparisons_table
from ampler.report.theme import LIGHT
from ampler.study.plan import design_of
from ampler.study.text import planned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 24  # displayed rows of a table
SHOWN = 3  # cautions


@singledispatch
def notebook_html(value: object) -> str:
    """Return the value as self-contained HTML without scripts."""
    return f"<pre>{escape(str(value))}</pre>"


@notebook_html.register
def _(value: Analysis) -> str:
    table = comparisons_table(value)
    rows = [[cell.text for cell in row] for row in table.rows]
    warnings = (f"{warning.severity}: {warning.sentence}" for warning in by_severity(value.warnings)[:SHOWN])
    figure = draw_intervals(intervals_data(value)), "all comparisons"
    return _page(finding_sentence(value), [f"{measure_text(value)}.", *warnings], table.header, rows, figure)


@notebook_html.register
def _(value: Design) -> str:
    rows = [[f"{row.rank:,}", f"{row.level:.3g}", f"{row.power:.3f}"] for row in rank_rows(value)]
    answer = f"{value.instances:,} instances: power {value.power:.3f} for d = {value.effect:.4g}"
    return _page(answer, [], ("rank of the p-value", "level", "power"), rows, _power(value))


@notebook_html.register
def _(value: Advice) -> str:
    plan = words.planned_study(value)
    points = [*([] if plan is None else [plan]), *words.sentences(value.warnings)]
    if not value.is_exact:
        return _page(value.answer, points)
    with canvas(None) as ax:  # cost of each target se, the cheapest marked
        ax.plot([point.se for point in value.curve], [point.cost for point in value.curve], color=LIGHT["accent"])
        ax.plot([value.best.se], [value.best.cost], "o", color=LIGHT["contrast"])
        ax.set_xlabel("se on each instance")
        ax.set_ylabel("cost, in runs")
    return _page(value.answer, points, words.PARTS, words.part_rows(value), (ax, "the cost of each accuracy"))


@notebook_html.register
def _(value: Study) -> str:
    plan, design = value.plan, design_of(value.plan)
    rows = [[algorithm.name, f"{algorithm.cost:g}"] for algorithm in plan.algorithms]
    figure = None if design is None else _power(design)
    return _page(f"{plan.name}: {planned(plan)}.", plan.warnings, ("algorithm", "cost of a run"), rows, figure)


def _power(design: Design) -> tuple[Axes, str]:
    return draw_power_curve(power_curve_data(design)), "power by effect"


def _page(
    answer: str,
    points: Sequence[str],
    header: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    figure: tuple[Axes, str] | None = None,
) -> str:
    """The answer, a table and a figure as an image, without scripts."""
    ax, label = figure or (None, "")
    image = "" if ax is None else base64.b64encode(figure_svg(figure_of(ax)).encode()).decode("ascii")
    page = templates().get_template("notebook.html")
    more = max(0, len(rows) - MOST_ROWS)
    shown = rows[:MOST_ROWS]
    return page.render(answer=answer, points=points, header=header, rows=shown, more=more, image=image, label=label)
