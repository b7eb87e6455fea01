"""The study file: the contract of a store, and what only a file can suffer."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ampler.core.errors import AmplerError, PlanMismatch, StoreBusy, StoreError, StoreUnusable
from ampler.core.failures import Par, Penalty
from ampler.core.values import Command, Finished, Observation, Question, RunKey
from ampler.study.record import from_json, to_json
from ampler.study.store import Journal, environment, open_store, read_store
from ampler.study.store.filesystem import filesystem_type, on_network
from ampler.study.store.schema import MIGRATIONS, Migration, check_sqlite, migrate
from ampler.testing import STORE_CONTRACT, MemoryStore, contract_plan

# What a child process starts with.
PRELUDE = """
import os, resource, signal, sys, time
from pathlib import Path
from ampler.core.errors import *
from ampler.core.values import *
from ampler.study.store import *
from ampler.testing import contract_plan
"""


@pytest.fixture
def study(tmp_path):
    return tmp_path / "study.db"


@pytest.fixture
def start_elsewhere():
    """Start code in a process of its own; what still runs at the end is ended."""
    started = []

    def start(code, *, mount=""):
        python = [sys.executable, "-c", PRELUDE + dedent(code)]
        inside = ["unshare", "-rm", "sh", "-c", f'{mount} && exec "$@"', "sh"] if mount else []
        process = subprocess.Popen([*inside, *python], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def elsewhere(start_elsewhere):
    """Run code in a process of its own and wait for its end."""

    def run(code, **how):
        process = start_elsewhere(code, **how)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    return run


@pytest.fixture
def own_mounts():
    """Skip where a process may not have file systems of its own."""
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("needs Linux user namespaces")


def runs(number, *, algorithm="a", first=0):
    return [Observation(RunKey("i1", algorithm, index), index / 2) for index in range(first, first + number)]


def filled(path, number):
    with open_store(path) as store:
        store.begin(contract_plan(), {})
        store.add(runs(number))


@contextmanager
def begun(path):
    with open_store(path) as store:
        store.begin(contract_plan(), {})
        yield store


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


def test_a_second_writer_is_refused_and_told_who_holds_the_study(study, elsewhere):
    with open_store(study):
        with pytest.raises(StoreBusy, match=r"already open .* in this process"):
            open_store(study)
        answer = elsewhere(f"open_store({str(study)!r})")
        assert answer.returncode == 1
        assert f"StoreBusy: study.db is being run by process {os.getpid()} on " in answer.stderr
    with open_store(study):
        pass
    assert elsewhere(f"open_store({str(study)!r}).close()").returncode == 0


def test_a_refused_writer_does_not_loosen_the_lock_of_the_first(study, elsewhere):
    with open_store(study) as store:
        for _ in range(3):
            with pytest.raises(StoreBusy):
                open_store(study.parent / "." / study.name)
            assert "StoreBusy" in elsewhere(f"open_store({str(study)!r})").stderr
        store.begin(contract_plan(), {})
        store.add(runs(3))
    assert not study.with_name("study.db.lock").exists()


def test_the_lock_is_not_inherited_by_forked_workers(study, elsewhere):
    """A worker that outlives a killed driver must not keep the study locked."""
    code = f"""
        store = open_store({str(study)!r})
        store.begin(contract_plan(), {{}})
        child = os.fork()
        if child == 0:
            os.close(1); os.close(2)
            store.close()
            time.sleep(60)
        print(child, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    worker = int(elsewhere(code).stdout)
    try:
        with open_store(study) as store:
            assert len(store.plans()) == 1
    finally:
        os.kill(worker, signal.SIGKILL)


def test_a_reader_sees_a_running_study_and_cannot_change_it(study):
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


def test_a_closed_study_is_one_file_and_reading_leaves_it_so(study):
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


def test_a_killed_writer_loses_no_acknowledged_run_and_leaves_a_sound_file(study, start_elsewhere):
    acknowledged = -1
    pause = random.Random(1)
    for _ in range(8):
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
        assert len(store.sessions()) == 8


# Files that are no study files


def test_a_file_that_is_no_sqlite_file_is_refused_and_left_alone(study):
    study.write_text("instance,algorithm,value\n" * 100)
    for opening in (open_store, read_store):
        with pytest.raises(StoreUnusable, match=r"^study\.db is no SQLite file"):
            opening(study)
    assert study.read_text() == "instance,algorithm,value\n" * 100
    assert [path.name for path in study.parent.iterdir()] == ["study.db"]


def test_an_sqlite_file_of_another_program_is_refused_and_left_alone(study):
    with closing(sqlite3.connect(study)) as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
    before = study.read_bytes()
    for opening in (open_store, read_store):
        with pytest.raises(StoreUnusable, match="another program"):
            opening(study)
    assert study.read_bytes() == before


def test_a_file_of_a_later_version_is_refused(study):
    open_store(study).close()
    with closing(sqlite3.connect(study)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 6}")
    for opening in (open_store, read_store):
        with pytest.raises(StoreUnusable, match=rf"newer ampler \(file version {len(MIGRATIONS) + 6}, .* upgrade"):
            opening(study)


def test_a_damaged_file_is_refused_not_believed(study):
    filled(study, 4000)
    sound = study.read_bytes()
    pages = len(sound) // 4096
    outcomes = set()
    for page in range(1, pages, max(1, pages // 12)):  # page 0 is the header
        study.write_bytes(
            sound[: page * 4096] + bytes(random.Random(page).randbytes(4096)) + sound[(page + 1) * 4096 :]
        )
        with pytest.raises(StoreUnusable, match=r"^study\.db is damaged .* backup") as problem:
            open_store(study)
        outcomes.add(str(problem.value).partition("(")[0])
        assert "\n" not in str(problem.value)
    study.write_bytes(sound[: len(sound) // 2])
    with pytest.raises(StoreUnusable, match="damaged"):
        open_store(study)
    study.write_bytes(sound)
    open_store(study).close()
    assert outcomes == {"study.db is damaged "}


def test_a_plan_that_was_tampered_with_is_refused(study):
    filled(study, 3)
    with closing(sqlite3.connect(study, isolation_level=None)) as connection:
        connection.execute("UPDATE plan SET record = '{}'")
    with read_store(study) as store, pytest.raises(StoreUnusable, match=r"damaged .*plan"):
        store.plans()


def test_threads_of_one_process_do_not_write_one_study_together(study):
    with ThreadPoolExecutor(8) as threads:
        opened = list(threads.map(lambda _: opened_or_busy(study), range(8)))
    stores = [store for store in opened if store is not None]
    assert len(stores) == 1
    stores[0].close()


def opened_or_busy(path):
    try:
        return open_store(path)
    except StoreBusy:
        return None


def test_an_empty_file_is_a_study_to_be_begun(study):
    study.touch()
    with pytest.raises(StoreUnusable, match="no study in it yet"):
        read_store(study)
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        assert len(store.plans()) == 1


@pytest.mark.parametrize(
    ("path", "message"),
    [("nowhere/study.db", "folder .*nowhere does not exist"), ("", "is a folder; name a file")],
)
def test_a_place_where_no_file_can_be_is_refused(tmp_path, path, message):
    with pytest.raises(StoreUnusable, match=message):
        open_store(tmp_path / path)


def test_reading_a_study_that_is_not_there_makes_none(study):
    with pytest.raises(StoreUnusable, match="there is no study file"):
        read_store(study)
    assert list(study.parent.iterdir()) == []


def test_another_plan_names_the_field_and_the_way_out(study):
    filled(study, 3)
    changed = {"a": Command("a", ("solve", "-x", "{seed}", "{instance}")), "b": Command("b", ("b", "{instance}"))}
    with open_store(study) as store, pytest.raises(PlanMismatch) as problem:
        store.begin(contract_plan(algorithms=changed), {})
    assert str(problem.value) == (
        "study.db holds runs of another plan: command of algorithm 'a' is recorded as 'solve a {seed} {instance}',"
        " planned as 'solve -x {seed} {instance}'; give the changed one a new name, or use another study file"
    )


def test_an_old_sqlite_is_named_with_the_version_that_is_needed():
    check_sqlite((3, 37, 0))
    with pytest.raises(StoreUnusable, match=r"SQLite 3\.37 or newer, this Python has 3\.31\.1"):
        check_sqlite((3, 31, 1))


# Disks that do not take what is written

FILLING = """
    recorded, sentence = 0, ""
    try:
        for first in range(0, 1_000_000, 50):
            store.add(Observation(RunKey("i1", "a", first + n), 1.0, message="x" * 40) for n in range(50))
            recorded += 50
    except StoreUnusable as problem:
        sentence = str(problem)
    assert len(list(store.observations())) == recorded > 0, "what is open goes on reading"
    store.close()
    with read_store("study.db") as again:
        assert len(list(again.observations())) == recorded
"""
GOING_ON = """
    with open_store("study.db") as store:
        store.begin(contract_plan(), {})
        store.add([Observation(RunKey("i1", "b", 0), 1.0)])
        assert len(list(store.observations())) == recorded + 1
    print(sentence)
"""


def test_a_full_disk_is_one_sentence_and_the_study_goes_on_when_there_is_space(tmp_path, elsewhere, own_mounts):
    before = f"""
        os.chdir({str(tmp_path)!r})
        Path("ballast").write_bytes(bytes(500_000))
        store = open_store("study.db")
        store.begin(contract_plan(), {{}})
    """
    code = joined(before, FILLING, "Path('ballast').unlink()", GOING_ON)
    answer = elsewhere(code, mount=f"mount -t tmpfs -o size=1m tmpfs '{tmp_path}'")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == (
        "study.db cannot be written: the disk is full; what was recorded is kept, free space and run again\n"
    )


def test_a_study_cannot_be_begun_on_a_full_disk(tmp_path, elsewhere, own_mounts):
    code = f"""
        os.chdir({str(tmp_path)!r})
        try:
            Path("ballast").write_bytes(bytes(2_000_000))
        except OSError:
            pass
        try:
            open_store("study.db")
        except StoreUnusable as problem:
            print(problem)
        Path("ballast").unlink()
        open_store("study.db").close()
    """
    answer = elsewhere(code, mount=f"mount -t tmpfs -o size=1m tmpfs '{tmp_path}'")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("study.db cannot be written: the disk is full;")


def test_a_limit_on_the_size_of_files_is_one_sentence_and_the_study_stays_sound(tmp_path, elsewhere):
    before = f"""
        os.chdir({str(tmp_path)!r})
        store = open_store("study.db")
        store.begin(contract_plan(), {{}})
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, most))
    """
    answer = elsewhere(joined(before, FILLING, "resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))", GOING_ON))
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("study.db cannot be read or written (disk I/O error)")
    assert answer.stdout.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_named_and_its_study_can_be_read(tmp_path, study, elsewhere, own_mounts):
    filled(study, 5)
    code = f"""
        with read_store({str(study)!r}) as store:
            assert len(list(store.observations())) == 5
        for name in ("study.db", "new.db"):
            try:
                open_store(Path({str(tmp_path)!r}, name))
            except StoreUnusable as problem:
                print(problem)
    """
    mount = f"mount --bind '{tmp_path}' '{tmp_path}' && mount -o remount,ro,bind '{tmp_path}'"
    answer = elsewhere(code, mount=mount)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines() == [
        f"{tmp_path / name} cannot be written: folder {tmp_path} gives 'Read-only file system';"
        " choose another with --store"
        for name in ("study.db", "new.db")
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


def test_a_folder_without_rights_is_named_and_its_study_can_be_read(elsewhere):
    """Rights do not bind the superuser, who becomes nobody for this; so the folder is one that everybody can reach."""
    with tempfile.TemporaryDirectory() as name:
        folder, study = Path(name), Path(name, "study.db")
        filled(study, 5)
        study.chmod(0o444)
        folder.chmod(0o555)
        code = f"""
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            with read_store({str(study)!r}) as store:
                print(len(list(store.observations())))
            open_store({str(study)!r})
        """
        answer = elsewhere(code)
        folder.chmod(0o755)
    assert answer.stdout == "5\n", answer.stderr
    assert f"StoreUnusable: {study} cannot be written: folder {folder} gives 'Permission denied'" in answer.stderr


def joined(*pieces):
    return "".join(map(dedent, pieces))


# Network file systems


def test_the_type_of_a_file_system_is_that_of_the_nearest_mount(tmp_path):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
        "42 27 0:39 / /home rw shared:1 - nfs4 server:/home rw,vers=4.2\n"
        "43 42 0:40 / /home/me/with\\040blank rw - tmpfs tmpfs rw\n"
        "44 27 0:41 / /homes rw - fuse.sshfs me@there rw\n"
        "45 27 0:41 / /homes rw - lustre over rw\n"
    )
    for path, kind in [
        ("/study.db", "ext4"),
        ("/home/me/study.db", "nfs4"),
        ("/home/me/with blank/study.db", "tmpfs"),
        ("/homestead/study.db", "ext4"),
        ("/homes/study.db", "lustre"),
    ]:
        assert filesystem_type(path, mounts=mounts) == kind
    assert filesystem_type("/study.db", mounts=tmp_path / "none") == ""
    assert not on_network(tmp_path)


def test_on_a_network_file_system_a_rollback_journal_and_one_process_suffice(study, monkeypatch):
    """The file system cannot be had in a test, the way the study file then works can."""
    filled(study, 2)  # in WAL, as on the disk it was copied from
    monkeypatch.setattr("ampler.study.store.connections.on_network", lambda path: True)
    with begun(study) as store:
        store.add(runs(3, first=2))
        assert not list(study.parent.glob("*-shm")) + list(study.parent.glob("*-wal"))
        monkeypatch.setattr("ampler.study.store.connections.WAIT", 0.05)
        with pytest.raises(StoreBusy, match="in use"), read_store(study) as reader:
            list(reader.observations())
    with read_store(study) as reader:
        assert len(list(reader.observations())) == 5
    assert study.read_bytes()[18:20] == b"\x01\x01", "the file format's mark of a rollback journal"


# The schema


def test_every_table_explains_itself_and_is_strict(study):
    filled(study, 1)
    with closing(sqlite3.connect(study)) as connection:
        tables = connection.execute(
            "SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view')"
        ).fetchall()
        strict = dict(connection.execute("SELECT name, strict FROM pragma_table_list WHERE type = 'table'").fetchall())
    assert {name for name, *_ in tables} >= {"study", "algorithm", "instance", "plan", "session", "run", "finished"}
    for name, kind, sql in tables:
        assert "    -- " in sql, f"{name} has no comment"
        assert kind == "view" or strict[name] == 1, name


def test_a_recorded_run_cannot_be_changed_or_removed_by_any_program(study):
    filled(study, 1)
    with closing(sqlite3.connect(study)) as connection:
        for statement in ("UPDATE run SET value = 0", "DELETE FROM run"):
            with pytest.raises(sqlite3.IntegrityError, match="a run is never"):
                connection.execute(statement)


def test_the_view_of_the_runs_that_count_names_them(study):
    with begun(study) as store:
        store.add([Observation(RunKey("i1", "a", 0), None, status="failed"), Observation(RunKey("i2", "b", 3), 4.0)])
        store.add([Observation(RunKey("i1", "a", 0), 2.5, attempt=1)])
    with closing(sqlite3.connect(study)) as connection:
        rows = connection.execute(
            'SELECT instance, algorithm, "index", attempt, value, status FROM last_run'
        ).fetchall()
    assert sorted(rows) == [("i1", "a", 0, 1, 2.5, "ok"), ("i2", "b", 3, 0, 4.0, "ok")]


def test_migrations_run_once_in_their_order_and_all_or_none(study):
    filled(study, 2)
    more = (*MIGRATIONS, Migration("notes", "CREATE TABLE note (text TEXT) STRICT;"))
    broken = (*more, Migration("broken", "INSERT INTO note VALUES ('half'); CREATE TABLE run (x);"))
    with closing(sqlite3.connect(study, isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            migrate(connection, "study.db", broken)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        for _ in range(2):
            migrate(connection, "study.db", more)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(more),)
        assert connection.execute("SELECT count(*) FROM note").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM run").fetchone() == (2,)


def test_the_environment_is_told_in_words_and_names_no_machine():
    told = environment()
    assert {"python", "ampler", "numpy", "scipy", "system", "processor", "cores"} == told.keys()
    assert all(isinstance(text, str) and text for text in told.values())
    assert os.uname().nodename not in " ".join(told.values()).split()


# Group commit


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_group_is_written_when_it_is_full_or_has_waited_long_enough():
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


def test_a_group_that_cannot_be_written_still_waits():
    store = MemoryStore()
    journal = Journal(store, runs=2)
    one, two = runs(2)
    journal.add(one)
    with pytest.raises(StoreError):
        journal.add(two)
    store.begin(contract_plan(), {})
    assert journal.flush() == [one, two]


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


@given(
    st.builds(
        contract_plan,
        seed=st.integers(-(2**63), 2**63 - 1),
        question=st.builds(
            Question, st.just("percent"), st.sampled_from(["a", "b"]), margin=st.none() | st.floats(1e-9, 1)
        ),
        instances=st.lists(st.text("αβγ/. x", min_size=1).filter(str.strip), min_size=2, unique_by=lambda n: n.strip()),
        policy=st.one_of(st.builds(Penalty, st.floats(1e-9, 1e9)), st.builds(Par, st.floats(1, 10), st.floats(1, 10))),
    )
)
def test_a_plan_survives_being_written_down(plan):
    assert from_json(to_json(plan)) == plan
    assert list(from_json(to_json(plan)).fingerprint.instances) == list(plan.fingerprint.instances)
