"""A study with looks, in the shell: what is told before, at each look and at the end, and what is refused."""

import shutil

import pytest

STUDY = """
difference = "simple"
reference = "a"
effect = 0.9
looks = [0.5, 1.0]
better = "lower"
[rule]
allocation = "fixed"
runs = 2
[[algorithm]]
name = "a"
python = "solvers:a"
[[algorithm]]
name = "b"
python = "solvers:b"
[[algorithm]]
name = "far"
python = "solvers:far"
[instances]
python = "solvers:INSTANCES"
use = 20
"""
SOLVERS = """
import random
INSTANCES = {f"i{n}": n for n in range(24)}
def solve(shift):
    def call(instance, seed):
        own = random.Random(f"{instance}{shift}").gauss(0, 1)
        return 100 + instance % 7 + shift + own + random.Random(seed).gauss(0, 0.3)
    return call
a, b, far = solve(0.0), solve(0.4), solve(9.0)
"""


@pytest.fixture(scope="module")
def told(shell, tmp_path_factory):
    """The folder of a study that was checked and run, with what was said."""
    folder = tmp_path_factory.mktemp("looks")
    (folder / "study.toml").write_text(STUDY)
    (folder / "solvers.py").write_text(SOLVERS)
    return (
        folder,
        shell("check", "study.toml", cwd=folder),
        shell("run", "study.toml", "--workers", 1, cwd=folder),
    )


def words(text):
    return " ".join(text.split())


def test_check_run_status_and_analyse_tell_the_whole_story(shell, told):
    folder, checked, ran = told
    status = shell("status", "study.db", cwd=folder)
    found = shell("analyse", "study.db", "--explain", cwd=folder)
    document = shell("analyse", "study.db", "--json", cwd=folder).json

    before = "Interim analyses follow after 10, 20 instances"
    look = "1 of 2, 10 instances: 1 significant"
    assert before in words(checked.out)
    assert "takes 60 runs" in words(checked.out)
    assert look in words(ran.err)
    assert look in words(status.out)
    assert "repeated" in words(found.out).lower()
    assert "interim analysis 1 of 2, 10 instances" in words(found.out)
    assert document["looks"]["course"]["looks"] == [10, 20]
    assert document["looks"]["history"][0] == ["continue", "different"]


def test_what_is_refused_is_one_sentence_and_forgetting_must_be_asked_for(shell, told, tmp_path):
    folder = shutil.copytree(told[0], tmp_path / "copy")
    other = shell("analyse", "study.db", "--alpha", "0.01", cwd=folder)
    forgotten = shell("analyse", "study.db", "--alpha", "0.01", "--ignore-looks", cwd=folder)
    part = shell("run", "study.toml", "--part", "1/2", cwd=folder)
    (folder / "study.toml").write_text(STUDY.replace("use = 20", "use = 24"))
    more = shell("run", "study.toml", "--workers", "1", cwd=folder)

    assert other.code != 0
    assert "alpha must stay as planned" in words(other.err)
    assert forgotten.code == 0
    assert words(forgotten.out).startswith(
        "Do not report these results: interim analyses were made and are ignored here."
    )
    assert "cannot be cut into parts" in words(part.err)
    assert "the instances cannot be changed now" in words(more.err)
    assert not any("Traceback" in each.err for each in (other, part, more))
