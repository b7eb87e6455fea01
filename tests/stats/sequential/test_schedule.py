"""A schedule of looks gives the levels of the theory that it stands for."""

from __future__ import annotations

import pytest
from tests.helpers.sequential import normal_levels, student_levels, student_schedule

from ampler.stats.sequential.boundaries import Schedule, named_spending

LOOKS = (10, 20, 30)
FRACTIONS = (1 / 3, 2 / 3, 1.0)


@pytest.mark.parametrize("sides", [1, 2])
def test_without_instances_the_levels_are_those_of_normal_theory(sides):
    schedule = Schedule(named_spending("P"), FRACTIONS, sides=sides)

    assert schedule.nominal_levels(0.05) == normal_levels(named_spending("P"), 0.05, FRACTIONS, sides=sides)


@pytest.mark.parametrize("sides", [1, 2])
def test_with_instances_they_are_exact_for_t_and_the_last_look_has_all(sides):
    schedule = student_schedule(named_spending("OF"), LOOKS, sides=sides)

    assert schedule.fractions == pytest.approx(FRACTIONS)
    assert schedule.nominal_levels(0.05) == student_levels(named_spending("OF"), 0.05, LOOKS, sides=sides)


def test_a_schedule_can_be_remembered_by_what_it_is():
    assert hash(student_schedule(named_spending("KD2"), LOOKS)) == hash(student_schedule(named_spending("KD2"), LOOKS))
    assert student_schedule(named_spending("KD2"), LOOKS) != student_schedule(named_spending("KD3"), LOOKS)
