"""A study file that is lost while a study runs is noticed at the next write, and its runs are saved beside it."""

from __future__ import annotations

import os
import shutil

import pytest

from ampler.core.errors import StoreUnusable
from ampler.study.store import merge_stores, open_store, read_store
from ampler.study.store.watch import FileWatch, holds
from ampler.testing import contract_plan


def replace(path):
    shutil.copy(path, path.with_name("copy.db"))
    os.replace(path.with_name("copy.db"), path)


def overwrite(path, content):
    with path.open("r+b") as file:
        file.write(content)


LOSSES = {
    "removed": lambda path: path.unlink(),
    "renamed": lambda path: path.rename(path.with_name("elsewhere.db")),
    "replaced": replace,
    "cut off": lambda path: os.truncate(path, 0),
    "cut in half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "overwritten by a text": lambda path: overwrite(path, b"instance,value\n" * 5000),
    "overwritten by zeros": lambda path: overwrite(path, bytes(path.stat().st_size)),
    "without its journal": lambda path: path.with_name("study.db-wal").unlink(),
}


def saved(folder):
    return folder / "study-saved.db"


@pytest.mark.parametrize("loss", LOSSES)
def test_a_lost_file_is_noticed_at_the_next_write_and_its_runs_are_saved(study, runs, loss):
    with open_store(study) as earlier:
        earlier.begin(contract_plan(), {})
        earlier.add(runs(20, algorithm="b"))
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        store.add(runs(10))
        LOSSES[loss](study)

        with pytest.raises(StoreUnusable, match=r"^study\.db .* while the study ran; .* saved in study-saved\.db"):
            store.add(runs(1, first=10))

        store.add(runs(2, first=10))  # what comes in last is saved too, and nothing is there twice
        with pytest.raises(StoreUnusable, match="saved in study-saved"):
            store.make_sure()
    with read_store(saved(study.parent)) as kept:
        found = [seen.key.index for seen in kept.observations() if seen.key.algorithm == "a"]
        earlier = sum(seen.key.algorithm == "b" for seen in kept.observations())
    assert (found, earlier) == (list(range(12)), 20)


def test_where_the_file_cannot_be_read_any_more_the_runs_of_the_session_are_saved_and_can_be_merged(
    study, runs, monkeypatch
):
    """A large file is not in SQLite's memory as a whole."""
    monkeypatch.setattr("ampler.study.store.loss.copied_whole", lambda connection, target: False)
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        store.add(runs(5))
    shutil.copy(study, study.with_name("backup.db"))
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        store.add(runs(5, first=5))
        os.truncate(study, 0)
        with pytest.raises(StoreUnusable, match="5 runs of this session"):
            store.make_sure()

    assert merge_stores([saved(study.parent)], study.with_name("backup.db")).runs == 10


def test_a_loss_that_nobody_wrote_after_is_noticed_at_the_end(study, runs):
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        store.add(runs(3))
        store.make_sure()
        study.unlink()
        with pytest.raises(StoreUnusable, match="was removed or renamed"):
            store.make_sure()


def test_a_file_that_is_merely_touched_is_not_lost(study, runs):
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        store.add(runs(3))
        os.utime(study)
        store.add(runs(3, first=3))
        with read_store(study) as reader:
            assert len(list(reader.observations())) == 6
        store.add(runs(3, first=6))
        store.make_sure()
    assert [path.name for path in study.parent.iterdir() if "saved" in path.name] == []


def test_names_that_are_taken_are_left_alone(study, runs):
    saved(study.parent).write_text("mine")
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        study.unlink()
        with pytest.raises(StoreUnusable, match=r"study-saved-2\.db"):
            store.add(runs(1))
    assert saved(study.parent).read_text() == "mine"


def test_a_folder_that_is_gone_has_its_runs_saved_elsewhere(tmp_path, runs, monkeypatch):
    (tmp_path / "study").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with open_store(tmp_path / "study" / "study.db") as store:
        store.begin(contract_plan(), {})
        store.add(runs(4))
        shutil.rmtree(tmp_path / "study")
        with pytest.raises(StoreUnusable, match="4 runs are saved"):
            store.make_sure()
    with read_store(tmp_path / "here" / "study-saved.db") as kept:
        assert len(list(kept.observations())) == 4


def test_a_watch_says_what_has_become_of_a_file(tmp_path):
    file = tmp_path / "study.db"
    file.write_bytes(bytes(100))
    watch = FileWatch(file)
    assert watch.loss(lambda: True) is None
    os.utime(file, (1, 1))
    assert watch.loss(lambda: False) == "was overwritten"
    assert watch.loss(lambda: True) is None
    os.truncate(file, 10)
    assert watch.loss(lambda: True) == "was cut off"
    assert not holds(file, None, "")


def test_a_file_that_got_another_number_while_it_is_open_is_not_lost(study, runs, monkeypatch):
    """Some file systems number their files anew; what is open here is still ours."""
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        store.add(runs(3))
        monkeypatch.setattr(os, "stat", shifted(os.stat))
        monkeypatch.setattr(os, "fstat", shifted(os.fstat))
        store.add(runs(3, first=3))
        store.make_sure()

        assert len(list(store.observations())) == 6


def shifted(look):
    def at(*words, **more):
        found = list(look(*words, **more))
        found[1] += 1
        exact = look(*words, **more)
        return os.stat_result([*found], {"st_mtime_ns": exact.st_mtime_ns, "st_atime_ns": exact.st_atime_ns})

    return at
