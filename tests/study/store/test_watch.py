"""A study file that is lost while a study runs is noticed at the next write, and its runs are saved beside it."""

from __future__ import annotations

import os
import shutil

import pytest

from ampler.core.errors import StoreUnusable
from ampler.study.store import open_store, read_store
from ampler.testing import contract_plan


def replace(path):
    shutil.copy(path, path.with_name("copy.db"))
    os.replace(path.with_name("copy.db"), path)


LOSSES = {
    "removed": lambda path: path.unlink(),
    "renamed": lambda path: path.rename(path.with_name("elsewhere.db")),
    "replaced": replace,
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


def test_where_no_copy_can_be_made_the_loss_is_told(tmp_path, runs):
    (tmp_path / "study").mkdir()
    with open_store(tmp_path / "study" / "study.db") as store:
        store.begin(contract_plan(), {})
        store.add(runs(4))
        shutil.rmtree(tmp_path / "study")
        with pytest.raises(StoreUnusable, match="its runs are lost"):
            store.make_sure()


def test_a_session_leaves_a_backup_of_all_its_runs(study, runs):
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        store.add(runs(5))
    backup = study.with_name("study.db.bak")
    with read_store(backup) as copy, read_store(study) as store:
        assert list(copy.observations()) == list(store.observations())
    with open_store(study):
        pass
    with read_store(backup) as copy:
        assert len(list(copy.observations())) == 5


def test_a_long_session_makes_backups_on_its_way(study, runs, monkeypatch):
    monkeypatch.setattr("ampler.study.store.store.BACKUP_INTERVAL", 0.0)
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        store.add(runs(5))
        store.add(runs(1, first=5))
        with read_store(study.with_name("study.db.bak")) as copy:
            assert len(list(copy.observations())) == 6


def test_where_no_backup_can_be_made_the_study_goes_on(study, runs):
    study.with_name("study.db.bak").mkdir()
    with open_store(study) as store:
        store.begin(contract_plan(), {})
        store.add(runs(5))
    with read_store(study) as store:
        assert len(list(store.observations())) == 5
