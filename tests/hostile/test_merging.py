"""Merges that must not be: into a study that is being run, of parts that contradict each other or are damaged."""

from __future__ import annotations

import os
import shutil

import pytest
from hostile_files import DAMAGE, refused, sql

from ampler.study.store import open_store


def left(folder):
    return sorted(name for name in os.listdir(folder) if not name.endswith(("-wal", "-shm")))


@pytest.mark.parametrize("name", ["goal.db", "link.db", "hard.db", "./sub/../goal.db"])
def test_a_study_that_is_being_run_is_not_merged_into_under_any_name(study, shell, name):
    shutil.copy(study, "goal.db")
    os.symlink("goal.db", "link.db")
    os.link("goal.db", "hard.db")
    os.mkdir("sub")
    with open_store("goal.db"):
        before = left(".")

        answer = shell("merge", "study.db", "-o", name)

        assert "being run" in refused(answer, 1) or "already open" in answer.err
        assert left(".") == before


def test_parts_that_contradict_each_other_are_one_sentence_and_leave_nothing(study, shell):
    shutil.copy(study, "other.db")
    sql("UPDATE run SET value = value + 1 WHERE instance = 3")(study.with_name("other.db"))
    before = left(".")

    answer = shell("merge", "study.db", "other.db", "-o", "out.db")

    assert "the same seed must give the same value" in refused(answer, 1)
    assert left(".") == before


@pytest.mark.parametrize("damage", ["run: of no instance", "session: none", "half of it", "run: unknown status"])
def test_a_damaged_part_is_one_sentence_and_the_target_stays_as_it_was(study, shell, damage):
    shutil.copy(study, "goal.db")
    content = study.read_bytes()
    DAMAGE[damage](study)
    before = left(".")

    answer = shell("merge", "study.db", "-o", "goal.db")

    refused(answer, 1)
    assert study.with_name("goal.db").read_bytes() == content
    assert left(".") == before
