"""The plan from the first half of a pilot: when it is believed, what it leaves to the end test, that this is exact."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.design.detect import FEW, DetectGoal, PilotFigures, plan_after_pilot, plan_from_half_or_all, usual_early
from ampler.sampling.bias import CommonRuns
from ampler.stats.internal_pilot import growth_test

GOAL = DetectGoal(1.0, early=10, least=5, final_test="growth")


def planned(differences, goal=GOAL, run_variance=0.4):
    """The plan for these differences with one reference, whose runs were five of each algorithm."""
    rivals = differences.shape[1]
    noise = np.zeros((rivals, rivals + 1))
    noise[:, 0] = noise[np.arange(rivals), np.arange(1, rivals + 1)] = run_variance
    figures = PilotFigures(
        np.nanvar(differences, axis=0, ddof=1),
        noise,
        np.full(rivals + 1, 5.0),
        (~np.isnan(differences)).sum(axis=0) - 1.0,
        np.ones(rivals + 1, bool),
    )
    runs = CommonRuns(noise, np.zeros(rivals, int), np.arange(1, rivals + 1), 0)
    return plan_from_half_or_all(figures, differences, goal, runs.fewest), figures, runs


def drawn(spread, seed=1, rivals=2):
    return np.random.default_rng(seed).normal(0, spread, (20, rivals))


def test_where_few_are_enough_the_first_half_decides_and_the_pilot_may_be_all():
    found, _, _ = planned(drawn(0.6))
    assert found.goal.seen == found.goal.base == 10
    assert found.figures.freedom.tolist() == [9, 9]
    assert found.plan.instances == 20


def test_where_many_are_needed_all_of_the_pilot_decides_as_without_halves():
    found, figures, runs = planned(drawn(3.0))
    assert found.goal == GOAL
    assert found.goal.base == 20
    assert found.plan == plan_after_pilot(figures, replace(GOAL, early=None), runs.fewest)


@given(st.floats(0.4, 2.0), st.integers(0, 1000))
def test_the_first_half_is_believed_up_to_half_as_many_again_as_the_pilot_has(spread, seed):
    found, _, _ = planned(drawn(spread, seed))
    assert found.plan.enough
    assert found.plan.instances <= FEW * 20 if found.goal.seen else found.plan.instances >= 25


@given(st.floats(0.4, 1.2), st.integers(0, 1000))
def test_what_the_other_half_varies_by_changes_nothing_where_the_first_decided(spread, seed):
    values = drawn(spread, seed)
    found, _, _ = planned(values)
    if found.goal.seen:
        values[10:] *= 7
        assert planned(values)[0].plan == found.plan


@pytest.mark.parametrize("goal", [replace(GOAL, early=None), replace(GOAL, early=0), replace(GOAL, available=25)])
def test_where_no_half_is_asked_for_or_the_size_is_fixed_all_decide(goal):
    assert planned(drawn(0.6), goal)[0].goal.seen is None


def test_a_half_of_which_too_little_is_left_decides_nothing():
    values = drawn(0.6)
    values[:3, 1] = np.nan
    assert planned(values)[0].goal.seen is None


def test_more_than_are_there_are_not_asked_for():
    found, _, _ = planned(drawn(1.3), replace(GOAL, available=30))
    assert found.plan.instances <= 30


@pytest.mark.parametrize(("pilot", "early"), [(3, 0), (15, 0), (16, 8), (20, 10), (41, 20)])
def test_half_of_a_pilot_that_is_large_enough_is_looked_at_first(pilot, early):
    assert usual_early(pilot) == early
    assert usual_early(pilot, instance_cost=20.0) == 0


def test_the_level_is_exact_whether_one_half_decides_or_both():
    """The most harmful rule: few where the variance looks small, and looking on only where it does not."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(20_000, 60))
    half, whole = (x[:, :n].var(axis=1, ddof=1) for n in (10, 20))
    decided = [(half < 0.6, 10, 20), ((half >= 0.6) & (half < 0.9), 10, 30)]
    decided += [((half >= 0.9) & (whole < 1), 20, 25), ((half >= 0.9) & (whole >= 1), 20, 60)]
    p = np.empty(len(x))
    for which, base, size in decided:
        p[which] = growth_test(x[which, :size].T, base).p_values
    for level in (0.01, 0.05, 0.2):
        assert abs((p <= level).mean() - level) < 4 * math.sqrt(level / len(x))
