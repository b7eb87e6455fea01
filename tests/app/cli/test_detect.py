"""A study that finds its own size, in the shell: what is told before the pilot, after it, and at the end."""

import shutil

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
    return written(tmp_path)


def written(folder):
    (folder / "study.toml").write_text(STUDY)
    (folder / "solvers.py").write_text(SOLVERS)
    return folder


def words(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def told(shell, tmp_path_factory):
    """The folder of a study that was checked and run, with what was said."""
    folder = written(tmp_path_factory.mktemp("detect"))
    return (
        folder,
        shell("check", "study.toml", cwd=folder),
        shell("run", "study.toml", "--workers", 1, cwd=folder),
    )


def test_check_run_status_and_analyse_tell_the_whole_story(shell, told):
    folder, checked, ran = told
    again = shell("run", "study.toml", "--workers", "1", cwd=folder)
    status = shell("status", "study.db", cwd=folder)
    found = shell("analyse", "study.db", "--explain", cwd=folder)

    pilot = "Pilot: 3 runs of each algorithm on 6 of 60 instances."
    assert pilot in words(checked.out)
    assert "Until the next decision, the study takes 54 runs" in words(checked.out)
    assert pilot in words(ran.err)
    assert "far gets no more runs" in words(ran.err)
    assert "planned runs are complete" in words(ran.err)
    assert pilot not in words(again.err)
    assert "far gets no more runs" in words(status.out)
    assert "significant at the pilot stage" in words(found.out)


def test_changes_after_the_decision_and_parts_are_one_sentence(shell, told, tmp_path):
    assert told[-1].code == 0
    folder = shutil.copytree(told[0], tmp_path / "copy")
    part = shell("run", "study.toml", "--part", "1/2", cwd=folder)
    (folder / "study.toml").write_text(STUDY.replace("detect = 1.0", "detect = 0.5"))
    changed = shell("run", "study.toml", cwd=folder)

    assert (part.code, changed.code) == (1, 1)
    assert "cannot be cut into parts" in words(part.err)
    assert "detect cannot be changed now" in words(changed.err)


SKEWED = """
import random
INSTANCES = {f"i{n}": n for n in range(90)}
def rival(name):
    def call(instance, seed):
        return 10 + random.Random(f"{instance}{name}").lognormvariate(0, 1.0) + random.Random(seed).gauss(0, 0.1)
    return call
def a(instance, seed):
    return 11.65 + random.Random(seed).gauss(0, 0.1)
b, far = rival("b"), rival("far")
"""


def test_who_follows_the_advice_on_skewness_compares_with_the_bootstrap_t(shell, folder):
    (folder / "solvers.py").write_text(SKEWED)
    (folder / "study.toml").write_text(STUDY.replace("pilot = 6", "pilot = 20").replace("detect = 1.0", "detect = 1.4"))
    told = words(shell("run", "study.toml", "--workers", "1", cwd=folder).err)
    assert "strongly skewed" in told
    assert "test bootstrap-t" in told
    assert "seed" not in told

    found = shell("analyse", "study.db", "--test", "bootstrap-t", cwd=folder)

    assert found.code == 0
    assert "these are ordinary tests" in words(found.out + found.err)


def test_check_says_when_finding_the_size_out_is_a_bad_bargain(shell, folder):
    (folder / "study.toml").write_text(STUDY.replace("pilot = 6", "pilot = 35"))
    assert "the pilot takes 35 of 60 instances" in words(shell("check", "study.toml", cwd=folder).out)


HOSTILE = [(key, value) for key in ("detect", "power", "instance-cost") for value in ('"x"', "nan", "-1", "inf", "[1]")]
FEW = [("detect", "nan"), ("power", "-1"), ("instance-cost", '"x"')]


@pytest.mark.parametrize(
    ("key", "value"), [*FEW, *(pytest.param(*each, marks=pytest.mark.slow) for each in HOSTILE if each not in FEW)]
)
def test_hostile_values_are_one_sentence_that_names_the_key(shell, folder, key, value):
    kept = STUDY.replace("detect = 1.0\n", "") if key == "detect" else STUDY
    (folder / "study.toml").write_text(f"{key} = {value}\n{kept}")
    said = shell("check", "study.toml", cwd=folder)
    assert said.code == 1
    assert key in said.err
    assert "Traceback" not in said.err
    assert len(said.err.strip().splitlines()) <= 4
