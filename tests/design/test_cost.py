from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidInput
from ampler.design.instances import Cost

COUNTS = st.integers(1, 10_000)


def test_the_paper_s_case_costs_627_hours():
    cost = Cost(instances=57, algorithms=22, runs=30, seconds=60, workers=16)

    assert cost.total_runs == 37_620
    assert cost.cpu_seconds == 627 * 3600
    assert str(cost) == "57 instances × 22 algorithms × 30 runs = 627 hours of CPU, 39 hours on 16 workers"


def test_without_the_time_of_a_run_only_runs_are_counted():
    cost = Cost(instances=57, algorithms=22, runs=30)

    assert (cost.cpu_seconds, cost.wall_seconds) == (None, None)
    assert str(cost) == "57 instances × 22 algorithms × 30 runs = 37,620 runs"


def test_workers_without_a_time_give_no_wall_clock():
    assert Cost(10, 2, 1, workers=4).wall_seconds is None


def test_more_workers_than_runs_take_the_time_of_one_run():
    assert Cost(2, 2, 1, seconds=10, workers=100).wall_seconds == 10


@given(COUNTS, COUNTS, COUNTS, st.floats(1e-3, 1e6), st.integers(1, 1000))
def test_wall_clock_time_lies_between_a_fair_share_and_one_run_more(instances, algorithms, runs, seconds, workers):
    cost = Cost(instances, algorithms, runs, seconds, workers)

    share = cost.cpu_seconds / workers
    assert share * (1 - 1e-12) <= cost.wall_seconds <= (share + seconds) * (1 + 1e-12)


def test_the_sums_are_in_the_dictionary():
    assert Cost(2, 3, 4, seconds=0.5).as_dict() == {
        "instances": 2,
        "algorithms": 3,
        "runs": 4,
        "seconds": 0.5,
        "workers": None,
        "total_runs": 24,
        "cpu_seconds": 12.0,
        "wall_seconds": None,
    }


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"runs": 0}, "runs must be a whole number from 1 to 1,000,000,000,000, got 0"),
        ({"runs": 10**400}, "runs must be a whole number from 1 to 1,000,000,000,000, got 1000"),
        ({"workers": -1}, "workers must be a whole number from 1 to 1,000,000,000,000, got -1"),
        (
            {"seconds": 0.0},
            "seconds must be a positive number of at most 1,000,000,000,000, got 0.0: it is the time",
        ),
        ({"seconds": float("nan")}, "got nan"),
        ({"seconds": float("inf")}, "got inf"),
    ],
)
def test_impossible_costs_are_refused_by_name(change, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Cost(**{"instances": 57, "algorithms": 22, "runs": 30, "seconds": 60.0, "workers": 16} | change)
