"""Statistics and variances from the runs of a group."""

import numpy as np
import pytest

from ampler.core.arrays import Runs
from ampler.core.errors import InvalidData
from ampler.core.failures import Drop, Penalty
from ampler.core.plan import Function, Question
from ampler.sampling.rules import Fixed
from ampler.stats.contrasts import contrasts_among
from ampler.study.detect import cell_statistics
from ampler.study.plan import make_plan


def plan_of(policy=Drop(), certain=(), **asked):  # noqa: B008 - frozen
    return make_plan(
        question=Question(**{"better": "lower"} | {"difference": "simple"} | asked),
        algorithms=[Function(name, min, "builtins:min", deterministic=name in certain) for name in "ab"],
        instances=["i", "j"],
        rule=Fixed(runs=2),
        count="all",
        policy=policy,
    )


RUNS = Runs.from_columns(
    ["i", "i", "i", "i", "j", "j", "j", "j"],
    ["b", "b", "a", "a", "a", "a", "b", "b"],
    [5.0, 7.0, 1.0, 2.0, 3.0, 3.0, 4.0, np.nan],
    ["ok"] * 7 + ["failed"],
)


def test_cells_are_in_the_order_of_the_plan_and_short_ones_are_missing():
    theta, variances = cell_statistics(RUNS, plan_of())
    np.testing.assert_array_equal(theta, [[1.5, 6.0], [3.0, np.nan]])
    np.testing.assert_array_equal(variances, [[0.5, 2.0], [0.0, np.nan]])


def test_a_penalty_is_a_value():
    theta, _ = cell_statistics(RUNS, plan_of(Penalty(10.0)))
    assert theta[1, 1] == 7.0


def test_one_value_is_enough_of_what_never_changes():
    theta, variances = cell_statistics(RUNS, plan_of(certain=("b",)))
    assert (theta[1, 1], variances[1, 1]) == (4.0, 0.0)


def test_values_below_the_floor_count_as_it_and_the_statistic_is_the_one_that_was_asked_for():
    theta, _ = cell_statistics(RUNS, plan_of(floor=2.0, statistic="median"))
    np.testing.assert_array_equal(theta[:, 0], [2.0, 3.0])


def test_another_unit_gives_other_numbers():
    theta, variances = cell_statistics(RUNS, plan_of(), unit=2.0)
    assert (theta[0, 1], variances[0, 1]) == (3.0, 0.5)


def test_ratios_need_positive_values():
    runs = Runs.from_columns(["i"] * 4, ["a", "a", "b", "b"], [1.0, -1.0, 2.0, 3.0])
    with pytest.raises(InvalidData, match="the statistic of algorithm 'a' on instance 'i' is 0"):
        cell_statistics(runs, plan_of(difference="percent"))


def test_a_yes_is_one_whatever_the_unit():
    runs = Runs.from_columns(["i"] * 4, ["a", "a", "b", "b"], [1.0, 1.0, 0.0, 1.0])
    plain, noise = cell_statistics(runs, plan_of(statistic="rate"))
    theta, variances = cell_statistics(runs, plan_of(statistic="rate"), unit=0.25)
    np.testing.assert_allclose(theta, plain / 0.25)
    np.testing.assert_allclose(variances, noise / 0.25**2)
    assert (variances[0] > 0).all()


def test_no_penalty_lies_below_the_floor():
    theta, _ = cell_statistics(RUNS, plan_of(Penalty(1.0), floor=3.0))
    assert theta[1, 1] == 3.5


def test_statistics_of_ratios_are_corrected_for_the_runs_that_each_cell_has():
    runs = Runs.from_columns(["i"] * 5, ["a", "a", "a", "b", "b"], [1.0, 2.0, 6.0, 4.0, 4.0])
    for difference, statistic in (("ratio", "mean"), ("percent", "mean"), ("percent", "median")):
        plan = plan_of(difference=difference, statistic=statistic)
        plain, noise = cell_statistics(runs, plan)
        contrasts = contrasts_among(2, difference=difference, formula="corrected")
        theta, variances = cell_statistics(runs, plan, contrasts)
        wanted, factors = contrasts.corrected(plain, noise / np.array([[3, 2]]))
        np.testing.assert_array_equal(theta, wanted)
        np.testing.assert_array_equal(variances, noise * factors)
        assert theta[0, 0] > plain[0, 0]
        for formula in ("delta", "paper"):
            old = cell_statistics(runs, plan, contrasts_among(2, difference=difference, formula=formula))
            np.testing.assert_array_equal(old, (plain, noise))
