"""The study file: the contract of a store, and what only a file can suffer."""

from __future__ import annotations

import random
import sqlite3
import time
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.arrays import STATUSES
from ampler.core.errors import AmplerError, PlanMismatch, StoreError, StoreUnusable
from ampler.core.failures import Par, Penalty
from ampler.core.plan import Command, Question
from ampler.core.runs import Finished, Observation, RunKey, Tally
from ampler.study.record import from_json, to_json
from ampler.study.store import open_store, read_store
from ampler.study.store.rows import storable
from ampler.testing import STORE_CONTRACT, MemoryStore, contract_plan

# The contract


@pytest.mark.parametrize("check", STORE_CONTRACT, ids=lambda check: check.__name__)
def test_study_file_fills_the_contract(check, tmp_path):
    opened = []

    def make():
        opened.append(open_store(tmp_path / f"study-{len(opened)}.db"))
        return opened[-1]

    try:
        check(make)
    finally:
        for store in opened:
            store.close()


# What several sessions see of each other


def test_a_reader_sees_a_running_study_and_cannot_change_it(study, runs, begun):
    with begun(study) as store, read_store(study) as reader:
        assert list(reader.observations()) == []
        store.add(runs(5))
        assert len(list(reader.observations())) == 5
        reading = reader.observations()
        next(reading)
        store.add(runs(5, algorithm="b"))  # a reader in the middle of its reading blocks nobody
        assert len(list(reading)) == 4
        with pytest.raises(StoreUnusable, match="reading only"):
            reader.begin(contract_plan(), {})
        with pytest.raises(StoreError):
            reader.add(runs(1))


def test_a_closed_study_is_one_file_and_reading_leaves_it_so(study, runs):
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        store.add(runs(5))
    assert {path.name for path in study.parent.iterdir()} == {"study.db", "study.db.bak"}
    with read_store(study) as store:
        assert len(list(store.observations())) == 5
    assert study.stat().st_size > 0
    with open_store(study), pytest.raises(StoreError, match="closed"):
        store.tally()


# Killed, not asked

WRITER = """
    store = open_store({path!r})
    store.begin(contract_plan(), {{}})
    journal = Journal(store, runs=7)
    for index in range(len(list(store.observations())), 100_000):
        for durable in journal.add(Observation(RunKey("i1", "a", index), float(index), seed=index)):
            print(durable.key.index)
        sys.stdout.flush()
"""


@pytest.mark.parametrize("kills", [4, pytest.param(16, marks=pytest.mark.slow)])
def test_a_killed_writer_loses_no_acknowledged_run_and_leaves_a_sound_file(study, start_elsewhere, kills):
    acknowledged = -1
    pause = random.Random(1)
    for _ in range(kills):
        writer = start_elsewhere(WRITER.format(path=str(study)))
        first = writer.stdout.readline()
        time.sleep(pause.uniform(0.0, 0.15))
        writer.kill()
        told = [int(line) for line in [first, *writer.stdout] if line.endswith("\n")]
        writer.wait()
        assert told[0] > acknowledged - 7, "recording went on where it had stopped"
        acknowledged = max(acknowledged, *told)
        with read_store(study) as store:
            values = [each.value for each in store.observations()]
        assert values == [float(index) for index in range(len(values))]
        assert len(values) > acknowledged
    with open_store(study) as store:
        assert len(store.sessions()) == kills


# Plans


def test_a_plan_that_was_tampered_with_is_refused(study, filled):
    filled(study, 3)
    with closing(sqlite3.connect(study, isolation_level=None)) as connection:
        connection.execute("UPDATE plan SET record = '{}'")
    with read_store(study) as store, pytest.raises(StoreUnusable, match=r"damaged .*plan"):
        store.plans()


def test_another_plan_names_the_field_and_the_way_out(study, filled):
    filled(study, 3)
    changed = {"a": Command("a", ("solve", "-x", "{seed}", "{instance}")), "b": Command("b", ("b", "{instance}"))}
    with open_store(study) as store, pytest.raises(PlanMismatch) as problem:
        store.begin(contract_plan(algorithms=changed), {})
    assert str(problem.value) == (
        "study.db holds runs of another plan: command of algorithm 'a' is recorded as 'solve a {seed} {instance}',"
        " planned as 'solve -x {seed} {instance}'; give the changed one a new name, or use another results file"
    )


# Laws

names = st.sampled_from(["i1", "i2", "i3"])
numbers = st.floats(allow_nan=False, allow_infinity=False)
outcomes = st.one_of(
    st.builds(
        lambda value, measures: {"value": value, "measures": measures},
        numbers,
        st.none() | st.dictionaries(st.text(), numbers, max_size=3),
    ),
    st.builds(
        lambda status, message: {"value": None, "status": status, "message": message},
        st.sampled_from(["failed", "timeout", "lost"]),
        st.text(alphabet=st.characters(exclude_categories=()), max_size=30),
    ),
)
observations = st.builds(
    lambda instance, algorithm, index, attempt, round, seed, seconds, outcome: Observation(
        RunKey(instance, algorithm, index), seconds=seconds, seed=seed, attempt=attempt, round=round, **outcome
    ),
    names,
    st.sampled_from(["a", "b"]),
    st.integers(0, 3),
    st.integers(0, 2),
    st.integers(0, 5),
    st.integers(0, 2**31 - 1),
    st.integers(0, 1000).map(lambda eighths: eighths / 8),  # sums of these are exact
    outcomes,
)
finishes = st.builds(
    Finished,
    names,
    st.sampled_from(["d", "e"]),
    st.sampled_from(["accuracy reached", "budget spent"]),
    st.fixed_dictionaries({"a": st.integers(0, 3), "b": st.integers(0, 3)}),
    st.integers(1, 9),
    st.none() | st.floats(0, 1e3),
)
steps = st.lists(st.tuples(st.lists(observations, max_size=6), st.lists(finishes, max_size=2)), max_size=8)


