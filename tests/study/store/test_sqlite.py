"""The study file: the contract of a store, and what only a file can suffer."""

from __future__ import annotations

import random
import sqlite3
import time
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ampler.core.errors import AmplerError, PlanMismatch, StoreError, StoreUnusable
from ampler.core.failures import Par, Penalty
from ampler.core.values import Command, Finished, Observation, Question, RunKey
from ampler.study.record import from_json, to_json
from ampler.study.store import open_store, read_store
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
    assert [path.name for path in study.parent.iterdir()] == ["study.db"]
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
        " planned as 'solve -x {seed} {instance}'; give the changed one a new name, or use another study file"
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


@pytest.mark.costly
@settings(max_examples=60, deadline=None)
@given(steps=steps, reopen=st.integers(0, 7))
def test_the_study_file_and_the_store_in_memory_cannot_be_told_apart(steps, reopen, tmp_path_factory):
    path = tmp_path_factory.mktemp("law") / "study.db"
    file, memory = open_store(path), MemoryStore()
    try:
        for store in (file, memory):
            store.begin(contract_plan(), {})
        for place, step in enumerate(steps):
            if place == reopen:
                file.close()
                file = open_store(path)
                file.begin(contract_plan(), {})
                memory.begin(contract_plan(), {})
            assert outcome(file, *step) == outcome(memory, *step)
        assert everything(file) == everything(memory)
        with read_store(path) as reader:
            assert everything(reader) == everything(memory)
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


@pytest.mark.costly
@given(
    st.builds(
        contract_plan,
        seed=st.integers(-(2**63), 2**63 - 1),
        question=st.builds(
            Question,
            st.just("percent"),
            st.sampled_from(["a", "b"]),
            better=st.sampled_from(["lower", "higher"]),
            margin=st.none() | st.floats(1e-9, 1),
        ),
        instances=st.lists(st.text("αβγ/. x", min_size=1).filter(str.strip), min_size=2, unique_by=lambda n: n.strip()),
        policy=st.one_of(st.builds(Penalty, st.floats(1e-9, 1e9)), st.builds(Par, st.floats(1, 10), st.floats(1, 10))),
    )
)
def test_a_plan_survives_being_written_down(plan):
    assert from_json(to_json(plan)) == plan
    assert list(from_json(to_json(plan)).fingerprint.instances) == list(plan.fingerprint.instances)
