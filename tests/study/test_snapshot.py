"""Snapshots of a study that may be running."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ampler.core.arrays import Samples
from ampler.core.runs import Observation, RunKey
from ampler.study.record import rule_of
from ampler.study.status import reasons_of, snapshot_of
from ampler.study.store import open_store
from ampler.testing import contract_plan

PLAN = contract_plan()


def test_an_instance_that_waited_is_seen_when_its_first_run_comes(tmp_path):
    name = PLAN.instances[1]
    with open_store(tmp_path / "study.db") as store:
        store.begin(PLAN, {})
        store.add([Observation(RunKey(PLAN.instances[0], "a", 0), 1.0)])
        before = snapshot_of(store).status
        store.add([Observation(RunKey(name, "b", index), 1.0) for index in range(3)])
        after = snapshot_of(store).status

    assert [each.state for each in before.instances if each.name == name] == ["waiting"]
    assert [(each.state, each.runs["b"]) for each in after.instances if each.name == name] == [("under way", 3)]


def test_errors_under_way_are_those_the_rule_sees(tmp_path):
    rule = {"rule": "Accuracy", "se": 0.1, "difference": "simple", "reference": "a", "guard_edition": 2}
    plan = replace(PLAN, rule=rule)
    rule, rng = rule_of(plan), random.Random(3)
    values = {name: [rng.gauss(0, 1) for _ in range(12)] for name in "ab"}
    with open_store(tmp_path / "study.db") as store:
        store.begin(plan, {})
        for begin in (0, 5):
            end = 5 if begin == 0 else 12
            store.add(
                Observation(RunKey(plan.instances[0], name, index), values[name][index])
                for name in "ab"
                for index in range(begin, end)
            )
            snapshot = snapshot_of(store)
            seen = {name: numbers[:end] for name, numbers in values.items()}
            wanted = rule.errors(Samples.of(seen)).guarded.max()
            assert snapshot.errors == {plan.instances[0]: pytest.approx(wanted)}
    assert snapshot.target == 0.1
    assert not snapshot.ended


def test_the_latest_runs_come_first_and_all_that_failed_has_its_reason(tmp_path):
    with open_store(tmp_path / "study.db") as store:
        store.begin(PLAN, {})
        runs = [Observation(RunKey(PLAN.instances[0], "a", n), 1.0, 1.0, started=100.0 + n) for n in range(30)]
        lost = [
            Observation(RunKey(name, "b", n), None, 1.0, "failed", f"no way on {name}", started=50.0)
            for name in PLAN.instances[:2]
            for n in range(2)
        ]
        store.add([*runs, *lost])
        snapshot = snapshot_of(store)

    assert [seen.key.index for seen in snapshot.recent][:3] == [29, 28, 27]
    assert [(reason.algorithm, reason.times) for reason in snapshot.reasons] == [("b", 4)]
    assert snapshot.times == {"a": (30, 30.0), "b": (4, 4.0)}


def test_reasons_are_told_the_commonest_first():
    seen = [Observation(RunKey("i", "a", n), None, status="failed", message=("x" if n else "y")) for n in range(3)]

    assert [reason.message for reason in reasons_of(seen)] == ["x", "y"]
