from __future__ import annotations

import math
import statistics

import numpy as np
import pandas as pd
import pytest

import ampler
from ampler.core.errors import InvalidInput
from ampler.report.figures import convergence_data, draw_convergence


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
    data = convergence_data(ampler.analyse(frame(), difference="simple", better="lower", se=se), "x")
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
