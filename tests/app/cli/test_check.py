"""`ampler check`: what each algorithm gives, what the whole will take, and nothing wasted."""

import signal
import time
import tomllib

import pytest

from ampler.study.store import read_store
from ampler.study.toml import read_study_file

SOLVERS = """
import itertools, os, random, time

def stochastic(instance, seed, shift=0.0):
    return {"cost": len(instance) + shift + random.Random(seed).random(), "steps": seed % 7}

def constant(instance, seed):
    return len(instance)

def zero(instance, seed):
    return 0.0

count = itertools.count()
def forgetful(instance, seed):
    return next(count) + 0.5

def asleep(instance, seed):
    time.sleep(0.05)

def broken(instance, seed):
    raise RuntimeError("out of luck")

def deadly(instance, seed):
    os._exit(3)

def endless(instance, seed):
    open("began", "w").close()
    time.sleep(60)
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """`study(a="solvers:f", …)`: a study of these functions, and we are in its folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "solvers.py").write_text(SOLVERS)

    def make(settings="", run="", rule="start = 3\nbudget = 30", **algorithms):
        tables = [f'[[algorithm]]\nname = "{name}"\n{text if "=" in text else f"python = {text!r}"}'
                  for name, text in algorithms.items()]  # fmt: skip
        direction = "" if "better" in settings else 'better = "lower"\n'
        head = f'difference = "simple"\n{direction}se = 0.2\n{settings}\n[rule]\n{rule}\n[run]\nworkers = 2\n{run}'
        last = '[instances]\nnames = ["a", "bb", "ccc", "dddd"]\nuse = "all"'
        (tmp_path / "study.toml").write_text("\n".join([head, *tables, last]) + "\n")
        return tmp_path / "study.toml"

    return make


def recorded(folder):
    with read_store(folder / "study.db") as store:
        return {each.key: (each.value, each.seed, each.measures) for each in store.observations()}


def entries(answer):
    return {entry["name"]: entry for entry in answer.json["algorithms"]}


def test_it_says_what_each_algorithm_gives(shell, study):
    study(
        plain="solvers:stochastic",
        same="solvers:constant",
        declared="python = 'solvers:constant'\ndeterministic = true",
        other="solvers:forgetful",
        timed="python = 'solvers:asleep'\nvalue = 'seconds'",
        nothing="solvers:zero",
        gap="python = 'solvers:stochastic'\nvalue = 'json:steps'",
    )
    answer = shell("check", "study.toml", "--json")
    found = entries(answer)

    assert answer.code == 0
    assert {name: entry["kind"] for name, entry in found.items()} == {
        "plain": "reproducible",
        "same": "constant",
        "declared": "deterministic",
        "other": "not reproducible",
        "timed": "time",
        "nothing": "constant",
        "gap": "reproducible",
    }
    assert found["plain"]["same_seed"] == found["plain"]["value"] != found["plain"]["other_seed"]
    assert found["plain"]["measures"].keys() == {"cost", "steps"}
    assert found["gap"]["value"] == found["gap"]["measures"]["steps"]
    assert found["timed"]["value"] >= 0.05
    assert all(entry["recorded"] for entry in found.values())
    assert answer.json["forecast"]["least_runs"] == 4 * (6 * 3 + 1)
    assert answer.json["forecast"]["most_runs"] == 4 * 30


def test_people_are_told_in_words(shell, study):
    study(plain="solvers:stochastic", timed="python = 'solvers:asleep'\nvalue = 'seconds'")
    answer = shell("check", "study.toml")

    assert answer.code == 0
    assert "study.toml is ready: 2 algorithms, all pairs, simple differences, on 4 instances." in answer.words
    assert "the seed reproduces it" in answer.words
    assert "a time: no seed reproduces it" in answer.words
    assert "plain reports cost, steps: all are kept, the value decides." in answer.words
    assert "Estimate from one instance: 24 to 120 runs," in answer.words
    assert "with 2 workers (" in answer.words
    assert (
        "The first runs of both algorithms were saved to study.db and count towards the study. Next: ampler run"
        in answer.words
    )


READINGS = {
    "plain": ("echo seed {seed}; echo cost 17.5 at last", "", "cost 17.5 at last"),
    "pattern": ("echo cost: 17.5 of 20; echo 3", "value = 'cost: (\\S+)'", "cost: 17.5 of 20"),
    "json": ("""echo '{{"cost": 17.5}}'; echo 3""", "value = 'json:cost'", '{"cost": 17.5}'),
}


