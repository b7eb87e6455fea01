"""What the marks of a figure say is what was drawn."""

from __future__ import annotations

import re

import pytest
from matplotlib.figure import Figure

from ampler.report import figures as plots
from ampler.report.hover import MOST, hover_svg, hovers
from ampler.report.html import inline_svg


def test_a_mark_of_a_named_row_says_name_value_and_interval():
    ax = Figure().subplots()
    ax.plot([2.0], [1], "o", linestyle="none")
    ax.hlines([1, 1], [1.5, 1.0], [2.5, 3.0])
    ax.set_yticks([0, 1], ["zero", "one"])

    assert [each.text for each in hovers(ax)] == ["one\n2 (1 to 3)"]


def test_marks_without_names_say_both_values():
    ax = Figure().subplots()
    ax.scatter([0.25], [1234.5])

    assert [each.text for each in hovers(ax)] == ["0.25, 1230"]


def test_a_mark_lies_where_it_is_drawn():
    figure = Figure(figsize=(2, 1))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.plot([0.5], [0.25], "o", linestyle="none")
    ax.set(xlim=(0, 1), ylim=(0, 1))

    (mark,) = hovers(ax)

    assert (mark.x, mark.y) == pytest.approx((72.0, 54.0))


def test_figures_of_more_marks_than_anyone_points_at_have_none():
    figure = Figure()
    figure.subplots().scatter(range(MOST + 1), range(MOST + 1))

    assert hover_svg(figure) == ""


def test_the_figure_of_the_comparisons_says_their_estimates(study_of):
    analysis = study_of(["one", "two", "three"], reference="one")
    text = inline_svg(plots.draw_intervals(plots.intervals_data(analysis)), name="x", words="x")

    said = re.findall(r'<circle class="mark"[^>]*><title>(.*?)</title>', text, re.DOTALL)

    estimates = {each.second: f"{each.estimate:.3g}".replace("-", "−") for each in analysis.comparisons}
    assert {name: value.partition(" ")[0] for name, value in (each.split("\n") for each in said)} == estimates


def test_names_in_marks_are_escaped(nasty):
    text = inline_svg(plots.draw_intervals(plots.intervals_data(nasty)), name="x", words="x")

    assert "<script" not in text
