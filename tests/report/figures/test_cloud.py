from __future__ import annotations

import math
import statistics

import numpy as np
import pandas as pd
import pytest

import ampler
from ampler.core.errors import InvalidInput
from ampler.plots import cloud_data, draw_cloud
from ampler.report.figures.performance import density


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(4)
    rows = [
        (f"d/{i}.txt", name, rng.normal(10 + k, 1), "ok")
        for i in "xyz"
        for k, name in enumerate("ab")
        for _ in range(9)
    ]
    rows[0] = (*rows[0][:2], math.nan, "crashed")
    return pd.DataFrame(rows, columns=["instance", "algorithm", "value", "status"])


@pytest.fixture(scope="module")
def analysis(frame):
    return ampler.analyse(ampler.read_results(frame, on_failure="drop"), difference="simple", better="lower")


def test_the_cloud_holds_every_run_of_the_instance_and_counts_the_failed(frame, analysis):
    data = cloud_data(analysis, "d/x.txt")

    for k, name in enumerate("ab"):
        mine = frame[(frame.instance == "d/x.txt") & (frame.algorithm == name)]
        assert data.values[k].tolist() == mine.value.dropna().tolist()
        assert data.failed[k] == int((mine.status != "ok").sum())
        low, middle, high = statistics.quantiles(data.values[k].tolist(), n=4, method="inclusive")
        assert data.quartiles[k] == pytest.approx((low, middle, high))
    assert data.finding == "x: a has the best median of 8 runs"


def test_the_drawing_has_a_dot_for_each_run(analysis):
    data = cloud_data(analysis, "d/y.txt")

    dots = [line.get_xdata() for line in draw_cloud(data).lines if line.get_marker() == "o"]

    assert [found.tolist() for found in dots] == [values.tolist() for values in data.values]


def test_a_density_sums_to_one():
    values = np.random.default_rng(5).normal(3, 2, 50)
    at = np.linspace(-12, 18, 3001)

    assert float(density(values, at).sum() * (at[1] - at[0])) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("runs", [1, 3, 6])
def test_few_or_equal_values_can_be_drawn(runs):
    rows = [(i, name, 5.0) for i in "xyz" for name in "ab" for _ in range(runs)]
    frame = pd.DataFrame(rows, columns=["instance", "algorithm", "value"])
    frame.loc[0, "value"] = 6.0

    data = cloud_data(ampler.analyse(frame, difference="simple", better="lower"), "y")
    ax = draw_cloud(data)
    ax.figure.canvas.draw()

    assert [label.get_text() for label in ax.get_yticklabels()] == list(data.algorithms)


def test_of_many_algorithms_those_with_the_best_medians_are_kept(study_of):
    analysis = study_of([f"a{k}" for k in range(8)])
    data = cloud_data(analysis, analysis.accuracy[0].instance, most=3)
    whole = cloud_data(analysis, analysis.accuracy[0].instance)
    ranked = sorted(zip(whole.quartiles, whole.algorithms, strict=True), key=lambda each: each[0][1])

    assert set(data.algorithms) == {name for _, name in ranked[:3]}
    assert data.left_out == 5
    assert "5 more algorithms" in draw_cloud(data).get_xlabel()


def test_an_instance_that_is_not_there_is_refused(analysis):
    with pytest.raises(InvalidInput, match=r"such as 'd/x\.txt', got 'q'"):
        cloud_data(analysis, "q")
