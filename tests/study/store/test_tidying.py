"""Reading a study file leaves nothing beside it, and the file as it was."""

from __future__ import annotations

import os
import sqlite3

import pytest

from ampler import Precision
from ampler.api import analyse
from ampler.study.store import open_store, read_store


def beside(study):
    return sorted(path.name for path in study.parent.iterdir() if path.name.endswith(("-wal", "-shm")))


def test_reading_leaves_nothing_beside_a_study_and_the_study_as_it_was(study, filled):
    filled(study, 2)
    before = study.read_bytes()
    with read_store(study) as store:
        assert len(list(store.observations())) == 2
    assert beside(study) == []
    assert study.read_bytes() == before


def test_what_an_earlier_reader_left_is_tidied_up(study, filled):
    filled(study, 2)
    left = sqlite3.connect(f"file:{study}?mode=ro", uri=True)
    left.execute("SELECT count(*) FROM run").fetchone()
    left.close()
    assert beside(study) == ["study.db-shm", "study.db-wal"]
    with read_store(study):
        pass
    assert beside(study) == []


def test_a_reader_takes_nothing_away_from_a_writer(study, begun, runs):
    with begun(study) as store:
        store.add(runs(2))
        with read_store(study) as reader:
            assert len(list(reader.observations())) == 2
        store.add(runs(3, first=2))
        with read_store(study) as reader:
            assert len(list(reader.observations())) == 5


def test_readers_beside_each_other_do_not_disturb_each_other(study, filled):
    filled(study, 3)
    with read_store(study) as one:
        with read_store(study) as other:
            assert len(list(other.observations())) == 3
        assert len(list(one.observations())) == 3
    assert beside(study) == []


def test_runs_that_a_killed_writer_left_in_the_log_are_read_and_kept(study, begun, runs, tmp_path):
    with begun(study) as store:
        store.add(runs(2))
        for path in study.parent.glob(f"{study.name}*"):
            (tmp_path / f"copy{path.name.removeprefix('study')}").write_bytes(path.read_bytes())
    copy = tmp_path / "copy.db"
    assert (tmp_path / "copy.db-wal").stat().st_size > 0
    for _ in range(2):
        with read_store(copy) as store:
            assert len(list(store.observations())) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_study_that_cannot_be_written_is_read_without_a_trace(study, filled, what):
    filled(study, 2)
    place = study if what == "file" else study.parent
    place.chmod(0o444 if what == "file" else 0o555)
    try:
        with read_store(study) as store:
            assert len(list(store.observations())) == 2
        assert beside(study) == []
    finally:
        place.chmod(0o755)


def test_an_open_file_is_left_in_peace(study, filled):
    filled(study, 2)
    with open_store(study):
        with read_store(study):
            pass
        assert "study.db-wal" in beside(study)


def test_analyse_leaves_nothing_beside_a_finished_study(tmp_path):
    from ampler.api import Study

    path = tmp_path / "study.db"
    study = Study(
        algorithms={"a": lambda instance, seed: instance + seed % 7, "b": lambda instance, seed: instance + seed % 5},
        instances={"x": 10, "y": 20, "z": 30},
        difference="simple",
        design=Precision(se=5.0, instances="all"),
        better="lower",
    )
    study.run(path, workers=1)
    analyse(path)
    assert beside(path) == []
