"""A study that finds its own size, in the shell: what is told before the pilot, after it, and at the end."""

import pytest

STUDY = """
difference = "simple"
reference = "a"
detect = 1.0
better = "lower"
[rule]
pilot = 6
start = 3
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
"""
SOLVERS = """
import random
INSTANCES = {f"i{n}": n for n in range(60)}
def solve(shift):
    def call(instance, seed):
        own = random.Random(f"{instance}{shift}").gauss(0, 1)
        return 100 + instance % 7 + shift + own + random.Random(seed).gauss(0, 1)
    return call
a, b, far = solve(0.0), solve(0.4), solve(40.0)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "solvers.py").write_text(SOLVERS)
    return tmp_path


def words(text):
    return " ".join(text.split())


def test_check_run_status_and_analyse_tell_the_whole_story(process, folder):
    checked = process("check", "study.toml", cwd=folder)
    ran = process("run", "study.toml", "--workers", "1", cwd=folder)
    again = process("run", "study.toml", "--workers", "1", cwd=folder)
    status = process("status", "study.db", cwd=folder)
    found = process("analyse", "study.db", cwd=folder)

    pilot = "Pilot: 6 of 60 instances, 3 runs of each of 3 algorithms (54 runs). Then it is decided how many instances"
    assert pilot in words(checked.stdout)
    assert "Until it is decided how the study goes on, it will take 54 runs" in words(checked.stdout)
    assert pilot in words(ran.stderr)
    assert "far gets no more runs" in words(ran.stderr)
    assert "All that was decided on is run" in words(ran.stderr)
    assert pilot not in words(again.stderr)
    assert "far gets no more runs" in words(status.stdout)
    assert "(decided in the pilot)" in words(found.stdout)


def test_changes_after_the_decision_and_parts_are_one_sentence(process, folder):
    assert process("run", "study.toml", "--workers", "1", cwd=folder).returncode == 0
    part = process("run", "study.toml", "--part", "1/2", cwd=folder)
    (folder / "study.toml").write_text(STUDY.replace("detect = 1.0", "detect = 0.5"))
    changed = process("run", "study.toml", cwd=folder)

    assert (part.returncode, changed.returncode) == (1, 1)
    assert "cannot be cut into parts" in words(part.stderr)
    assert "detect cannot be changed any more" in words(changed.stderr)
