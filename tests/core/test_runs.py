"""Runs as columns: what goes in comes out, and what does not fit is said."""

import numpy as np
import pytest

from ampler.core.errors import InvalidData
from ampler.core.runs import STATUSES, Runs
from ampler.core.values import Observation, RunKey


def test_names_stand_in_the_order_of_first_appearance():
    runs = Runs.from_columns(["z", "a", "z", "a"], ["second", "first", "first", "second"], [1, 2, 3, 4])
    assert runs.instances == ("z", "a")
    assert runs.algorithms == ("second", "first")
    assert runs.instance.tolist() == [0, 1, 0, 1]
    assert runs.algorithm.tolist() == [0, 1, 1, 0]
    assert runs.ok.all()


def test_observations_become_runs_with_their_status():
    ok = Observation(RunKey("i", "a", 0), 3.5)
    late = Observation(RunKey("i", "a", 1), None, status="timeout", message="60 s")
    runs = Runs.of([ok, late])
    assert runs.ok.tolist() == [True, False]
    assert STATUSES[runs.status[1]] == "timeout"
    assert np.isnan(runs.value[1])


def test_ok_is_the_first_status():
    assert STATUSES[0] == "ok"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_ok_run_without_a_finite_value_is_named(value):
    with pytest.raises(InvalidData, match=r"'b' on instance 'j'"):
        Runs.from_columns(["i", "j"], ["a", "b"], [1.0, value])


def test_an_unknown_status_is_refused():
    with pytest.raises(InvalidData, match="memout"):
        Runs.from_columns(["i"], ["a"], [1.0], ["memout"])


def test_no_run_at_all_is_refused():
    with pytest.raises(InvalidData, match="at least one run"):
        Runs.from_columns([], [], [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": np.array([1.0, 2.0])}, "equally long"),
        ({"instance": np.array([5])}, "instance codes"),
        ({"algorithms": ("a", "a")}, "'a' twice"),
        ({"status": np.array([9], np.uint8)}, "status codes"),
    ],
)
def test_columns_that_do_not_fit_are_refused(change, message):
    columns = {
        "instances": ("i",),
        "algorithms": ("a",),
        "instance": np.array([0]),
        "algorithm": np.array([0]),
        "value": np.array([1.0]),
        "status": np.array([0], np.uint8),
    }
    with pytest.raises(InvalidData, match=message):
        Runs(**(columns | change))
