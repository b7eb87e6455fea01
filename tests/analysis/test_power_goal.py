"""The power to reach: how many instances it takes, and what cannot be reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.analysis.cost_curve import PowerGoal
from ampler.core.errors import InvalidDesign
from ampler.core.settings import Settings
from ampler.design import required_instances

SETTINGS = Settings(difference="simple")


def test_with_equal_variances_the_instances_are_those_of_the_design():
    goal = PowerGoal(SETTINGS, detect=1.0)

    assert goal.instances(np.full(5, 4.0)) == required_instances(comparisons=5, effect=0.5).instances


@given(st.lists(st.floats(0.1, 20.0), min_size=1, max_size=6), st.integers(2, 500))
def test_the_fewest_instances_reach_the_power_and_one_fewer_does_not_wherever_the_search_begins(variances, guess):
    goal, spread = PowerGoal(SETTINGS, detect=1.0), np.array(variances)
    fewest = goal.instances(spread)

    assert goal.instances(spread, guess) == fewest
    assert goal.reached(fewest, spread) >= 0.8
    assert fewest == 2 or goal.reached(fewest - 1, spread) < 0.8


@pytest.mark.parametrize(("target", "ask"), [("best", 1), ("median", 2), ("worst", 3), (2, 2)])
def test_a_target_asks_for_the_power_of_so_many_comparisons(target, ask):
    spread = np.array([1.0, 4.0, 9.0])
    wanted = PowerGoal(SETTINGS, detect=1.0, target=target)
    counted = PowerGoal(SETTINGS, detect=1.0, target=ask)

    assert wanted.instances(spread) == counted.instances(spread)


def test_what_the_available_instances_cannot_find_is_told_with_what_they_can():
    goal = PowerGoal(SETTINGS, detect=1.0, available=20, unit=100.0)
    between = np.array([4.0])

    with pytest.raises(InvalidDesign, match=r"a difference of 100 needs 34 instances .* 20 are available") as problem:
        goal.check_possible(between)

    named = float(str(problem.value).split("use ")[1].split(" or more")[0]) / 100
    assert PowerGoal(SETTINGS, detect=1.01 * named).instances(between) <= 20
    assert PowerGoal(SETTINGS, detect=0.99 * named).instances(between) > 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"detect": 0.0}, "detect must be a positive number"),
        ({"detect": 1.0, "available": 1}, "a whole number of 2 or more"),
        ({"detect": 1.0, "target": 0}, "target must be one of"),
    ],
)
def test_what_is_no_goal_is_refused(options, message):
    with pytest.raises(InvalidDesign, match=message):
        PowerGoal(SETTINGS, **options)