def test_it_shows_the_line_that_each_value_was_read_from(shell, study, tmp_path):
    for name, (script, _, _) in READINGS.items():
        (tmp_path / f"{name}.sh").write_text(script.replace("{seed}", "$2").replace("{{", "{").replace("}}", "}"))
    study(
        **{
            name: f"command = 'sh {name}.sh {{instance}} {{seed}}'\n{value}" for name, (_, value, _) in READINGS.items()
        },
        timed="command = 'sh plain.sh {instance} {seed}'\nvalue = 'seconds'",
        function="solvers:constant",
    )
    answer = shell("check", "study.toml", "--json")

    assert {name: entry["line"] for name, entry in entries(answer).items()} == {
        **{name: line for name, (_, _, line) in READINGS.items()},
        "timed": "",
        "function": "",
    }
    told = shell("check", "study.toml")
    assert "plain: 17.5 was read from the line 'cost 17.5 at last'." in told.words
    assert all(value is not None for value, *_ in recorded(tmp_path).values())
    with read_store(tmp_path / "study.db") as store:
        assert {each.message for each in store.observations()} == {""}, "lines are shown, not recorded"


def test_nothing_is_wasted_and_nothing_changes_for_the_study(shell, study, tmp_path):
    study(plain="solvers:stochastic", shifted="python = 'solvers:stochastic'\nparameters = { shift = 1.0 }")
    assert shell("check", "study.toml").code == 0
    made = recorded(tmp_path)
    assert shell("check", "study.toml").code == 0
    assert recorded(tmp_path) == made
    answer = shell("run", "study.toml")
    with_check = recorded(tmp_path)
    (tmp_path / "study.db").unlink()
    assert shell("run", "study.toml").code == 0

    assert sorted(key.index for key in made) == [0, 0, 1, 1]
    assert len({key.instance for key in made}) == 1
    assert f"{len(with_check) - 4} new)" in answer.words
    assert recorded(tmp_path) == with_check


def test_one_run_is_recorded_where_the_rule_asks_for_one(shell, study, tmp_path):
    study(
        rule='allocation = "fixed"\nruns = 1',
        a="solvers:stochastic",
        b="python = 'solvers:constant'\ndeterministic = true",
    )
    assert shell("check", "study.toml").code == 0

    assert [key.index for key in recorded(tmp_path)] == [0, 0]


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        ("solvers:broken", "it raised RuntimeError: out of luck (solvers.py, line 21)"),
        ("solvers:deadly", "it took its worker with it: it left with exit code 3"),
    ],
)
def test_an_algorithm_without_a_value_is_a_problem_and_is_not_recorded(shell, study, tmp_path, function, sentence):
    study(bad=function, plain="solvers:stochastic")
    answer = shell("check", "study.toml")

    assert answer.code == 1
    assert answer.err.startswith("ampler: algorithm 'bad' gave no value on ")
    assert sentence in answer.err
    assert "24 to 120 runs. The time is unknown" in answer.words
    assert {key.algorithm for key in recorded(tmp_path)} == {"plain"}
    study(bad="solvers:constant", plain="solvers:stochastic")
    assert shell("check", "study.toml").code == 0


def test_a_timeout_may_be_part_of_the_study(shell, study):
    settings = {"run": 'timeout = "0.3s"', "plain": "solvers:stochastic", "slow": "solvers:endless"}
    study(**settings)
    stopping = shell("check", "study.toml")
    study(**settings | {"run": 'timeout = "0.3s"\non-failure = { penalty = 100 }'})
    going_on = shell("check", "study.toml")

    assert stopping.code == 1
    assert "it ran longer than 0.3 s and was ended" in stopping.err
    assert going_on.code == 0
    assert "it ran longer than 0.3 s" in going_on.words


def test_what_is_declared_deterministic_and_is_not_is_refused(shell, study):
    study(plain="solvers:constant", wrong="python = 'solvers:stochastic'\ndeterministic = true")
    answer = shell("check", "study.toml")

    assert answer.code == 1
    assert "ampler: algorithm 'wrong' is declared deterministic, but two seeds gave" in answer.err
    assert "remove deterministic" in answer.err


