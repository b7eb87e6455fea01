from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ampler
from ampler.core.errors import InvalidInput
from ampler.plots import cactus_data, draw_cactus, draw_profile, profile_data
from ampler.report.figures.canvas import canvas
from ampler.report.figures.performance import APART, ProfileData, Staircase, draw_steps, recorded_runs, solved_cells


@given(st.lists(st.floats(0, 10), max_size=30), st.integers(0, 5), st.booleans())
def test_a_curve_rises_by_a_step_at_each_value_and_never_for_what_has_none(values, missing, counted):
    steps = Staircase("a", np.array(sorted(values) + [np.inf] * missing), counted=counted)
    whole = len(values) + missing

    expected = [k if counted else k / whole for k in range(1, len(values) + 1)]
    assert steps.heights().tolist() == expected


@given(st.lists(st.integers(0, 40), min_size=1, max_size=10))
def test_names_at_the_ends_of_curves_never_touch(counts):
    with canvas(None) as ax:
        ax.set_xlim(0, 50)
        draw_steps(ax, [Staircase(f"a{k}", np.arange(float(n)), counted=True) for k, n in enumerate(counts)], end=50.0)
    places = sorted(text.xy[1] / max([*counts, 1]) for text in ax.texts)

    assert len(places) == len(counts)
    assert all(upper - lower > 0.99 * APART for lower, upper in itertools.pairwise(places))


def test_lines_differ_in_colour_and_style():
    with canvas(None) as ax:
        ax.set_xlim(0, 3)
        draw_steps(ax, [Staircase(f"a{k}", np.array([1.0])) for k in range(12)], end=3.0)

    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in ax.lines}
    assert len(looks) == 12


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
    return frame, ampler.analyse(ampler.read_results(frame, on_failure="par=10"), difference="ratio", better="lower")


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


def test_distances_up_to_the_largest_number_are_drawn():
    near, far, also_far = np.array([1.0, 1.0, 1.01, 1.02]), np.full(4, 1.7e308), np.full(4, 1.6e308)
    data = ProfileData(("far", "near", "also far"), (far, near, also_far), "instances", is_ratio=True)

    ax = draw_profile(data)
    ax.figure.draw_without_rendering()

    assert data.leading(1) == [1]
    assert np.isfinite(ax.get_xticks()).all()


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
    with pytest.raises(InvalidInput, match="needs the runs"):
        recorded_runs(bare)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(7)
    rows = []
    for name, scale in (("fast", 20.0), ("slow", 150.0), ("odd", 60.0)):
        for k, seconds in enumerate((scale * np.exp(rng.normal(0, 1, 25))).tolist()):
            rows.append((f"f{k}", name, min(seconds, 300.0), "ok" if seconds < 300 else "timeout"))
    return pd.DataFrame(rows, columns=["instance", "algorithm", "seconds", "status"])


@pytest.fixture(scope="module")
def analysis(frame):
    return ampler.analyse(ampler.read_results(frame, on_failure="par=10"), difference="ratio", better="lower")


def test_solved_counts_and_scores_are_those_counted_one_by_one(frame, analysis):
    data = cactus_data(analysis)

    for k, name in enumerate(("fast", "slow", "odd")):
        mine = [row for row in frame.itertuples() if row.algorithm == name]
        solved = [row.seconds for row in mine if row.status == "ok"]
        penalised = [row.seconds if row.status == "ok" else 10 * 300.0 for row in mine]
        assert (data.solved[k], data.runs[k]) == (len(solved), 25)
        assert data.par[k] == pytest.approx(sum(penalised) / 25)
        for limit in (1.0, 30.0, 100.0, 299.0):
            assert data.within(k, limit) == sum(value <= limit for value in solved)


def test_another_factor_and_cutoff_can_be_said(frame, analysis):
    data = cactus_data(analysis, factor=2, cutoff=500.0)
    failed = int((frame.status == "timeout")[frame.algorithm == "slow"].sum())
    total = frame.seconds[(frame.status == "ok") & (frame.algorithm == "slow")].sum()

    assert data.par[1] == pytest.approx((total + failed * 1000.0) / 25)


def test_scores_are_unknown_without_a_cutoff(frame):
    lost = frame.assign(seconds=frame.seconds.where(frame.status == "ok"))
    data = cactus_data(
        ampler.analyse(ampler.read_results(lost, on_failure="penalty=1000"), difference="ratio", better="lower")
    )

    assert math.isnan(data.par[1])
    assert "PAR" not in data.finding
    draw_cactus(data).figure.draw_without_rendering()


def test_the_title_says_who_solves_most_and_scores_best(analysis):
    data = cactus_data(analysis)
    most = [name for name, solved in zip(data.algorithms, data.solved, strict=True) if solved == max(data.solved)]

    assert most == ["fast", "odd"]
    assert data.finding.startswith("fast and odd solve most: 25 of 25 runs; best PAR10: fast, ")


def test_each_curve_ends_at_its_count_with_its_name(analysis):
    data = cactus_data(analysis)

    ax = draw_cactus(data)

    assert [line.get_ydata()[-1] for line in ax.lines] == list(data.solved)
    assert {text.get_text() for text in ax.texts} == {
        f"{name} {count}" for name, count in zip(data.algorithms, data.solved, strict=True)
    }


def test_values_of_which_higher_ones_are_better_have_no_cactus_plot(study_of):
    with pytest.raises(InvalidInput, match="lower ones are better; draw a profile"):
        cactus_data(study_of(["a", "b"], better="higher"))
