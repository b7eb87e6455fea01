from __future__ import annotations

import math
import statistics

import numpy as np
import pandas as pd
import pytest

import ampler
from ampler.core.errors import InvalidInput
from ampler.plots import accuracy_data, convergence_data, draw_accuracy, draw_convergence, draw_runs, runs_data
from ampler.report.figures.accuracy import DOTS


@pytest.fixture(scope="module")
def analysis(study_of):
    return study_of(["full", "one", "two"], reference="full", se=0.8, budget=18)


def test_the_paper_figure_3_shows_three_instances_above_the_accuracy_and_23271_runs(public_data):
    runs = public_data / "paper_experiment1_runs.csv"

    data = accuracy_data(
        ampler.analyse(
            runs, reference="Full", difference="percent", better="lower", settings=ampler.Settings(se=0.05, budget=1100)
        )
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


def frame(runs=(12, 12, 7)):
    rng = np.random.default_rng(6)
    rows = [
        (i, name, rng.normal(20 + k, 1 + k))
        for i in ("x", "y", "z")
        for k, (name, number) in enumerate(zip("abc", runs, strict=True))
        for _ in range(number)
    ]
    return pd.DataFrame(rows, columns=["instance", "algorithm", "value"])


def first(values, most):
    return values[:most]


def test_simple_errors_are_those_of_the_first_runs():
    table = frame()
    data = convergence_data(ampler.analyse(table, difference="simple", better="lower"), "y")
    values = {name: table.value[(table.instance == "y") & (table.algorithm == name)].tolist() for name in "abc"}

    assert data.runs == tuple(range(2, 13))
    for row, most in enumerate(data.runs):
        parts = {name: first(found, most) for name, found in values.items()}
        share = {name: statistics.variance(part) / len(part) for name, part in parts.items()}
        slow = [math.sqrt(share[one] + share[other]) for one, other in ("ab", "ac", "bc")]
        assert data.errors[row] == pytest.approx(slow)
        assert data.largest[row] == pytest.approx(max(slow))


def test_the_last_errors_are_those_of_the_analysis():
    analysis = ampler.analyse(frame(), reference="b", difference="percent", better="lower")

    data = convergence_data(analysis, "z")

    assert data.errors[-1] == pytest.approx(analysis.errors[2])


def test_the_instance_that_is_known_least_is_shown_unless_another_is_named():
    analysis = ampler.analyse(frame(), difference="simple", better="lower")
    worst = max(analysis.accuracy, key=lambda row: row.error)

    assert convergence_data(analysis).instance == worst.instance


@pytest.mark.parametrize("se", [0.4, 100.0, 0.9])
def test_the_title_says_when_the_accuracy_was_reached(se):
    data = convergence_data(
        ampler.analyse(frame(), difference="simple", better="lower", settings=ampler.Settings(se=se)), "x"
    )
    above = [number for number, error in zip(data.runs, data.largest, strict=True) if error > se]

    if not above:
        assert data.finding == "x: as accurate as wanted from 2 runs of each on"
    elif above[-1] == 12:
        assert data.finding == "x: not as accurate as wanted after 12 runs"
    else:
        assert data.finding == f"x: as accurate as wanted from {above[-1] + 1} runs of each on"
    draw_convergence(data).figure.draw_without_rendering()


def test_very_many_runs_are_shown_at_some_numbers_of_them():
    data = convergence_data(ampler.analyse(frame((500, 500, 500)), difference="simple", better="lower"), "x")

    assert len(data.runs) <= 60
    assert (data.runs[0], data.runs[-1]) == (2, 500)


def test_one_run_of_each_has_no_errors_to_draw():
    with pytest.raises(InvalidInput, match="two runs or more"):
        convergence_data(ampler.analyse(frame((1, 1, 1)), difference="simple", better="lower"))


def test_an_unknown_instance_is_refused():
    with pytest.raises(InvalidInput, match="such as 'x', got 'q'"):
        convergence_data(ampler.analyse(frame(), difference="simple", better="lower"), "q")


def test_errors_of_first_runs_are_not_drawn_for_a_function_that_only_its_author_knows():
    analysis = ampler.analyse(frame(), difference="simple", better="lower", statistic=np.ptp)

    with pytest.raises(InvalidInput, match="statistics with a name, got 'ptp'"):
        convergence_data(analysis)


@pytest.fixture(scope="module")
def paper(public_data):
    return ampler.analyse(
        public_data / "paper_experiment1_runs.csv", reference="Full", difference="percent", better="lower"
    )


def test_the_paper_figure_4_gives_most_runs_to_the_reference_and_to_variants_without_the_task_move(paper):
    data = runs_data(paper, order="runs")

    most = data.algorithms[:7]
    assert {"Full"} | {name for name in most if "TSK" in name} == set(most)
    assert sum(data.totals) == 23271
    assert data.counts.shape == (22, 57)
    assert data.counts.min() == 10


def test_the_counts_are_those_of_the_runs_sorted(study_of):
    analysis = study_of(["one", "two"], runs=7)

    data = runs_data(analysis)

    assert data.counts.tolist() == [[7] * 12] * 2
    assert data.totals == (84, 84)
    assert data.reference is None


def test_the_order_is_by_option_and_the_reference_goes_with_it(paper):
    by_name = runs_data(paper, order="name")

    assert list(by_name.algorithms) == sorted(by_name.algorithms, key=str.casefold)
    assert by_name.algorithms[by_name.reference] == "Full"
    assert (np.diff(runs_data(paper, order="runs").totals) <= 0).all()


def test_the_drawing_shows_every_number_of_runs_the_median_and_the_total(paper):
    data = runs_data(paper)

    ax = draw_runs(data)

    dots = [line.get_xdata() for line in ax.lines if line.get_marker() == "o"]
    medians = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "None"]
    assert [sorted(seen) for seen in dots] == [sorted(set(row)) for row in data.counts.tolist()]
    assert medians == [float(np.median(row)) for row in data.counts]
    assert [text.get_text() for text in ax.texts] == [f"{total:,}" for total in data.totals]


def test_widely_spread_runs_are_drawn_on_a_logarithmic_axis(paper, study_of):
    assert draw_runs(runs_data(paper)).get_xscale() == "log"
    assert draw_runs(runs_data(study_of(["one", "two"]))).get_xscale() == "linear"
