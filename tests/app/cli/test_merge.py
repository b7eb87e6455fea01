"""`ampler run --part` and `ampler merge`: from study.toml through parts to one study file."""

import pytest

from ampler.study.store import read_store

STUDY = """
name = "cut"
difference = "simple"
better = "lower"
[rule]
allocation = "fixed"
runs = {runs}
[run]
workers = 1
[[algorithm]]
name = "short"
command = "echo {{instance}} 1{{seed}}"
[[algorithm]]
name = "long"
command = "echo {{instance}} 2{{seed}}"
[instances]
names = ["i", "j", "k"]
use = "all"
"""


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(STUDY.format(runs=2))
    return file


def values(path):
    with read_store(path) as store:
        return {(seen.key, seen.seed, seen.value) for seen in store.observations()}


def test_parts_are_kept_in_files_of_their_own_and_merged_into_the_uncut_study(shell, study, tmp_path):
    assert shell("run", study, "--store", tmp_path / "uncut.db").code == 0
    for part in ("1/2", "2/2"):
        assert shell("run", study, "--part", part).code == 0
    parts = sorted(tmp_path.glob("study-part-*.db"))

    answer = shell("merge", *parts, "-o", tmp_path / "study.db")

    assert [part.name for part in parts] == ["study-part-1-of-2.db", "study-part-2-of-2.db"]
    assert answer.code == 0
    assert "cut: 12 runs are in study.db; all 3 instances are finished." in answer.words
    assert answer.err == ""
    assert values(tmp_path / "study.db") == values(tmp_path / "uncut.db")
    assert "12 runs recorded in study.db (0 new)" in shell("run", study).words


def test_parts_that_are_not_there_are_named(shell, study, tmp_path):
    shell("run", study, "--part", "2/3")

    answer = shell("merge", tmp_path / "study-part-2-of-3.db", "-o", tmp_path / "study.db")

    assert answer.code == 0
    assert "1 of 3 instances are finished." in answer.words
    assert "2 parts are missing: 1/3, 3/3" in " ".join(answer.err.split())


def test_status_and_analysis_of_a_part_say_that_it_is_one(shell, study, tmp_path):
    shell("run", study, "--part", "1/2")
    part = tmp_path / "study-part-1-of-2.db"

    assert "cut (part 1/2): 2 of 2 instances finished" in shell("status", part).words
    assert shell("status", part, "--json").json["part"] == "1/2"
    assert "part 1/2 only" in shell("analyse", part).words


def test_a_grown_study_says_what_will_happen(shell, study):
    shell("run", study)
    study.write_text(STUDY.format(runs=3).replace('"k"]', '"k", "l"]'))

    answer = shell("run", study)

    assert answer.code == 0
    assert "The plan has changed. 3 → 4 instances, runs 2 → 3: 1 new instance for all" in " ".join(answer.err.split())


@pytest.mark.parametrize("part", ["0/2", "3/2", "1", "a/b", "1/", "-1/2", "1/2/3", ""])
def test_a_part_that_is_none_is_wrong_usage(shell, study, part):
    answer = shell("run", study, f"--part={part}")

    assert answer.code == 2
    assert "--part must be I/N with I between 1 and N, such as 3/20" in answer.err


def test_plans_that_do_not_agree_are_a_problem_told_in_one_sentence(shell, study, tmp_path):
    shell("run", study, "--part", "1/2")
    study.write_text(STUDY.format(runs=3))
    shell("run", study, "--part", "2/2")

    answer = shell("merge", *tmp_path.glob("study-part-*.db"), "-o", tmp_path / "study.db")

    assert answer.code == 1
    assert answer.err.startswith("ampler: the plans differ: runs is ")
    assert answer.err.count("\n") == 1
    assert answer.out == ""


def test_a_folder_that_does_not_exist_is_told(shell, study, tmp_path):
    shell("run", study, "--part", "1/2")

    answer = shell("merge", tmp_path / "study-part-1-of-2.db", "-o", tmp_path / "no" / "study.db")

    assert answer.code == 1
    assert "does not exist" in answer.err
