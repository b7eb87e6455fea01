"""A study with looks, in the shell: what is told before, at each look and at the end, and what is refused."""

import json
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
def told(forked, tmp_path_factory):
    """The folder of a study that was checked and run, with what was said."""
    folder = tmp_path_factory.mktemp("looks")
    (folder / "study.toml").write_text(STUDY)
    (folder / "solvers.py").write_text(SOLVERS)
    return (
        folder,
        forked("check", "study.toml", cwd=folder),
        forked("run", "study.toml", "--workers", 1, cwd=folder),
    )


def words(text):
    return " ".join(text.split())


def test_check_run_status_and_analyse_tell_the_whole_story(forked, told):
    folder, checked, ran = told
    status = forked("status", "study.db", cwd=folder)
    found = forked("analyse", "study.db", cwd=folder)
    document = json.loads(forked("analyse", "study.db", "--json", cwd=folder).stdout)

    before = "The results are looked at after 10, 20 instances, in the order of the seed."
    look = "Look 1 of 2, 10 instances: 1 different, 0 no relevant difference, 1 goes on; 1 algorithm needs no more runs"
    assert before in words(checked.stdout)
    assert "it will take 60 runs" in words(checked.stdout)
    assert look in words(ran.stderr)
    assert look in words(status.stdout)
    assert "repeated confidence intervals" in words(found.stdout)
    assert "(look 1 of 2, 10 instances)" in words(found.stdout)
    assert document["looks"]["course"]["looks"] == [10, 20]
    assert document["looks"]["history"][0] == ["continue", "different"]


def test_what_is_refused_is_one_sentence_and_forgetting_must_be_asked_for(forked, told, tmp_path):
    folder = shutil.copytree(told[0], tmp_path / "copy")
    other = forked("analyse", "study.db", "--alpha", "0.01", cwd=folder)
    forgotten = forked("analyse", "study.db", "--alpha", "0.01", "--ignore-looks", cwd=folder)
    part = forked("run", "study.toml", "--part", "1/2", cwd=folder)
    (folder / "study.toml").write_text(STUDY.replace("use = 20", "use = 24"))
    more = forked("run", "study.toml", "--workers", "1", cwd=folder)

    assert other.returncode != 0
    assert "alpha must stay as planned in a study that was looked at on the way" in words(other.stderr)
    assert forgotten.returncode == 0
    assert words(forgotten.stdout).startswith("Looked at on the way, and tested here as if it had not been")
    assert "cannot be cut into parts" in words(part.stderr)
    assert "the instances cannot be changed any more" in words(more.stderr)
    assert not any("Traceback" in each.stderr for each in (other, part, more))
