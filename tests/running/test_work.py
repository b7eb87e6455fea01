"""What travels to a worker and back: by name, unpacked once, with all that a run gave."""

import pickle
from dataclasses import fields

import pytest

from ampler.core.plan import Function, Instance, Limits
from ampler.core.runs import Observation, RunKey
from ampler.running import work as work_module
from ampler.running.one_run.readings import Outcome
from ampler.running.work import (
    REPORTED,
    CannotLoad,
    Parcel,
    Task,
    Work,
    names_of,
    observed,
    run_parcel,
    run_taken,
    take_packed,
)
from ampler.study.run_inputs import run_seed


def measuring(instance, seed):
    if seed % 2:
        raise ValueError("odd")
    return {"cost": seed, "gap": 0.5}


WORK = Work({"a": Function("a", measuring, "x:a")}, {"i1": Instance("i1")}, seed=5, limits=Limits())
TASKS = [Task(RunKey("i1", "a", index), attempt=index % 2, round=index) for index in range(12)]


def test_all_that_a_run_gives_has_its_place_in_an_observation():
    assert {*REPORTED, "line"} == set(Outcome._fields), "a line is shown by a check, and not recorded"
    assert {*REPORTED, "key", "seed", "attempt", "round"} == {field.name for field in fields(Observation)}


def test_what_comes_back_are_the_runs_in_their_order_with_all_they_gave():
    seen = observed(TASKS, pickle.loads(pickle.dumps(WORK.run(names_of(TASKS)))))

    assert [(each.key, each.attempt, each.round) for each in seen] == [(t.key, t.attempt, t.round) for t in TASKS]
    assert [each.seed for each in seen] == [run_seed(5, "i1", "a", index) for index in range(12)]
    assert {each.status for each in seen} == {"ok", "failed"}
    for each in seen:
        assert each.value == (None if each.seed % 2 else each.seed)
        assert each.measures == (None if each.seed % 2 else {"cost": each.seed, "gap": 0.5})
        assert ("odd" in each.message) == bool(each.seed % 2)
        assert each.seconds > 0


PLACES = []  # a list that the algorithm closes over would be its own in each run


def test_the_place_of_the_run_under_way_is_told():
    from ctypes import c_long

    at = c_long(-1)
    PLACES.clear()
    noting = Function("a", lambda instance, seed: PLACES.append(at.value) or 1.0, "x:a")
    Work({"a": noting}, WORK.instances, seed=5, limits=Limits()).run(names_of(TASKS), at)

    assert list(range(12)) == PLACES


@pytest.fixture
def no_parcels(monkeypatch):
    monkeypatch.setattr(work_module, "_parcels", {})


def seeded(seed):
    """Work of its own: functions by name, as everybody can pickle them."""
    return Work({"a": Function("a", measuring, "x:a")}, {"i1": Instance("i1")}, seed=seed, limits=Limits())


def test_a_parcel_is_unpacked_once_however_often_it_comes(no_parcels):
    parcel = Parcel(seeded(1))
    first, second = (pickle.loads(pickle.dumps(parcel)) for _ in range(2))

    assert first is second
    assert first is not parcel
    assert run_parcel(first, names_of(TASKS)).columns["value"] == parcel.work.run(names_of(TASKS)).columns["value"]


def test_only_the_last_parcels_are_remembered(no_parcels):
    parcels = [Parcel(seeded(seed)) for seed in range(work_module.REMEMBERED + 2)]
    first = pickle.loads(pickle.dumps(parcels[0]))
    for parcel in parcels[1:]:
        pickle.loads(pickle.dumps(parcel))
    again = pickle.loads(pickle.dumps(parcels[0]))

    assert len(work_module._parcels) == work_module.REMEMBERED
    assert again is not first
    assert again.work.seed == first.work.seed == 0


def test_parcels_of_studies_that_share_workers_do_not_push_each_other_out(no_parcels):
    parcels = [Parcel(seeded(seed)) for seed in range(10)]
    first, *_ = [pickle.loads(pickle.dumps(parcel)) for parcel in parcels]

    assert pickle.loads(pickle.dumps(parcels[0])) is first


def test_work_is_taken_once_as_bytes_and_runs_need_its_digest_alone(no_parcels):
    digest, data, folders = Parcel(seeded(1)).packed
    with pytest.raises(CannotLoad, match="does not have the work"):
        run_taken(digest, names_of(TASKS))

    take_packed(data, digest=digest, folders=folders)

    assert run_taken(digest, names_of(TASKS)).columns["value"] == seeded(1).run(names_of(TASKS)).columns["value"]


@pytest.mark.parametrize("problem", [ImportError("no such module"), SystemExit(3), MemoryError()])
def test_work_that_cannot_be_unpacked_is_told_with_the_reason(no_parcels, monkeypatch, problem):
    def loads(data):
        raise problem

    monkeypatch.setattr(work_module.pickle, "loads", loads)

    with pytest.raises(CannotLoad, match=f"{type(problem).__name__}: {problem}"):
        take_packed(b"", digest="d", folders=())
    assert work_module._parcels == {}


def test_different_work_is_never_taken_for_the_same(no_parcels):
    seeds = [pickle.loads(pickle.dumps(Parcel(seeded(seed)))).work.seed for seed in (3, 4, 3)]

    assert seeds == [3, 4, 3]
