"""What the marks of a figure say is what was drawn."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import ampler
from ampler import plots
from ampler.report.rows import forest_of
from ampler.report.svg import MAX_MARKS, hover_svg, hovers, inline_svg
from ampler.report.tables import comparisons_table


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
    figure.subplots().scatter(range(MAX_MARKS + 1), range(MAX_MARKS + 1))

    assert hover_svg(figure) == ""


@pytest.mark.parametrize("difference", ["simple", "percent", "ratio"])
@pytest.mark.parametrize("shift", [0.0, 400.0], ids=["together", "split"])
def test_the_figure_of_the_comparisons_says_the_numbers_of_its_table(difference, shift):
    rng = np.random.default_rng(3)
    level = rng.uniform(90, 110, 12)
    gains = {"one": 0.0, "two": 1.0, "three": 0.5, "four": -0.5, "five": 2.0 + shift}
    frame = pd.DataFrame({name: level + gain + rng.normal(0, 1, 12) for name, gain in gains.items()})
    frame.insert(0, "instance", [f"i{k}" for k in range(12)])
    analysis = ampler.analyse(frame, reference="one", difference=difference, better="lower")
    drawn = plots.draw_intervals(plots.intervals_data(analysis), interval="both")

    text = inline_svg(drawn, name="x", label="x")
    said = re.findall(r'<circle class="mark"[^>]*><title>(.*?)</title>', text, re.DOTALL)

    rows = {row.name: f"{row.estimate_text} ({row.interval_text})" for row in forest_of(analysis).rows}
    assert dict(each.split("\n") for each in said) == rows
    table = [[cell.text for cell in row] for row in comparisons_table(analysis).rows]
    bare = {row[1]: re.sub(r"[+×% ]", "", row[3]) for row in table}
    assert {name: re.sub(r"[+×% ]", "", value.split(" (")[0]) for name, value in rows.items()} == bare


def test_names_in_marks_are_escaped(nasty):
    text = inline_svg(plots.draw_intervals(plots.intervals_data(nasty)), name="x", label="x")

    assert "<script" not in text
