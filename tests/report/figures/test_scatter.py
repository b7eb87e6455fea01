from __future__ import annotations

import numpy as np
import pytest

from ampler.core.errors import InvalidInput
from ampler.report.figures import draw_scatter, scatter_data


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_the_marks_are_the_statistics_and_the_wins_are_counted(study_of, better):
    analysis = study_of(["one", "two", "three"], better=better)
    pairs = [(row[0], row[2]) for row in analysis.statistics.tolist()]

    data = scatter_data(analysis, "one", "three")

    assert list(zip(data.first, data.second, strict=True)) == pairs
    won = sum(a < b if better == "lower" else a > b for a, b in pairs)
    assert data.wins == (won, 0, 12 - won)
    assert f"on {max(won, 12 - won)} of 12 instances" in data.finding


def test_instances_that_one_lacks_are_left_out(study_of):
    data = scatter_data(study_of(["one", "two", "three"], lacking={(2, 1)}), "one", "two")

    assert (len(data.first), len(data.instances)) == (11, 11)


def test_sides_are_told_apart_by_colour_and_mark(study_of):
    data = scatter_data(study_of(["one", "two"]), "one", "two")

    ax = draw_scatter(data)

    marks = {line.get_marker(): line for line in ax.lines if line.get_marker() in "^v"}
    assert (len(marks["^"].get_xdata()), len(marks["v"].get_xdata())) == (data.wins[0], data.wins[2])
    assert marks["^"].get_color() != marks["v"].get_color()
    assert [text.get_text() for text in ax.texts] == ["one better", "two better"]


def test_values_of_very_different_size_have_logarithmic_axes(study_of):
    from dataclasses import replace

    data = scatter_data(study_of(["one", "two"]), "one", "two")
    wide = replace(data, first=np.geomspace(1, 1e4, 12), second=np.geomspace(2, 1e3, 12))

    assert (draw_scatter(data).get_xscale(), draw_scatter(wide).get_yscale()) == ("linear", "log")


def test_an_algorithm_that_is_not_there_is_refused(study_of):
    with pytest.raises(InvalidInput, match="such as 'one', got 'three'"):
        scatter_data(study_of(["one", "two"]), "one", "three")
