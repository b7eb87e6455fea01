from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ampler as am
from ampler.core.errors import InvalidInput
from ampler.plots import (
    draw_instance_differences,
    draw_pair_differences,
    draw_scatter,
    instance_differences_data,
    pair_differences_data,
    save,
    scatter_data,
)


@pytest.fixture(scope="module")
def analysis(study_of):
    return study_of(["full", "one", "two"], se=1.3)


def test_the_differences_on_one_instance_are_those_of_its_row(analysis):
    data = instance_differences_data(analysis, analysis.accuracy[3].instance)

    assert data.estimates == pytest.approx(analysis.differences[3])
    assert data.errors == pytest.approx(analysis.errors[3])
    assert data.pairs == ("full − one", "full − two", "one − two")


def test_the_interval_on_one_instance_is_normal(analysis):
    data = instance_differences_data(analysis, analysis.accuracy[0].instance, level=0.95)

    assert data.upper - data.estimates == pytest.approx(1.959963985 * data.errors)
    assert data.estimates - data.lower == pytest.approx(1.959963985 * data.errors)


def test_the_pairs_of_an_instance_are_ordered_by_option(analysis):
    name = analysis.accuracy[0].instance

    assert (np.diff(instance_differences_data(analysis, name, order="estimate").estimates) >= 0).all()
    assert (np.diff(instance_differences_data(analysis, name, order="error").errors) <= 0).all()


def test_an_instance_that_is_not_there_is_refused(analysis):
    with pytest.raises(InvalidInput, match=r"the instance must be one that is used, such as '0 & \$x_0\$', got 'x'"):
        instance_differences_data(analysis, "x")


def test_pairs_less_accurate_than_wanted_are_marked(analysis):
    data = instance_differences_data(analysis, analysis.accuracy[0].instance)
    assert 0 < (data.errors > 1.3).sum() < 3

    ax = draw_instance_differences(data)

    marked = next(line for line in ax.lines if line.get_marker() == "^")
    assert marked.get_xdata() == pytest.approx(data.estimates[data.errors > 1.3])
    assert "Triangles: SE above 1.3" in ax.get_xlabel()


def test_the_differences_of_a_pair_are_those_of_its_column_sorted(analysis):
    data = pair_differences_data(analysis, "full", "two")
    order = np.argsort(analysis.differences[:, 1])

    assert data.differences == pytest.approx(analysis.differences[order, 1])
    assert data.errors == pytest.approx(analysis.errors[order, 1])


def test_the_instances_of_a_pair_are_ordered_by_option(analysis):
    given = pair_differences_data(analysis, "full", "one", order="given")

    assert given.differences == pytest.approx(analysis.differences[:, 0])


def test_a_pair_the_other_way_round_has_the_other_sign(analysis):
    there, back = (pair_differences_data(analysis, *pair) for pair in (("full", "two"), ("two", "full")))
    assert sorted(back.differences) == pytest.approx(sorted(-each for each in there.differences))


def test_a_pair_that_was_not_compared_is_refused(analysis):
    with pytest.raises(InvalidInput, match=r"got \('two', 'nobody'\)"):
        pair_differences_data(analysis, "two", "nobody")


def test_the_drawing_of_a_pair_shows_every_instance_and_the_joint_interval(analysis):
    data = pair_differences_data(analysis, "full", "two")

    ax = draw_pair_differences(data)

    dots = next(line for line in ax.lines if line.get_marker() == "o")
    assert dots.get_xdata() == pytest.approx(data.differences)
    assert "band: simultaneous 95 % CI" in ax.get_xlabel().replace("\n", " ")


def test_the_sign_tests_share_is_not_drawn_among_differences(study_of):
    data = pair_differences_data(study_of(["one", "two"], test="sign"), "one", "two")

    assert "interval" not in draw_pair_differences(data).get_xlabel()


def test_errors_that_are_not_known_are_not_drawn(study_of):
    analysis = study_of(["one", "two"], runs=1)

    pair = draw_pair_differences(pair_differences_data(analysis, "one", "two"))
    pair.figure.draw_without_rendering()
    assert "standard error" not in pair.get_xlabel()
    ax = draw_instance_differences(instance_differences_data(analysis, analysis.accuracy[0].instance))

    assert all(len(lines.get_segments()) == 0 for lines in ax.collections)
    assert "SE" not in ax.get_xlabel()


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_the_title_counts_the_instances_on_which_one_is_better(study_of, better):
    analysis = study_of(["one", "two"], better=better)
    values = analysis.statistics.tolist()
    ahead = sum((one < two) == (better == "lower") for one, two in values)
    names = ("one", "two") if ahead >= 6 else ("two", "one")

    data = pair_differences_data(analysis, "one", "two")

    assert data.finding == f"{names[0]} is better than {names[1]} on {max(ahead, 12 - ahead)} of 12 instances"


def test_more_than_forty_instances_of_a_pair_are_a_strip_without_names(study_of):
    data = pair_differences_data(study_of(["one", "two"], instances=41), "one", "two")

    ax = draw_pair_differences(data)

    assert list(ax.get_xticks()) == []
    assert next(line for line in ax.lines if line.get_marker() == "o").get_ydata() == pytest.approx(data.differences)


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


def test_values_from_tiny_to_nearly_the_largest_number_are_drawn(tmp_path):
    sizes = [(1e-8, 1e300), (1e300, 1e-8), (1e-8, 1e-8), (1e300, 1e300)] * 2
    rows = [(f"i{k}", name, value) for k, pair in enumerate(sizes) for name, value in zip("ab", pair, strict=True)]
    frame = pd.DataFrame(rows, columns=["instance", "algorithm", "value"])
    ax = draw_scatter(scatter_data(am.analyse(frame, difference="simple", better="lower"), "a", "b"))

    save(ax, tmp_path / "scatter.svg")

    marks = ax.get_xticks()
    assert np.isfinite(marks).all()
    assert len(marks) >= 2
    assert ax.get_xlim()[0] <= marks.min() <= 1 < 1e100 < marks.max() <= ax.get_xlim()[1]
