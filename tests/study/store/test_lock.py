"""One writer at a time: who holds a study, and what is told to the others."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from ampler.core.errors import StoreBusy, StoreUnusable
from ampler.study.store import access, open_store
from ampler.testing import contract_plan


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


def test_a_refused_writer_does_not_loosen_the_lock_of_the_first(study, elsewhere, runs):
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


@pytest.mark.parametrize("kind", ["a link", "a folder that is a link", "a path with dots"])
def test_a_study_is_run_once_whatever_its_file_is_called(study, tmp_path, elsewhere, kind):
    open_store(study).close()
    other = {
        "a link": tmp_path / "link.db",
        "a folder that is a link": tmp_path / "folder" / "study.db",
        "a path with dots": tmp_path / "." / "sub" / ".." / "study.db",
    }[kind]
    (tmp_path / "sub").mkdir()
    (tmp_path / "folder").symlink_to(tmp_path)
    (tmp_path / "link.db").symlink_to("study.db")

    with open_store(study):
        with pytest.raises(StoreBusy):
            open_store(other)
        assert "StoreBusy" in elsewhere(f"open_store({str(other)!r})").stderr
    with open_store(other):
        assert "StoreBusy" in elsewhere(f"open_store({str(study)!r})").stderr
    open_store(study).close()
    assert not [path.name for path in tmp_path.iterdir() if path.name.endswith(".lock")]


def test_of_many_who_come_and_go_one_holds_the_lock_at_a_time(study, tmp_path, start_elsewhere):
    """The file is removed by whoever leaves: the next one must not lock what is no longer there."""
    code = f"""
        from ampler.study.store.access import StudyLock
        def comes_and_goes(times, take, give_back, patience):
            held = 0
            while held < times:
                try:
                    taken = take(Path({str(study)!r}))
                except StoreBusy:
                    time.sleep(patience)
                    continue
                with open({str(tmp_path / "inside")!r}, "x"):  # fails when somebody else is inside
                    held += 1
                os.unlink({str(tmp_path / "inside")!r})
                give_back(taken)
            return held
        print(comes_and_goes(200, StudyLock, StudyLock.release, 0.0))
        print(comes_and_goes(8, open_store, lambda store: store.close(), 0.004))
    """
    started = [start_elsewhere(code) for _ in range(3)]
    answers = [process.communicate() for process in started]
    assert [out for out, _ in answers] == ["200\n8\n"] * 3, answers


@pytest.mark.parametrize("kind", ["a link", "a link to nothing", "a hard link", "a pipe", "a folder"])
def test_what_was_planted_in_the_place_of_the_lock_is_not_written_to(study, tmp_path, kind):
    target, lock = tmp_path / "precious.txt", tmp_path / "study.db.lock"
    target.write_text("precious")
    {
        "a link": lambda: lock.symlink_to(target),
        "a link to nothing": lambda: lock.symlink_to(tmp_path / "made.txt"),
        "a hard link": lambda: lock.hardlink_to(target),
        "a pipe": lambda: os.mkfifo(lock),
        "a folder": lock.mkdir,
    }[kind]()

    with pytest.raises(StoreUnusable) as problem:
        open_store(study)

    assert "\n" not in str(problem.value)
    assert target.read_text() == "precious"
    assert not (tmp_path / "made.txt").exists()


def test_a_lock_on_a_file_that_its_holder_has_just_removed_is_taken_anew(study, monkeypatch):
    """The next one would lock the file that is there, and both would write."""
    opened, really = [], access._opened

    def removed_at_first(path, about):
        opened.append(really(path, about))
        if len(opened) == 1:
            path.unlink()
        return opened[-1]

    monkeypatch.setattr(access, "_opened", removed_at_first)
    held = access.StudyLock(study)
    try:
        assert len(opened) == 2
        assert os.fstat(held._file).st_ino == held.path.stat().st_ino
    finally:
        held.release()
