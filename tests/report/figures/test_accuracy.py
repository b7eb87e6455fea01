from __future__ import annotations

import numpy as np
import pytest

import ampler
from ampler.report.figures import accuracy_data, draw_accuracy
from ampler.report.figures.accuracy import DOTS


@pytest.fixture(scope="module")
def analysis(study_of):
    return study_of(["full", "one", "two"], reference="full", se=0.8, budget=18)


def test_the_paper_figure_3_shows_three_instances_above_the_accuracy_and_23271_runs(public_data):
    runs = public_data / "paper_experiment1_runs.csv"

    data = accuracy_data(
        ampler.analyse(runs, reference="Full", difference="percent", better="lower", se=0.05, budget=1100)
    )

    above = {name for name, errors in zip(data.instances, data.errors, strict=True) if errors.max() > data.wanted}
    assert above == {"I_50_15_S_1-9_2", "I_50_25_S_1-124_1", "I_50_25_S_1-9_2"}
    assert {name for name, spent in zip(data.instances, data.at_budget, strict=True) if spent} == above
    assert sum(data.runs) == 23271
    assert data.errors.shape == (57, 21)


def test_the_data_are_the_errors_of_all_pairs_with_the_runs_of_each_instance(analysis):
    data = accuracy_data(analysis)

    assert data.errors == pytest.approx(analysis.errors)
    assert data.runs == (18,) * 12
    assert all(data.at_budget)


def test_the_order_is_by_option(analysis):
    largest = accuracy_data(analysis, order="error").errors.max(axis=1)
    names = accuracy_data(analysis, order="name").instances

    assert (np.diff(largest) <= 0).all()
    assert list(names) == sorted(names)


def test_every_pair_is_a_dot_and_those_above_the_accuracy_look_different(analysis):
    data = accuracy_data(analysis)

    dots = {line.get_label(): line for line in draw_accuracy(data).lines}

    assert len(dots["Pair above"].get_xdata()) == (data.errors > 0.8).sum() > 0
    assert len(dots["Pair"].get_xdata()) == (data.errors <= 0.8).sum() > 0
    assert dots["Pair"].get_marker() != dots["Pair above"].get_marker()


def test_the_totals_stand_at_the_right_of_the_names(analysis):
    ax = draw_accuracy(accuracy_data(analysis))

    assert [text.get_text() for text in ax.texts] == ["18"] * 12
    assert [label.get_text() for label in ax.get_yticklabels()] == [rf"{k} & \$x_{k}\$" for k in range(12)]


def test_too_many_pairs_become_a_band(study_of):
    data = accuracy_data(study_of([f"a{k}" for k in range(34)], runs=2))
    assert data.errors.size > DOTS

    ax = draw_accuracy(data)

    assert [line.get_label() for line in ax.lines] == ["Largest"]
    assert ax.lines[0].get_xdata() == pytest.approx(data.errors.max(axis=1))


def test_accuracy_that_is_not_known_leaves_the_axes_empty_but_drawn(study_of):
    data = accuracy_data(study_of(["one", "two"], runs=1))

    assert np.isnan(data.errors).all()
    draw_accuracy(data).figure.draw_without_rendering()


def test_the_guarded_errors_are_shown_when_asked_for(analysis):
    data = accuracy_data(analysis)
    shown = {line.get_label(): line.get_xdata() for line in draw_accuracy(data, guarded=True).lines}

    assert shown["Guarded"] == pytest.approx(analysis.guarded_errors.max(axis=1))


def test_errors_of_very_different_size_are_drawn_on_a_logarithmic_axis(analysis):
    from dataclasses import replace

    data = accuracy_data(analysis)
    spread = data.errors * np.where(np.arange(12) == 5, 1000.0, 1.0)[:, None]

    assert draw_accuracy(data).get_xscale() == "linear"
    assert draw_accuracy(replace(data, errors=spread)).get_xscale() == "symlog"


def test_more_than_forty_instances_are_a_strip_without_names(study_of):
    data = accuracy_data(study_of(["one", "two"], instances=41))

    ax = draw_accuracy(data)

    assert (list(ax.get_xticks()), ax.texts[:]) == ([], [])
    assert ax.lines[0].get_ydata() == pytest.approx(data.errors[:, 0])
    assert "41 instances" in ax.get_xlabel()


def test_the_title_counts_the_instances_that_are_as_accurate_as_wanted(analysis):
    data = accuracy_data(analysis)
    reached = sum(all(error <= 0.8 for error in row) for row in analysis.errors.tolist())

    assert data.finding == f"{reached} of 12 instances are as accurate as wanted; 12 ended at the budget"
    assert draw_accuracy(data).figure.get_suptitle().replace("\n", " ") == data.finding
