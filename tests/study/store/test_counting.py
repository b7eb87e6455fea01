from __future__ import annotations

import pytest

from ampler.core.values import Observation, RunKey
from ampler.study.store import open_store
from ampler.study.store.counting import CellCount
from ampler.testing import contract_plan

PLAN = contract_plan()
INSTANCE = PLAN.instances[0]
CELL = (INSTANCE, "a")


@pytest.fixture
def counts(tmp_path):
    """Four runs of a cell, the third of which failed once and was tried again."""
    with open_store(tmp_path / "study.db") as store:
        store.begin(PLAN, {})
        store.add(Observation(RunKey(*CELL, n), float(n), 1.0, started=10.0 * n) for n in (0, 1, 3))
        store.add([Observation(RunKey(*CELL, 2), None, 1.0, "failed", "no way", started=20.0)])
        store.add([Observation(RunKey(*CELL, 2), 2.0, 1.0, attempt=1, started=90.0)])
        yield store.counts()


def test_all_cells_are_counted_in_one_pass(counts):
    assert counts.everywhere() == {CELL: CellCount(5, 4, 5.0, 3, 91.0, exact=False)}


def test_a_run_that_was_tried_again_is_one_run(counts):
    found = counts.tried_again(CELL, 0, counts.everywhere()[CELL])

    assert (found.runs, found.ok, found.last) == (4, 4, 3)


def test_instances_that_have_a_run_are_told_from_those_that_wait(counts):
    assert counts.begun([*PLAN.instances, "unknown"]) == {INSTANCE}
    assert counts.begun([]) == frozenset()


def test_counting_goes_on_from_a_number(counts):
    assert counts.since({CELL: 3, (INSTANCE, "b"): 0}) == {CELL: CellCount(1, 1, 1.0, 3, 31.0)}
    assert counts.since({CELL: 4}) == {}
    assert counts.since({("unknown", "a"): 0}) == {}


def test_parts_add_up_to_the_whole():
    whole = CellCount(3, 2, 1.5, 4) + CellCount(2, 2, 0.5, 6, 9.0)

    assert whole == CellCount(5, 4, 2.0, 6, 9.0)
    assert (whole - CellCount(2, 2, 0.5, 6)).runs == 3


def test_values_are_the_last_attempts_in_order(counts):
    assert [row[:3] for row in counts.values(CELL, 1, 2)] == [(1, 1.0, "ok"), (2, 2.0, "ok")]


def test_the_newest_and_the_failed_are_found(counts):
    assert [(seen.key.index, seen.attempt) for seen in counts.newest([CELL], 2)] == [(3, 0), (2, 1)]
    assert [seen.message for seen in counts.without_value([CELL], 5)] == ["no way"]
