from __future__ import annotations

import numpy as np
import pytest

import ampler
from ampler.report.figures import draw_runs, runs_data


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