class Model:
    """What a store must do with runs and finished instances, said in dictionaries: an independent account."""

    def __init__(self):
        self.attempts, self.done, self.begins = {}, {}, []

    def begin(self, plan, environment):
        self.begins.append((plan, environment))

    def plans(self):
        return self.begins[:1]

    def sessions(self):
        return self.begins

    def add(self, observed, finished):
        new = {}
        for each in map(storable, observed):
            if (each.key, each.attempt) in self.attempts.keys() | new.keys():
                raise StoreError("twice")
            new[each.key, each.attempt] = each
        self.attempts |= new
        reopened = {key.instance for key, attempt in new if attempt}
        self.done = {key: done for key, done in self.done.items() if key[0] not in reopened}
        self.done |= {(done.instance, done.decisions): done for done in finished}

    def observations(self, instance=None, *, superseded=False):
        order = contract_plan().instances
        runs = [each for each in self.attempts.values() if instance in (None, each.key.instance)]
        runs.sort(key=lambda each: (order.index(each.key.instance), each.key.algorithm, each.key.index, each.attempt))
        return runs if superseded else list({each.key: each for each in runs}.values())

    def failures(self):
        return tuple(each for each in self.observations() if each.status != "ok")

    def begun(self):
        return {each.key.instance for each in self.observations()}

    def finished(self, decisions):
        return {instance: done for (instance, digest), done in self.done.items() if digest == decisions}

    def tally(self):
        cells = {}
        for each in self.observations():
            cells.setdefault((each.key.instance, each.key.algorithm), []).append(each)
        return tuple(
            Tally(*cell, len(runs), sum(each.status == "ok" for each in runs), sum(each.seconds for each in runs))
            for cell, runs in cells.items()
        )

    def runs(self, decisions):
        counts = {name: done.counts for name, done in self.finished(decisions).items()}
        asked = [
            each
            for each in self.observations()
            if each.key.index < counts.get(each.key.instance, {}).get(each.key.algorithm, 0)
        ]
        if not asked:
            raise AmplerError("there must be at least one run, got none")
        return SimpleNamespace(
            instances=tuple(dict.fromkeys(each.key.instance for each in asked)),
            algorithms=tuple(sorted({each.key.algorithm for each in asked})),
            value=np.array([np.nan if each.value is None else each.value for each in asked]),
            status=np.array([STATUSES.index(each.status) for each in asked], np.uint8),
        )


@given(steps=steps, reopen=st.integers(0, 7))
def test_the_study_file_and_the_store_in_memory_do_what_the_model_does(steps, reopen, tmp_path_factory):
    path = tmp_path_factory.mktemp("law") / "study.db"
    file, memory, model = open_store(path), MemoryStore(), Model()
    try:
        for store in (file, memory, model):
            store.begin(contract_plan(), {})
        for place, step in enumerate(steps):
            if place == reopen:
                file.close()
                file = open_store(path)
                for store in (file, memory, model):
                    store.begin(contract_plan(), {})
            assert outcome(file, *step) == outcome(memory, *step) == outcome(model, *step)
        assert everything(file) == everything(memory) == everything(model)
        with read_store(path) as reader:
            assert everything(reader) == everything(model)
    finally:
        file.close()


def outcome(store, observed, finished):
    try:
        return store.add(observed, finished)
    except AmplerError as problem:
        return type(problem)


def everything(store):
    try:
        columns = store.runs("d")
        asked = (columns.instances, columns.algorithms, columns.value.tobytes(), columns.status.tobytes())
    except AmplerError as problem:
        asked = str(problem)
    return (
        [list(store.observations(instance)) for instance in ("i1", "i2", "i3", None)],
        list(store.observations(superseded=True)),
        (store.failures(), store.begun(), store.tally(), asked),
        (store.finished("d"), store.finished("e"), len(store.plans()), len(store.sessions())),
    )


@given(
    st.builds(
        contract_plan,
        seed=st.integers(-(2**63), 2**63 - 1),
        question=st.builds(
            Question,
            st.just("percent"),
            st.sampled_from(["a", "b"]),
            better=st.just("lower"),
            margin=st.none() | st.floats(1e-9, 1),
        ),
        instances=st.lists(st.text("αβγ/. x", min_size=1).filter(str.strip), min_size=2, unique_by=lambda n: n.strip()),
        policy=st.one_of(st.builds(Penalty, st.floats(1e-9, 1e9)), st.builds(Par, st.floats(1, 10), st.floats(1, 10))),
    )
)
def test_a_plan_survives_being_written_down(plan):
    assert from_json(to_json(plan)) == plan
    assert list(from_json(to_json(plan)).fingerprint.instances) == list(plan.fingerprint.instances)
