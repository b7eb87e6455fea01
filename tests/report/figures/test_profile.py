from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import ampler
from ampler.core.errors import InvalidInput
from ampler.report.figures import draw_profile, profile_data
from ampler.report.figures.profile import ProfileData, recorded_runs, solved_cells


def slow_shares(values, best, names, at, *, ratio, lower):
    """The share of each algorithm within a distance, by the definition: `values` are (instance, algorithm, value)."""
    shares = []
    for name in names:
        mine = [(instance, value) for instance, algorithm, value in values if algorithm == name]
        near = 0
        for instance, value in mine:
            if value is None:
                continue
            top = best[instance]
            distance = (value / top if lower else top / value) if ratio else (value - top if lower else top - value)
            near += distance <= at
        shares.append(near / len(mine))
    return shares


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_the_profile_of_instances_is_that_of_its_definition(study_of, better):
    analysis = study_of(["a", "b", "c"], better=better)
    pick = min if better == "lower" else max
    values = [
        (i, name, value)
        for i, row in enumerate(analysis.statistics.tolist())
        for name, value in zip("abc", row, strict=True)
    ]
    best = {i: pick(row) for i, row in enumerate(analysis.statistics.tolist())}

    data = profile_data(analysis)

    assert data.is_ratio
    for at in (1.0, 1.003, 1.01, 1.02, 1.1):
        slow = slow_shares(values, best, "abc", at, ratio=True, lower=better == "lower")
        assert [data.share(k, at) for k in range(3)] == pytest.approx(slow)


def test_the_profile_of_runs_sets_each_run_beside_the_best_one():
    rows = [("x", "a", -1.0), ("x", "b", 3.0), ("x", "a", 0.0), ("x", "b", -1.0)]
    rows += [("y", "a", 5.0), ("y", "b", 4.0), ("y", "a", 7.0), ("y", "b", 6.0)]
    frame = pd.DataFrame(rows, columns=["instance", "algorithm", "value"])
    analysis = ampler.analyse(frame, difference="simple", better="lower")

    data = profile_data(analysis, of="runs")

    assert not data.is_ratio
    assert [found.tolist() for found in data.distances] == [[0.0, 1.0, 1.0, 3.0], [0.0, 0.0, 2.0, 4.0]]
    assert data.finding == "b reaches the best seen in 50 % of runs"


@pytest.fixture(scope="module")
def solvers():
    rng = np.random.default_rng(2019)
    rows = []
    for name, scale in (("fast", 20.0), ("slow", 200.0)):
        for k, seconds in enumerate((scale * np.exp(rng.normal(0, 1, 30))).tolist()):
            rows.append((f"f{k}", name, min(seconds, 300.0), "ok" if seconds < 300 else "timeout"))
    frame = pd.DataFrame(rows, columns=["instance", "algorithm", "seconds", "status"])
    return frame, ampler.analyse(frame, difference="ratio", better="lower", on_failure="par=10")


def test_what_was_not_solved_is_never_near_the_best(solvers):
    frame, analysis = solvers

    data = profile_data(analysis)

    for k, name in enumerate(("fast", "slow")):
        failed = int((frame.algorithm[frame.status == "timeout"] == name).sum())
        assert int(np.isinf(data.distances[k]).sum()) == failed
    assert int((~solved_cells(analysis)).sum()) == int((frame.status == "timeout").sum()) > 0


def test_an_algorithm_that_lacks_an_instance_is_not_near_there(study_of):
    analysis = study_of(["a", "b", "c"], lacking={(3, 1), (5, 1)})

    assert [int(np.isinf(found).sum()) for found in profile_data(analysis).distances] == [0, 2, 0]


def test_a_far_distance_does_not_dwarf_the_others_and_the_figure_says_so():
    near, far = np.array([1.0, 1.01, 1.02, 1.03]), np.array([1.01, 1.02, 3.0, 3.1])

    ax = draw_profile(ProfileData(("near", "far"), (near, far), "instances", is_ratio=True))
    ax.figure.draw_without_rendering()

    assert ax.get_xscale() == "function"
    assert "logarithmic further out" in ax.get_xlabel()


def test_many_algorithms_leave_the_nearest(study_of):
    data = profile_data(study_of([f"a{k}" for k in range(12)], runs=2))

    ax = draw_profile(data, most=5)

    assert len(ax.texts) == 5
    assert "7 more are not shown" in ax.get_xlabel()
    assert {text.get_text() for text in ax.texts} == {data.algorithms[k] for k in data.leading(5)}


def test_an_analysis_without_runs_says_so(study_of):
    from dataclasses import replace

    bare = replace(study_of(["a", "b"]), recorded=None)

    assert math.isfinite(profile_data(bare).share(0, 1.0))
    with pytest.raises(InvalidInput, match="needs the runs themselves"):
        recorded_runs(bare)
