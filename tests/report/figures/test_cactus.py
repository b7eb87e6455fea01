from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import ampler
from ampler.core.errors import InvalidInput
from ampler.report.figures import cactus_data, draw_cactus


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
    return ampler.analyse(frame, difference="ratio", better="lower", on_failure="par=10")


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
    data = cactus_data(ampler.analyse(lost, difference="ratio", better="lower", on_failure="penalty=1000"))

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
