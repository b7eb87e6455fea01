"""What each accuracy costs: the curve, its ends, and the cheapest point."""

from __future__ import annotations

import numpy as np
import pytest

from ampler.analysis.cost_curve import Pilot, PowerGoal, VarianceParts, cheapest_choice, choice_at, cost_curve
from ampler.core.settings import Settings
from ampler.stats.contrasts import contrasts_among

SETTINGS = Settings(difference="simple")


def pilot_with(*, noise: float, between: float, instance_cost: float = 0.0) -> Pilot:
    """Two algorithms that are as noisy on every one of twenty instances."""
    part = VarianceParts("a", "b", 0.0, between + noise, between, noise, (between / 2, 2 * between))
    shape = (20, 2)
    return Pilot(
        contrasts_among(2, difference="simple"),
        np.zeros(shape),
        np.full(shape, noise),
        (part,),
        2,
        np.ones(2),
        instance_cost,
    )


@pytest.mark.parametrize("instance_cost", [0.0, 50.0])
def test_no_accuracy_on_a_fine_grid_is_cheaper_than_the_cheapest(instance_cost):
    pilot = pilot_with(noise=25.0, between=1.0, instance_cost=instance_cost)
    goal = PowerGoal(SETTINGS, detect=1.0)

    best = cheapest_choice(pilot, goal, cost_curve(pilot, goal))

    grid = [choice_at(pilot, goal, se).cost for se in np.geomspace(pilot.top / 30, pilot.top, 400)]
    assert best.cost <= min(grid) * 1.001
    assert best.power >= 0.8


def test_dear_instances_are_used_better():
    goal = PowerGoal(SETTINGS, detect=1.0)
    cheap, dear = (pilot_with(noise=25.0, between=1.0, instance_cost=cost) for cost in (0.0, 500.0))

    some, few = (cheapest_choice(pilot, goal, cost_curve(pilot, goal)) for pilot in (cheap, dear))

    assert few.instances < some.instances
    assert few.se < some.se


def test_the_curve_ends_where_better_accuracy_saves_no_instance():
    pilot, goal = pilot_with(noise=25.0, between=1.0), PowerGoal(SETTINGS, detect=1.0)
    curve = cost_curve(pilot, goal)

    assert curve[-1].se == pilot.top
    assert curve[0].instances == goal.check_possible(pilot.between)
    assert curve[0].instances < curve[1].instances


def test_without_noise_there_is_one_choice():
    pilot, goal = pilot_with(noise=0.0, between=1.0), PowerGoal(SETTINGS, detect=1.0)
    curve = cost_curve(pilot, goal)

    assert [(choice.se, choice.runs) for choice in curve] == [(0.0, 4.0)]
    assert cheapest_choice(pilot, goal, curve) == curve[0]


def test_no_more_instances_are_taken_than_there_are():
    pilot = pilot_with(noise=25.0, between=1.0)
    free = cheapest_choice(pilot, PowerGoal(SETTINGS, detect=1.0), cost_curve(pilot, PowerGoal(SETTINGS, detect=1.0)))
    goal = PowerGoal(SETTINGS, detect=1.0, available=free.instances - 3)

    best = cheapest_choice(pilot, goal, cost_curve(pilot, goal))

    assert best.instances <= free.instances - 3
    assert best.cost >= free.cost
    assert best.times(10.0).se == 10 * best.se
