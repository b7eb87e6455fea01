"""What can be read of a damaged study file is saved, and what is lost is said."""

import json
import os
import random
import sqlite3
from contextlib import closing

import pytest

from ampler.core.errors import StoreBusy, StoreUnusable
from ampler.core.runs import Finished, Observation, RunKey
from ampler.study.run_inputs import run_seed
from ampler.study.store import open_store, read_store, rescue_store
from ampler.testing import contract_plan

PLAN = contract_plan()
RUNS = 600


def observation(instance, algorithm, index, **more):
    seed = run_seed(PLAN.fingerprint.seed, instance, algorithm, index)
    return Observation(RunKey(instance, algorithm, index), index / 3, seed=seed, **more)


def first_runs():
    return [observation("i1", name, index) for name in ("a", "b") for index in range(RUNS // 2)]


def fill(path):
    with open_store(path) as store:
        store.begin(PLAN, {"python": "3"})
        store.add(first_runs())
        failed = Observation(RunKey("i2", "a", 0), None, status="failed", message="why", seed=run_seed(
            PLAN.fingerprint.seed, "i2", "a", 0))  # fmt: skip
        again = observation("i2", "a", 0, attempt=1, measures={"gap": 0.5}, cpu=1.5, started=2.5)
        store.add([failed])
        store.add([again], [Finished("i1", PLAN.decisions, "runs done", {"a": 300, "b": 300}, 1, 0.25)])


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "study.db"
    fill(path)
    return path


@pytest.fixture
def damaged(sound, study):
    study.write_bytes(sound.read_bytes())
    return study


@pytest.fixture
def new(tmp_path):
    return tmp_path / "new.db"


def told(path):
    with read_store(path) as store:
        runs = list(store.observations(superseded=True))
        return runs, store.plans(), store.sessions(), list(store.all_finished()), store.decisions(), store.meaning()


def test_a_sound_file_is_saved_whole(damaged, new):
    rescued = rescue_store(damaged, new)

    assert (rescued.runs, rescued.missing, rescued.lost) == (RUNS + 2, 0, ())
    assert told(new) == told(damaged)
    assert not [name for name in os.listdir(new.parent) if name.endswith((".part", ".lock"))]


def test_runs_that_only_the_log_has_are_saved(study, new, tmp_path):
    with open_store(study) as store:
        store.begin(PLAN, {})
        store.add([observation("i1", "a", 0)])
        store.close = lambda: None  # as a driver that was killed leaves it
        for ending in ("", "-wal"):
            (tmp_path / f"killed.db{ending}").write_bytes((tmp_path / f"study.db{ending}").read_bytes())
        type(store).close(store)

    assert rescue_store(tmp_path / "killed.db", new).runs == 1


@pytest.mark.parametrize("lost", [12, 13, 14, 15])
def test_an_overwritten_page_costs_its_own_runs_alone(damaged, new, lost):
    content = bytearray(damaged.read_bytes())
    at = len(content) * lost // 16 // 4096 * 4096
    content[at : at + 4096] = random.Random(lost).randbytes(4096)
    damaged.write_bytes(content)
    before = {seen.key: seen for seen in first_runs()}

    rescued = rescue_store(damaged, new)

    after, *_ = told(new)
    assert all(before[seen.key] == seen for seen in after if seen.attempt == 0 and seen.status == "ok")
    assert len(after) == rescued.runs
    assert rescued.runs >= RUNS - 120 or rescued.runs == 0
    assert rescued.runs + rescued.missing >= RUNS or rescued.lost


def test_a_file_that_lost_its_end_says_how_many_runs_are_missing_and_goes_on_as_a_study(damaged, new):
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size * 4 // 5])

    rescued = rescue_store(damaged, new)

    assert 0 < rescued.runs < RUNS
    with open_store(new) as store:
        store.begin(PLAN, {})
        there = {seen.key for seen in store.observations()}
        missing = [seen for seen in first_runs() if seen.key not in there]
        store.add(missing)
        assert sum(tally.runs for tally in store.tally() if tally.instance == "i1") == RUNS


def test_a_run_in_the_wrong_place_is_left_out_by_its_seed(damaged, new):
    with closing(sqlite3.connect(damaged)) as connection, connection:
        connection.execute("DROP TRIGGER run_is_not_changed")
        connection.execute('UPDATE run SET "index" = 5000 WHERE "index" = 7 AND algorithm = 1')

    rescued = rescue_store(damaged, new)

    assert rescued.runs == RUNS + 1
    assert "1 unreadable record" in rescued.lost
    runs, _, _, finished, *_ = told(new)
    assert all(seen.key.index < 5000 for seen in runs)
    assert finished == [], "an instance that lacks a run is not finished"


def test_a_session_that_is_lost_is_said_to_be_unknown(damaged, new):
    with closing(sqlite3.connect(damaged)) as connection, connection:
        connection.execute("DELETE FROM session")

    rescued = rescue_store(damaged, new)

    assert any("session" in line for line in rescued.lost)
    assert "unknown" in json.dumps(told(new)[2][0].environment)


@pytest.mark.parametrize("damage", ["half of it", "its first page", "all of it"])
def test_what_the_file_has_lost_comes_from_its_backup(sound, study, new, damage):
    content = sound.read_bytes()
    study.with_name("study.db.bak").write_bytes(sound.with_name("study.db.bak").read_bytes())
    study.write_bytes({
        "half of it": content[: len(content) // 2],
        "its first page": bytes(4096) + content[4096:],
        "all of it": b"",
    }[damage])  # fmt: skip

    assert rescue_store(study, new).runs == RUNS + 2
    assert told(new) == told(sound)


def test_runs_that_are_younger_than_the_backup_are_saved_too(sound, study, new):
    study.write_bytes(sound.read_bytes())
    study.with_name("study.db.bak").write_bytes(sound.read_bytes())
    with open_store(study) as store:
        store.begin(PLAN, {"python": "4"})
        store.add([observation("i2", "b", 0)])
        backup = study.with_name("study.db.bak")
    backup.write_bytes(sound.read_bytes())
    with closing(sqlite3.connect(study)) as connection, connection:
        connection.execute("UPDATE plan SET record = 'x'")

    rescued = rescue_store(study, new)

    assert rescued.runs == RUNS + 3
    assert any("session" in line for line in rescued.lost)


def test_the_backup_of_another_study_is_left_alone(sound, study, new):
    study.write_bytes(sound.read_bytes())
    with closing(sqlite3.connect(study)) as connection, connection:
        connection.execute("UPDATE study SET seed = 5")
    study.with_name("study.db.bak").write_bytes(study.read_bytes())
    study.write_bytes(sound.read_bytes())

    assert told(study) == told(sound)
    assert rescue_store(study, new).runs == RUNS + 2


def test_a_rescue_overwrites_nothing_and_leaves_the_damaged_file_as_it_is(damaged, new):
    before = damaged.read_bytes()
    new.write_text("mine")
    with pytest.raises(StoreUnusable, match=r"new\.db is there"):
        rescue_store(damaged, new)
    with pytest.raises(StoreUnusable, match="is there"):
        rescue_store(damaged, damaged)

    assert (new.read_text(), damaged.read_bytes()) == ("mine", before)


@pytest.mark.parametrize("content", [b"", b"text", bytes(10_000), random.Random(1).randbytes(50_000)])
def test_where_nothing_can_be_read_nothing_is_written(study, new, content):
    study.write_bytes(content)

    with pytest.raises(StoreUnusable, match="nothing of a study can be read"):
        rescue_store(study, new)
    assert os.listdir(new.parent) == ["study.db"]


def test_a_study_that_is_being_run_is_not_rescued(study, new, begun):
    with begun(study), pytest.raises(StoreBusy, match=r"study\.db"):
        rescue_store(study, new)


def test_what_is_not_there_cannot_be_rescued(study, new):
    with pytest.raises(StoreUnusable, match="no results file"):
        rescue_store(study, new)
