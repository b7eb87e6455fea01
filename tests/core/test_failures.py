"""What a failed run counts as: written, told, counted."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.arrays import Runs
from ampler.core.errors import InvalidData, InvalidInput, InvalidPlan
from ampler.core.failures import (
    Drop,
    Par,
    Penalty,
    StopStudy,
    WorstObserved,
    completed,
    failure_policy,
    policy_data,
    policy_from,
    policy_words,
    value_of,
    values_under,
    with_cutoff,
)
from ampler.core.runs import Observation, RunKey

numbers = st.floats(1e-6, 1e9)
policies = st.one_of(
    st.just(StopStudy()), st.just(Drop()), st.builds(Penalty, numbers), st.builds(Par, numbers, st.none() | numbers)
)


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("drop", Drop()),
        ("penalty=1e6", Penalty(1e6)),
        ("par=10", Par(10.0)),
        ("par=10, cutoff=3600", Par(10.0, 3600.0)),
    ],
)
def test_failure_policies_are_read(text, policy):
    assert failure_policy(text) == policy


@pytest.mark.parametrize("text", ["", "par", "par=x", "penalty", "drop=1", "stop", "cutoff=3,par=2"])
def test_other_words_for_failures_are_refused(text):
    with pytest.raises(InvalidData, match="penalty=VALUE"):
        failure_policy(text)


@given(policies)
def test_a_policy_survives_being_written_as_data(policy):
    assert policy_from(json.loads(json.dumps(policy_data(policy)))) == policy


def runs_with(*ends):
    """Runs of one algorithm, each on an instance of its own: (value, status)."""
    names = [f"i{n}" for n in range(len(ends))]
    return Runs.from_columns(names, ["a"] * len(ends), [value for value, _ in ends], [status for _, status in ends])


@pytest.mark.parametrize(
    ("ends", "cutoff"),
    [
        ([(1.0, "ok"), (60.0, "timeout"), (60.0, "timeout")], 60.0),
        ([(3600.0, "timeout"), (3600.0, "timeout"), (3638.24, "timeout"), (3700.0, "failed")], 3600.0),
        ([(3600.0, "timeout"), (3600.0, "timeout"), (3612.0, "ok")], 3600.0),
        ([(3601.24, "timeout"), (3638.24, "timeout")], 3600.0),  # every run overran the limit
        ([(4999.87, "timeout"), (5000.2, "timeout")], 4999.87),  # a little early, by processor time
        ([(1210.02, "timeout"), (1230.0, "timeout")], 1210.0),
        ([(0.0503, "timeout"), (0.003, "failed")], 0.0503),
        ([(5.0, "timeout"), (1e9, "failed"), (0.003, "failed"), (float("nan"), "timeout")], 5.0),
    ],
)
def test_the_cutoff_is_the_limit_that_runs_reached(ends, cutoff):
    assert with_cutoff(Par(10), runs_with(*ends)) == Par(10, cutoff)


@pytest.mark.parametrize(
    "ends",
    [
        [(1.0, "ok"), (2.0, "ok")],  # a later failure would have no value
        [(1.0, "ok"), (0.003, "failed")],  # crashed or wrong at once
        [(1.0, "ok"), (900.0, "failed")],  # perhaps a limit, perhaps not
        [(1.0, "ok"), (float("nan"), "timeout")],
        [(10.0, "timeout"), (60.0, "timeout")],  # two limits
        [(100.0, "ok"), (60.0, "timeout")],  # who runs longer had another limit
        [(-1.0, "ok"), (0.0, "timeout")],
    ],
)
def test_without_a_common_limit_the_cutoff_is_asked_for(ends):
    with pytest.raises(InvalidData, match=r"^PAR multiplies the time limit, and .*; specify it: .*cutoff=SECONDS.*$"):
        with_cutoff(Par(10), runs_with(*ends))
    assert with_cutoff(Par(10), runs_with(*ends), 60.0) == Par(10, 60.0)
    assert with_cutoff(Par(10, 5.0), runs_with(*ends), 60.0) == Par(10, 5.0)


@given(st.floats(1e-3, 1e6), st.lists(st.floats(0.0, 0.05), min_size=1, max_size=20))
def test_the_cutoff_is_never_above_what_a_run_that_reached_it_took(limit, late):
    runs = runs_with(*[(limit * (1 + share), "timeout") for share in late])
    found = with_cutoff(Par(10), runs).cutoff
    assert 0.99 * limit <= found <= runs.value.min()


def test_a_number_is_kept_as_it_was_written():
    assert isinstance(policy_from({"penalty": 5}).value, int)


@pytest.mark.parametrize(
    "data",
    ["halt", 3, None, {}, {"penality": 1}, {"penalty": 1, "par": 2}, {"par": 1, "cut": 2}, ["drop"]],
)
def test_other_data_are_no_policy(data):
    with pytest.raises(InvalidInput, match='must be "stop", "drop"'):
        policy_from(data)


def test_no_policy_is_no_data():
    assert policy_data(None) is None


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Penalty(99.0), "counted as 99"),
        (Par(10), "counted as 10 times the cutoff"),
        (Par(10, 3600.0), "counted as 10 times the cutoff of 3600"),
        (WorstObserved("lower"), "counted as the worst value seen on their instance"),
        (Drop(), "left out"),
        (StopStudy(), "not counted"),
        (None, "not counted"),
    ],
)
def test_every_policy_has_its_words(policy, words):
    assert policy_words(policy) == words


@pytest.mark.parametrize(("policy", "value"), [
    (StopStudy(), None), (Drop(), None), (Penalty(1e6), 1e6), (Par(10, 60.0), 600.0),
])  # fmt: skip
def test_a_failed_run_counts_as_the_policy_says_and_a_good_one_as_it_is(policy, value):
    key = RunKey("i", "a", 0)
    assert value_of(Observation(key, 3.5), policy) == 3.5
    for status in ("failed", "timeout", "lost"):
        assert value_of(Observation(key, None, status=status), policy) == value


def test_the_cutoff_of_par_is_the_time_limit_unless_it_is_given():
    assert completed(Par(10), timeout=30.0, difference="simple") == Par(10, 30.0)
    assert completed(Par(10, 20.0), timeout=30.0, difference="simple") == Par(10, 20.0)
    with pytest.raises(InvalidPlan, match="a timeout must be set"):
        completed(Par(10), timeout=None, difference="simple")


def test_a_penalty_suits_the_difference():
    assert completed(Penalty(-3.0), timeout=None, difference="simple") == Penalty(-3.0)
    with pytest.raises(InvalidPlan, match="positive for ratio differences, got -3"):
        completed(Penalty(-3.0), timeout=None, difference="ratio")


MIXED = Runs.from_columns(
    ["i", "i", "i", "j"], ["a", "a", "b", "b"], [1.0, np.nan, 60.0, np.nan], ["ok", "failed", "timeout", "lost"]
)


@given(policies.filter(lambda policy: not isinstance(policy, StopStudy)))
def test_good_runs_keep_their_values_and_all_but_dropped_ones_count(policy):
    values, counted = values_under(MIXED, policy)
    assert values[0] == 1.0
    assert counted.tolist() == [True, *[not isinstance(policy, Drop)] * 3]


@given(st.one_of(st.builds(Penalty, numbers), st.builds(Par, numbers, numbers)))
def test_a_run_counts_alone_as_it_does_among_others(policy):
    values, _ = values_under(MIXED, policy)
    assert values[1:].tolist() == [value_of(Observation(RunKey("i", "a", 0), None, status="failed"), policy)] * 3


def test_without_a_cutoff_par_takes_the_largest_recorded_one():
    assert values_under(MIXED, Par(2))[0].tolist() == [1.0, 120.0, 120.0, 120.0]


def test_an_instance_without_a_value_takes_the_worst_seen_anywhere():
    assert values_under(MIXED, WorstObserved("lower"))[0].tolist() == [1.0, 60.0, 60.0, 60.0]
    assert values_under(MIXED, WorstObserved("higher"))[0].tolist() == [1.0, 1.0, 1.0, 1.0]


def test_without_a_failure_no_policy_is_needed():
    healthy = Runs.from_columns(["i", "i"], ["a", "b"], [1.0, 2.0])
    values, counted = values_under(healthy, None)
    assert (values.tolist(), counted.tolist()) == ([1.0, 2.0], [True, True])


def test_a_failure_without_a_policy_is_an_error_that_counts_the_failures():
    with pytest.raises(InvalidData, match=r"^3 of 4 .* \(1 failed, 1 timeout, 1 lost; most from 'b': 2\)"):
        values_under(MIXED, None)