def test_a_changed_algorithm_is_told_that_only_check_has_run_it(shell, study):
    study(a="solvers:stochastic", b="solvers:constant")
    shell("check", "study.toml")
    study(a="solvers:zero", b="solvers:constant")
    answer = shell("check", "study.toml")

    assert answer.code == 1
    assert "python of algorithm 'a' is recorded as 'solvers:stochastic', planned as 'solvers:zero'" in answer.err
    assert "or remove it: it holds only the runs of an earlier check" in answer.err


def test_costs_are_written_when_asked_for(shell, study):
    file = study(quick="solvers:stochastic", slow="python = 'solvers:asleep'\nvalue = 'seconds'")
    before = tomllib.loads(file.read_text())
    answer = shell("check", "study.toml", "--write-costs")
    after = tomllib.loads(file.read_text())
    costs = [algorithm.pop("cost") for algorithm in after["algorithm"]]

    assert answer.code == 0
    assert after == before
    assert costs[0] == 1.0
    assert costs[1] > 2
    assert "Costs are written into study.toml: quick 1, slow" in answer.err
    assert shell("run", "study.toml").code == 0


def test_workers_share_the_time(shell, study):
    study(a="python = 'solvers:asleep'\nvalue = 'seconds'", b="solvers:stochastic")
    told = [shell("check", "study.toml", "--json", "--workers", workers).json["forecast"] for workers in (1, 10)]

    assert [each["workers"] for each in told] == [1, 10]
    assert all(each["most_wall"] == pytest.approx(each["most_seconds"] / each["workers"]) for each in told)
    assert shell("check", "study.toml", "--workers", "0").code == 2


def test_warnings_of_the_plan_come_first(shell, study):
    study(settings="effect = 0.5", a="solvers:stochastic", b="command = 'echo 5 {instance} 7'")
    answer = shell("check", "study.toml")

    assert answer.code == 0
    assert "instances are needed for power 0.8 at effect 0.5; 4 are used" in answer.words
    assert "does not use {seed}" in answer.words


def test_a_power_is_told_with_the_noise_of_runs_it_allows_for(shell, study):
    study(settings="effect = 2.0", a="solvers:stochastic", b="solvers:constant")

    words, document = shell("check", "study.toml").words, shell("check", "study.toml", "--json").json

    assert "if the between-instance SD is 0.4" in words
    assert [each["noise_share"] for each in document["power_left"]] == pytest.approx([0.1, 0.2, 0.5])
    assert document["power"] > document["power_left"][0]["power"] > document["power_left"][2]["power"]


def test_interrupted_it_leaves_with_130_and_no_process(study, start, tmp_path):
    study(a="solvers:endless", b="solvers:stochastic")
    process = start("check", "study.toml", cwd=tmp_path)
    while not (tmp_path / "began").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate()

    assert process.returncode == 130
    assert errors == "Interrupted. First runs that have ended are recorded.\n"


def test_all_kinds_of_values_in_one_study_from_check_to_analysis(shell, study, tmp_path):
    study(
        settings='reference = "noisy"',
        noisy="solvers:stochastic",
        exact="python = 'solvers:constant'\ndeterministic = true",
        timed="python = 'solvers:asleep'\nvalue = 'seconds'",
    )
    assert [shell(*words).code for words in (["check", "study.toml"], ["run", "study.toml"])] == [0, 0]
    runs = recorded(tmp_path)
    exact = [key for key in runs if key.algorithm == "exact"]

    assert [key.index for key in exact] == [0] * 4
    assert all(measures for key, (_, _, measures) in runs.items() if key.algorithm == "noisy")
    assert all(0.05 <= value < 5 for key, (value, _, _) in runs.items() if key.algorithm == "timed")
    answer = shell("analyse", "study.db")
    assert answer.code == 0, answer.err


@pytest.mark.parametrize(
    ("value", "better"), [("", None), ("seconds", "lower"), ("json:test.accuracy", "higher"), ("json:score", None)]
)
def test_what_is_better_must_be_given_unless_the_value_implies_it(shell, study, value, better):
    commands = dict.fromkeys("ab", f"command = 'echo {{seed}} {{instance}}'\nvalue = '{value}'")
    path = study(**{name: text if value else text.partition("\n")[0] for name, text in commands.items()})
    path.write_text(path.read_text().replace('better = "lower"\n', ""))
    if better is None:
        refused = shell("check", "study.toml")
        assert refused.code == 1
        assert "better must be specified" in refused.err
        assert 'write better = "lower" or better = "higher"' in refused.err
    else:
        assert read_study_file(path).plan.question.better == better
