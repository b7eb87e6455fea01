"""Where a study stands, by what its store holds and its last plan wants."""

from __future__ import annotations

import pytest

from ampler.core.errors import StoreUnusable
from ampler.core.plan import Command
from ampler.core.runs import Finished, Observation, RunKey, Tally
from ampler.study.status import status_of, unused_runs
from ampler.testing import MemoryStore, contract_plan

PLAN = contract_plan()
FIRST, SECOND, THIRD = PLAN.instances


def done(instance: str, **counts: int) -> Finished:
    return Finished(instance, PLAN.decisions, "accuracy reached", counts, 1, 0.25)


@pytest.fixture
def store():
    """One instance finished, one under way with a failure, one waiting."""
    store = MemoryStore()
    store.begin(PLAN, {})
    runs = [Observation(RunKey(FIRST, name, index), 1.0, 2.0) for name in "ab" for index in range(2)]
    store.add(runs, [done(FIRST, a=2, b=1)])
    store.add([Observation(RunKey(SECOND, "a", 0), None, 3.0, "failed", "no value")])
    return store


def test_instances_are_finished_under_way_or_waiting_in_the_order_of_the_plan(store):
    found = status_of(store)

    assert [(each.name, each.state) for each in found.instances] == [
        (FIRST, "finished"),
        (SECOND, "under way"),
        (THIRD, "waiting"),
    ]
    assert (found.instances[0].reason, found.instances[0].error) == ("accuracy reached", 0.25)
    assert (found.instances[1].reason, found.instances[1].runs) == (None, {"a": 1, "b": 0})
    assert [each.failures for each in found.instances] == [0, 1, 0]
    assert found.finished == 1


def test_the_study_is_counted_as_a_whole(store):
    store.begin(PLAN, {})
    found = status_of(store)

    assert (found.runs, found.failures, found.seconds, found.sessions) == (5, 1, 11.0, 2)
    assert found.unused == 1, "the second run of b was not requested"


def test_the_last_plan_counts(store):
    store.begin(contract_plan(instances=[FIRST, "new"]), {})

    found = status_of(store)

    assert {each.name: each.state for each in found.instances} == {FIRST: "finished", "new": "waiting"}
    assert found.unused == 2, "what was run on an instance that is gone is not used either"


def test_runs_of_names_that_a_plan_lacks_are_unused_and_those_under_way_are_not():
    tally = [Tally(FIRST, "a", 5, 5, 1.0), Tally(SECOND, "a", 7, 7, 1.0), Tally(FIRST, "gone", 2, 2, 1.0)]

    assert unused_runs(tally, (PLAN, {FIRST: done(FIRST, a=3)})) == 2 + 2


def test_a_store_without_a_plan_says_how_to_begin():
    with pytest.raises(StoreUnusable, match="holds no plan yet; `ampler run` begins one"):
        status_of(MemoryStore())


def test_an_algorithm_that_was_added_waits_on_finished_instances_too(store):
    commands = {name: Command(name, ("solve", name, "{seed}", "{instance}")) for name in "abc"}
    store.begin(contract_plan(algorithms=commands), {})

    assert status_of(store).instances[0].runs == {"a": 2, "b": 2, "c": 0}
