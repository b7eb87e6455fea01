"""p-values over looks: found again by solving for the level, and what they must never do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from tests.helpers.sequential import sequential_p_values, student_schedule

from ampler.stats.sequential.boundaries import Schedule, critical_values, named_spending
from ampler.stats.sequential.decisions import repeated_p_values

SCHEDULES = (
    student_schedule(named_spending("OF"), (24, 35, 47, 58)),
    student_schedule(named_spending("KD2"), (14, 24, 34), sides=1),
    Schedule(named_spending("P"), (0.25, 0.5, 0.75, 1.0)),
)


def solved(schedule, look, p_value):
    """The level at which this p-value would just stop the comparison, by bisection on the exact levels."""
    if schedule.nominal_levels(schedule.sides / 2)[look] < p_value:
        return 1.0
    return brentq(lambda level: schedule.nominal_levels(level)[look] - p_value, 1e-11, schedule.sides / 2, rtol=1e-12)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: schedule.spending.name)
@pytest.mark.parametrize("p_value", [0.3, 0.04, 3e-3, 1e-5])
def test_repeated_p_values_solve_for_the_level(schedule, p_value):
    found = repeated_p_values(schedule, np.full(len(schedule.fractions), p_value))
    expected = [solved(schedule, look, p_value) for look in range(len(schedule.fractions))]
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: schedule.spending.name)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=3))
def test_sequential_p_values_are_never_below_the_ordinary_ones_and_never_rise(schedule, p):
    found = sequential_p_values(schedule, p)
    assert (found >= np.minimum.accumulate(p) * (1 - 1e-4)).all()
    assert (np.diff(found) <= 0).all()
    assert ((found >= 1e-12) & (found <= 1)).all()


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: schedule.spending.name)
@given(pair=st.tuples(st.floats(1e-9, 1), st.floats(1e-9, 1)), look=st.integers(0, 2))
def test_stronger_evidence_gives_a_smaller_p_value(schedule, pair, look):
    rows = np.ones((look + 1, 2))
    rows[look] = pair
    found = repeated_p_values(schedule, rows)[look]
    assert (found[0] <= found[1]) == (pair[0] <= pair[1]) or found[0] == found[1]


def test_a_single_look_gives_the_ordinary_p_value():
    schedule = student_schedule(named_spending("OF"), (20,))
    assert repeated_p_values(schedule, [0.0123])[0] == pytest.approx(0.0123, rel=1e-5)


def test_a_look_without_a_test_counts_as_no_evidence():
    schedule = SCHEDULES[0]
    assert repeated_p_values(schedule, [np.nan, 0.001]).tolist() == repeated_p_values(schedule, [1.0, 0.001]).tolist()


def test_at_its_own_boundary_a_result_has_the_level_as_p_value():
    schedule = SCHEDULES[0]
    nominal = schedule.nominal_levels(0.05)
    np.testing.assert_allclose(repeated_p_values(schedule, nominal), 0.05, rtol=1e-4)
    assert critical_values(nominal, schedule.instances)[0] > 3


@pytest.mark.parametrize("sides", [1, 2])
def test_under_the_null_hypothesis_sequential_p_values_are_hardly_ever_small(sides):
    """P(p ≤ a) = a at every level: the last sequential p-value is uniform as far as the looks can tell."""
    from scipy.special import ndtr

    looks = np.array([0.4, 0.6, 0.8, 1.0])
    steps = np.random.default_rng(5).normal(size=(100_000, 4)) * np.sqrt(np.diff(looks, prepend=0))
    z = steps.cumsum(axis=1) / np.sqrt(looks)
    p = 2 * ndtr(-np.abs(z)) if sides == 2 else ndtr(-z)
    schedule = Schedule(named_spending("OF"), tuple(looks), sides=sides)
    last = sequential_p_values(schedule, p.T)[-1]
    for level in (0.01, 0.05, 0.2):
        assert abs((last <= level).mean() - level) < 4 * np.sqrt(level / 100_000)
