"""Runs are written in groups: when one is full, or has waited long enough."""

from __future__ import annotations

import pytest

from ampler.core.errors import StoreError
from ampler.core.runs import Finished
from ampler.study.store import Journal
from ampler.testing import MemoryStore, contract_plan


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_group_is_written_when_it_is_full_or_has_waited_long_enough(runs):
    store, clock = MemoryStore(), Clock()
    store.begin(contract_plan(), {})
    journal = Journal(store, runs=3, seconds=0.25, clock=clock)
    one, two, three, four, five, six = runs(6)
    assert journal.due_in is None
    assert journal.add(one) == []
    clock.now = 0.1
    assert journal.due_in == pytest.approx(0.15)
    assert journal.add(two) == []
    assert list(store.observations()) == []
    assert journal.add(three) == [one, two, three] == list(store.observations())
    assert journal.add(four) == []
    clock.now = 0.4
    assert journal.due_in == 0
    assert journal.add(five) == [four, five]
    assert journal.add(six, finished=Finished("i1", "d", "runs done", {"a": 6, "b": 0}, 1)) == []
    assert store.finished("d") == {}
    assert journal.flush() == [six]
    assert store.finished("d").keys() == {"i1"}
    assert journal.flush() == []
    assert journal.due_in is None


def test_a_finished_instance_is_written_in_time_though_no_run_comes_with_it():
    store, clock = MemoryStore(), Clock()
    store.begin(contract_plan(), {})
    journal = Journal(store, seconds=0.25, clock=clock)
    journal.add(finished=Finished("i1", "d", "runs done", {"a": 0, "b": 0}, 1))
    assert journal.due_in == pytest.approx(0.25)
    clock.now = 0.3
    journal.add(finished=Finished("i2", "d", "runs done", {"a": 0, "b": 0}, 1))
    assert store.finished("d").keys() == {"i1", "i2"}


def test_a_group_that_cannot_be_written_still_waits(runs):
    store = MemoryStore()
    journal = Journal(store, runs=2)
    one, two = runs(2)
    journal.add(one)
    with pytest.raises(StoreError):
        journal.add(two)
    store.begin(contract_plan(), {})
    assert journal.flush() == [one, two]
