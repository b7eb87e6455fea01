"""`ampler init`: a study that works as it is, for each kind of algorithm."""

import os

import commands
import pytest

from ampler.study.starters import PROGRAMS

FLAVOURS = list(PROGRAMS)


FEW = 4  # of 16 instances; the whole study of functions is also run by the tests of README.md
WHOLE = [*((each, "shell", 16) for each in FLAVOURS), ("python", "process", 16)]


def in_a_process(*words, cwd):
    ran = commands.process(*words, cwd=cwd)
    return commands.Answer(ran.returncode, ran.stdout, ran.stderr)


def smaller(folder, instances):
    """Make the study one of so few instances; there are more in a new one."""
    study = folder / "study.toml"
    study.write_text(study.read_text().replace("\npilot = 6", "\npilot = 3").replace("\nstart = 3", "\nstart = 2"))
    for file in sorted((folder / "instances").iterdir())[instances:]:
        file.unlink()


@pytest.mark.parametrize(
    ("flavour", "way", "instances"),
    [
        *((each, "shell", FEW) for each in FLAVOURS),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in WHOLE),
    ],
)
def test_init_check_and_run_work_in_an_empty_directory(flavour, way, instances, tmp_path):
    ampler = commands.ampler if way == "shell" else in_a_process
    begun = ampler("init", f"--{flavour}", cwd=tmp_path)
    checked = ampler("check", "study.toml", cwd=tmp_path)
    if instances < 16:
        smaller(tmp_path, instances)
    ran = ampler("run", "study.toml", *([] if instances == 16 else ["--store", "smaller.db"]), cwd=tmp_path)

    assert (begun.code, checked.code, ran.code) == (0, 0, 0), checked.err + ran.err
    assert "study.toml is ready: 2 algorithms, all vs one long" in checked.out
    assert "The first runs of both algorithms were saved to study.db" in checked.words
    assert f"all {instances} instances finished" in ran.out
    assert ran.err.count("Note:") == 0


def test_all_kinds_give_the_same_values_for_the_same_runs(shell, tmp_path, monkeypatch):
    found = {}
    for flavour in FLAVOURS:
        (tmp_path / flavour).mkdir()
        monkeypatch.chdir(tmp_path / flavour)
        assert shell("init", f"--{flavour}").code == 0
        found[flavour] = [entry["value"] for entry in shell("check", "study.toml", "--json").json["algorithms"]]

    assert all(values == found["python"] for values in found.values())
    assert len(set(found["python"])) == 2


def test_without_an_option_algorithms_are_functions_and_a_folder_is_made(shell, tmp_path):
    answer = shell("init", tmp_path / "new" / "study")

    assert answer.code == 0
    assert sorted(os.listdir(tmp_path / "new" / "study")) == ["instances", "solvers.py", "study.toml"]
    assert "Next: ampler check" in answer.words


@pytest.mark.parametrize("name", ["study.toml", "solvers.py", "instances/03.txt"])
def test_nothing_is_overwritten(name, shell, tmp_path):
    (tmp_path / "instances").mkdir()
    (tmp_path / name).write_text("mine")
    before = sorted(str(file) for file in tmp_path.rglob("*"))
    answer = shell("init", tmp_path)

    assert answer.code == 1
    assert f"a new study overwrites nothing, and {tmp_path / name} is there; choose another folder" in answer.err
    assert sorted(str(file) for file in tmp_path.rglob("*")) == before
    assert (tmp_path / name).read_text() == "mine"


def test_two_kinds_at_once_are_wrong_usage(shell, tmp_path):
    answer = shell("init", tmp_path, "--irace", "--command")

    assert answer.code == 2
    assert "one kind of study can be begun at a time, got --command and --irace" in answer.err
    assert not list(tmp_path.iterdir())
