"""How often looks err where differences are skewed, beside what was simulated."""

import pytest
from tests.helpers.sequential import student_schedule

from ampler.stats.sequential.boundaries import Schedule, named_spending
from ampler.stats.sequential.decisions import interim_inflation
from ampler.stats.shape import error_inflation

SIMULATED = [  # exponential differences: looks, instances, level over alpha, error over level
    ((23, 35, 46, 57), 1, 1.56),
    ((23, 35, 46, 57), 21, 5.10),
    ((19, 38, 57), 1, 1.49),
    ((19, 38, 57), 21, 4.55),
    ((80, 120, 160, 200), 21, 2.36),
]


@pytest.mark.parametrize(("looks", "among", "simulated"), SIMULATED)
def test_it_is_near_what_was_simulated_and_never_below_it(looks, among, simulated):
    found = interim_inflation(2.0, student_schedule(named_spending("OF"), looks), 0.05 / among)
    assert simulated <= found <= 1.3 * simulated


def test_looks_err_more_than_one_test_and_symmetric_differences_do_not_err():
    schedule = student_schedule(named_spending("OF"), (24, 35, 47, 58))
    assert interim_inflation(1.0, schedule, 0.01) > error_inflation(1.0, 58, 0.01) > 1
    assert interim_inflation(0.0, schedule, 0.01) == pytest.approx(1.0)


def test_normal_theory_has_no_instances_to_go_by():
    assert interim_inflation(2.0, Schedule(named_spending("OF"), (0.5, 1.0)), 0.05) == 1.0
