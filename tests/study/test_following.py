"""A study followed look by look is where it would be found by counting everything."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ampler.core.samples import Samples
from ampler.core.values import Finished, Observation, RunKey
from ampler.study import following
from ampler.study.asked import rule_of
from ampler.study.following import StudyFollower, reasons_of
from ampler.study.status import status_of
from ampler.study.store import open_store, read_store
from ampler.testing import contract_plan

PLAN = contract_plan()
COUNTS = ("name", "algorithms", "runs", "failures", "sessions", "unused", "instances", "decisions", "untouched", "part")


def same(path, follower):
    """Whether a look shows what a count of everything gives."""
    with read_store(path) as store:
        looked, counted = follower.look(store).status, status_of(store)
    assert looked.seconds == pytest.approx(counted.seconds)
    return all(getattr(looked, name) == getattr(counted, name) for name in COUNTS)


def grown(store, rng, attempts, done):
    """Record some runs: numbers in any order, some failed, some of those tried again, an instance finished at times."""
    batch = {}
    for _ in range(rng.randrange(1, 30)):
        key = RunKey(rng.choice(PLAN.instances), rng.choice(PLAN.algorithms), rng.randrange(60))
        last = attempts.get(key)
        if key.instance in done:
            continue  # nothing more is asked for there
        if last is None or (last[1] != "ok" and key not in batch):
            ok = rng.random() < 0.8
            attempt = 0 if last is None else last[0] + 1
            status = "ok" if ok else "failed"
            attempts[key] = attempt, status
            value, message = (1.0, "") if ok else (None, "no value")
            batch[key] = Observation(key, value, rng.random(), status, message, attempt=attempt)
    ended = [rng.choice(PLAN.instances)] if rng.random() < 0.05 else []
    done.update(ended)
    store.add(batch.values(), [Finished(each, PLAN.decisions, "runs done", {"a": 3}, 1, 0.5) for each in ended])


@pytest.mark.parametrize("seed", range(6))
def test_every_look_counts_what_is_there(tmp_path, seed, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(following, "LONG", 10)
        monkeypatch.setattr(following, "LAG", 60)  # no run may be tried again further back than this
    rng, follower, attempts, done = random.Random(seed), StudyFollower(), {}, set()
    for session in range(2):
        with open_store(tmp_path / "study.db") as store:
            store.begin(PLAN, {"session": str(session)})
            for _ in range(12):
                grown(store, rng, attempts, done)
                assert same(tmp_path / "study.db", follower)


def test_what_is_settled_is_not_read_again(tmp_path, monkeypatch):
    follower, asked = StudyFollower(), []
    with open_store(tmp_path / "study.db") as store:
        store.begin(PLAN, {})
        runs = [Observation(RunKey(PLAN.instances[0], name, index), 1.0) for name in "ab" for index in range(50)]
        store.add(runs)
        follower.look(store)
        counts = store.counts()
        monkeypatch.setattr(counts, "since", lambda marks: asked.append(marks) or {})
        monkeypatch.setattr(counts, "everywhere", lambda: pytest.fail("everything was counted again"))
        monkeypatch.setattr(store, "counts", lambda: counts)
        follower.look(store)

    assert asked == [{(PLAN.instances[0], name): 50 if name in "ab" else 0 for name in PLAN.algorithms}]


def test_an_instance_that_waited_is_seen_when_its_first_run_comes(tmp_path):
    follower, name = StudyFollower(), PLAN.instances[1]
    with open_store(tmp_path / "study.db") as store:
        store.begin(PLAN, {})
        store.add([Observation(RunKey(PLAN.instances[0], "a", 0), 1.0)])
        before = follower.look(store).status
        store.add([Observation(RunKey(name, "b", index), 1.0) for index in range(3)])
        after = follower.look(store).status

    assert [each.state for each in before.instances if each.name == name] == ["waiting"]
    assert [(each.state, each.runs["b"]) for each in after.instances if each.name == name] == [("under way", 3)]


def test_errors_under_way_are_those_the_rule_sees(tmp_path):
    rule = {"rule": "Accuracy", "se": 0.1, "difference": "simple", "reference": "a", "guard_edition": 2}
    plan = replace(PLAN, rule=rule)
    rule, rng = rule_of(plan), random.Random(3)
    values = {name: [rng.gauss(0, 1) for _ in range(12)] for name in "ab"}
    follower = StudyFollower()
    with open_store(tmp_path / "study.db") as store:
        store.begin(plan, {})
        for begin in (0, 5):
            end = 5 if begin == 0 else 12
            store.add(
                Observation(RunKey(plan.instances[0], name, index), values[name][index])
                for name in "ab"
                for index in range(begin, end)
            )
            look = follower.look(store)
            seen = {name: numbers[:end] for name, numbers in values.items()}
            wanted = rule.errors(Samples.of(seen)).guarded.max()
            assert look.errors == {plan.instances[0]: pytest.approx(wanted)}
    assert look.target == 0.1
    assert not look.ended


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
        look = StudyFollower().look(store)

    assert [seen.key.index for seen in look.recent][:3] == [29, 28, 27]
    assert [(reason.algorithm, reason.times) for reason in look.reasons] == [("b", 4)]
    assert look.times == {"a": (30, 30.0), "b": (4, 4.0)}


def test_reasons_are_told_the_commonest_first():
    seen = [Observation(RunKey("i", "a", n), None, status="failed", message=("x" if n else "y")) for n in range(3)]

    assert [reason.message for reason in reasons_of(seen)] == ["x", "y"]
