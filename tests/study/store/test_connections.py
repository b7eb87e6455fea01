"""Files that are no study files, disks that do not take what is written, and the sentence for each."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from textwrap import dedent

import pytest

from ampler.core.errors import StoreBusy, StoreUnusable
from ampler.study.store import open_store, read_store
from ampler.study.store.access import MIGRATIONS
from ampler.testing import contract_plan


@pytest.fixture
def own_mounts():
    """Skip where a process may not have file systems of its own."""
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("needs Linux user namespaces")


def test_a_file_that_is_no_sqlite_file_is_refused_and_left_alone(study):
    study.write_text("instance,algorithm,value\n" * 100)
    for opening in (open_store, read_store):
        with pytest.raises(StoreUnusable, match=r"^study\.db is not a results file"):
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


def test_a_damaged_file_is_refused_not_believed(study, filled):
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
    with pytest.raises(StoreUnusable, match="there is no results file"):
        read_store(study)
    assert list(study.parent.iterdir()) == []


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
        "study.db cannot be written: the disk is full; recorded runs are safe, free space and run again\n"
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


def test_a_folder_that_cannot_be_written_is_named_and_its_study_can_be_read(
    tmp_path, study, elsewhere, own_mounts, filled
):
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
        " choose another with path"
        for name in ("study.db", "new.db")
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"study.db", "study.db.bak"}


def test_a_folder_without_rights_is_named_and_its_study_can_be_read(elsewhere, filled):
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


def test_on_a_network_file_system_a_rollback_journal_and_one_process_suffice(study, monkeypatch, runs, filled, begun):
    """The file system cannot be had in a test, the way the study file then works can."""
    filled(study, 2)  # in WAL, as on the disk it was copied from
    monkeypatch.setattr("ampler.study.store.access.on_network", lambda path: True)
    with begun(study) as store:
        store.add(runs(3, first=2))
        assert not list(study.parent.glob("*-shm")) + list(study.parent.glob("*-wal"))
        monkeypatch.setattr("ampler.study.store.access.WAIT", 0.05)
        with pytest.raises(StoreBusy, match="in use"), read_store(study) as reader:
            list(reader.observations())
    with read_store(study) as reader:
        assert len(list(reader.observations())) == 5
    assert study.read_bytes()[18:20] == b"\x01\x01", "the file format's mark of a rollback journal"
