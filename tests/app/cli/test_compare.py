"""`ampler compare` and `ampler gate`: two commands, one verdict, an exit code for continuous integration."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from commands import end, start

SOLVER = """#!/bin/sh
# prints a value that depends on instance, seed and shift
echo "value $(( $2 % 100 + ${#1} * 1000 + $3 ))"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Solvers of different quality and ten instances."""
    monkeypatch.chdir(tmp_path)
    for name, shift in (("old", 500), ("new", 0), ("equal", 500)):
        script = tmp_path / name
        script.write_text(SOLVER.replace("$3", str(shift)))
        script.chmod(0o755)
    for number in range(10):
        (tmp_path / f"i{'x' * number}.txt").write_text(str(number))
    return tmp_path


def commands(*names):
    return [f"./{name} {{instance}} {{seed}}" for name in names]


def instances(folder):
    return sorted(path.name for path in folder.glob("*.txt"))


VALUE = ("--value", r"value (\d+)", "--better", "lower", "--runs", "5")


def test_a_better_command_is_found_and_the_same_command_resumes(shell, folder):
    first = shell("compare", *commands("old", "new"), *instances(folder), *VALUE, "--json")

    [comparison] = first.json["comparisons"]
    assert (first.code, first.json["instances"], first.json["runs"]) == (0, 10, 100)
    assert (comparison["first"], comparison["second"], comparison["rejected"]) == ("./old", "./new", True)
    again = shell("compare", *commands("old", "new"), *instances(folder), *VALUE)
    assert "100 runs recorded in compare.db (0 new)" in " ".join(again.err.split())


def test_without_instances_the_runs_are_compared_and_the_clock_is_checked(shell, folder):
    answer = shell("compare", "./old a {seed}", "./new a {seed}", *VALUE, "--same", "--json")

    pairs = {each["second"]: each["rejected"] for each in answer.json["comparisons"]}
    assert pairs == {"./new": True, "same command again": False}
    assert answer.json["clock"]["trusted"] is True
    assert answer.json["clock"]["low"] < 0 < answer.json["clock"]["high"]


def test_times_are_the_value_unless_another_is_named(shell, folder):
    answer = shell("compare", "true", "sleep 0.03", "--runs", "4", "--json")

    [comparison] = answer.json["comparisons"]
    assert comparison["first"] == "true"
    assert comparison["estimate"] < 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["./old {instance}"], "needs two commands"),
        (["./old {instance}", "./new {instance}"], "name the instances"),
        (["./old", "./new", "--value", "cost"], "--better lower or --better higher"),
        (["./old", "./new", "--names", "one"], "--names must give 2 different names"),
        (["./old", "./new", "--precision", "0"], "--precision must be between 0 and 100"),
        (["./old", "./new", "--runs", "1"], "must be at least 2"),
        (["./old 'x", "./new"], "cannot be split into words"),
        (["./old {instance}", "./new {instance}", "none*.txt"], "no file 'none*.txt'"),
        (["./old", "./old"], "the commands are the same"),
        (["./old | cat", "./new"], "no shell reads the command"),
        (["./old", "./new", "--value", "(", "--better", "lower"], "--value must be a regular expression"),
        (["./old", "./new", "--value", "json:", "--better", "lower"], "--value must be"),
        (["./old", "./new", "--on-failure", "ignore"], "on-failure must be"),
        (["./old", "./new", "--workers", "0"], "--workers must be at least 1"),
    ],
)
def test_a_wrong_call_gets_one_sentence(shell, folder, arguments, message):
    answer = shell("compare", *arguments)

    assert answer.code == 2
    assert message in answer.err
    assert not (folder / "compare.db").exists()


def test_runs_that_were_not_interleaved_with_new_ones_are_refused(shell, folder):
    files = instances(folder)
    assert shell("compare", *commands("old", "new"), *files, *VALUE).code == 0
    other = shell("compare", *commands("old", "equal"), *files, *VALUE)
    more = shell("compare", *commands("old", "new"), *files, *VALUE, "--same")
    (folder / "new").write_text((folder / "new").read_text() + "# rebuilt")
    rebuilt = shell("compare", *commands("old", "new"), *files, *VALUE)

    assert [each.code for each in (other, more, rebuilt)] == [1, 1, 1]
    assert "compare.db holds runs of other commands" in other.err
    assert "holds runs of programs that have changed since" in rebuilt.err


def test_failed_runs_stop_the_comparison_or_count_as_specified(shell, folder):
    (folder / "new").write_text(SOLVER.replace("$3", "0") + '[ "${1##*/}" != ix.txt ]')
    call = ("compare", *commands("old", "new"), *instances(folder), *VALUE)

    stopped = shell(*call)
    assert (stopped.code, "(on-failure)" in stopped.err) == (1, True)
    assert shell(*call, "--on-failure", "drop", "--json").json["instances"] == 9


@pytest.fixture
def table(tmp_path, monkeypatch):
    """`table(change)`: a table in which `new` takes so much more time than `base`, on 40 instances."""
    monkeypatch.chdir(tmp_path)

    def write(change: float, sd: float = 0.02) -> str:
        rng = np.random.default_rng(7)
        base = rng.lognormal(0, 1, 40)
        new = base * (1 + change) * np.exp(rng.normal(0, sd, 40))
        pd.DataFrame({"instance": range(40), "base": base, "new": new}).to_csv("times.csv", index=False)
        return "times.csv"

    return write


GATE = ("--difference", "ratio", "--better", "lower", "--reference", "base")


@pytest.mark.parametrize(
    ("change", "sd", "options", "outcome", "code"),
    [
        (0.1, 0.02, (), "regression", 3),
        (-0.1, 0.02, (), "pass", 0),
        (0.0, 0.02, (), "inconclusive", 4),
        (0.0, 0.02, ("--allow-inconclusive",), "inconclusive", 0),
        (0.0, 0.02, ("--tolerate", "2%"), "pass", 0),
        (0.01, 0.02, ("--tolerate", "3%"), "pass", 0),
        (0.1, 0.02, ("--tolerate", "2%"), "regression", 3),
        (0.0, 0.5, ("--tolerate", "2%"), "inconclusive", 4),
        (0.1, 0.02, ("--allow-inconclusive",), "regression", 3),
    ],
)
def test_the_exit_code_says_pass_regression_or_inconclusive(shell, table, change, sd, options, outcome, code):
    answer = shell("gate", table(change, sd), *GATE, *options, "--json")

    assert (answer.json["outcome"], answer.code) == (outcome, code)
    assert answer.json["base"] == "base"


def test_the_sign_follows_the_candidate_where_higher_is_better(shell, table):
    answer = shell("gate", table(0.1), "--difference", "ratio", "--better", "higher", "--reference", "base", "--json")

    [check] = answer.json["checks"]
    assert (answer.code, check["candidate"], check["outcome"]) == (0, "new", "pass")
    assert check["estimate"] == pytest.approx(0.1, abs=0.02)


def test_of_several_files_the_first_is_the_base(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, factor in (("base", 1.0), ("candidate", 1.5)):
        rows = [f"p{k},{factor * (10 + k) + 0.1 * (k % 3)}" for k in range(20)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["problem,time", *rows]))
    answer = shell("gate", "base.csv", "candidate.csv", "--difference", "ratio", "--json")
    assert (answer.code, answer.json["base"]) == (3, "base")
    assert shell("gate", "candidate.csv", "base.csv", "--difference", "ratio").code == 0
    seconds = shell("gate", "base.csv", "candidate.csv", "--difference", "simple")
    assert re.search(r"worse, \+\d+\.\d+ \(simultaneous 95 % CI \d+\.\d+ to \d+\.\d+\)", seconds.words)


def test_a_comment_and_a_junit_file_say_the_same(shell, table, tmp_path):
    shell("gate", table(0.1), *GATE, "--markdown", "comment.md", "--junit", "gate.xml")

    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite[0].get("name")) == ("1", "1", "new")
    assert (tmp_path / "comment.md").read_text(encoding="utf-8").startswith("### ampler: regression")


def test_a_gate_names_measure_and_direction_and_what_could_reverse_it(shell, tmp_path):
    rows = [(k, who, 10 + 0.1 * (k % 5) * (who == "new") + 400 * (k == 7) * (who == "new")) for k in range(30)
            for who in ("base", "new")]  # fmt: skip
    pd.DataFrame(rows, columns=["problem", "solver", "cost"]).to_csv(tmp_path / "runs.csv", index=False)
    asked = ("gate", "runs.csv", "--difference", "simple", "--reference", "base", "--markdown", "comment.md")
    answer, document = shell(*asked, cwd=tmp_path), shell(*asked, "--json", cwd=tmp_path).json

    comment = (tmp_path / "comment.md").read_text(encoding="utf-8")
    for text in (answer.words, comment, document["measure"]):
        assert "cost, lower is better" in text
    assert len(document["warnings"]) == answer.out.count("⚠") == comment.count("⚠") > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--difference", "ratio", "--better", "lower"), "--reference NAME"),
        ((*GATE, "--tolerate", "much"), "--tolerate must be a percentage"),
        (("--difference", "simple", "--better", "lower", "--reference", "base", "--tolerate", "1%"), "it needs"),
    ],
)
def test_a_wrong_gate_gets_one_sentence_and_no_verdict(shell, table, options, message):
    answer = shell("gate", table(0.1), *options)

    assert answer.code == 2
    assert message in answer.err


def test_a_candidate_with_a_single_common_instance_is_neither_passed_nor_failed(shell, tmp_path):
    rows = [f"{name},i{i},{10 + i + shift}" for i in range(8) for name, shift in (("base", 0), ("new", -1))]
    (tmp_path / "runs.csv").write_text("\n".join(["algorithm,instance,value", *rows, "late,i0,99"]))

    answer = shell("gate", "runs.csv", *GATE, "--json", cwd=tmp_path)

    outcomes = {check["candidate"]: check["outcome"] for check in answer.json["checks"]}
    assert outcomes == {"new": "pass", "late": "inconclusive"}
    assert answer.code == 4


def test_a_loss_within_the_margin_is_claimed_in_at_most_five_percent(shell, table, tmp_path):
    """Simulated at the margin itself, where non-inferiority just does not hold: 200 tables, seeds 0 to 199."""
    from ampler import Settings, analyse
    from ampler.app.cli.compare import _checks

    passed = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        base = rng.lognormal(0, 1, 20)
        frame = pd.DataFrame({"base": base, "new": base * 1.02 * np.exp(rng.normal(0, 0.05, 20))})
        asked = {"difference": "ratio", "better": "lower", "reference": "base"}
        [check] = _checks(analyse(frame, **asked, settings=Settings(non_inferior=0.02)))
        passed += check.outcome == "pass"
    assert passed / 200 <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5


ACTION = Path(__file__).parents[3] / ".github" / "actions" / "compare" / "compare.sh"


@pytest.mark.parametrize(
    ("base", "candidate", "outcome", "code"), [("new", "old", "regression", 3), ("old", "new", "pass", 0)]
)
def test_the_script_of_the_action_writes_the_outcome_and_leaves_with_its_code(folder, base, candidate, outcome, code):
    # the scripts wait in proportion to their shift, as the action measures times
    for name, seconds in (("old", "0.25"), ("new", "0.04")):
        (folder / name).write_text(f"#!/bin/sh\nsleep {seconds}\n")
    environment = dict(os.environ) | {
        "BASE": f"./{base} {{instance}}",
        "CANDIDATE": f"./{candidate} {{instance}}",
        "INSTANCES": "ix*.txt",
        "BUDGET": "3",
        "PRECISION": "20",
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_OUTPUT": str(folder / "output"),
    }

    done = subprocess.run(["bash", str(ACTION)], env=environment, capture_output=True, text=True, check=False)

    assert (done.returncode, (folder / "output").read_text()) == (code, f"outcome={outcome}\n"), done.stderr
    assert f"ampler: {outcome}" in (folder / "summary").read_text()


def git(*arguments, cwd):
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("before", "after", "outcome", "code"), [("0.001", "0.03", "regression", 3), ("0.03", "0.001", "pass", 0)]
)
def test_two_commits_of_a_repository_are_compared_and_a_kill_loses_nothing(
    shell, tmp_path, monkeypatch, before, after, outcome, code
):
    repository = tmp_path / "repository"
    repository.mkdir()
    git("init", "-q", "-b", "main", cwd=repository)
    (repository / "data").mkdir()
    for name in ("a", "b", "c", "d", "e"):
        (repository / "data" / f"{name}.txt").write_text(name)
    for seconds in (before, after):
        (repository / "solve").write_text(f"#!/bin/sh\necho $1 >> {tmp_path / 'log'}\nsleep {seconds}\n")
        (repository / "solve").chmod(0o755)
        git("add", "-A", cwd=repository)
        git("commit", "-qm", f"Sleep {seconds} s", cwd=repository)
    git("worktree", "add", "-q", "base", "HEAD~1", cwd=repository)
    monkeypatch.chdir(repository)
    files = [f"data/{name}.txt" for name in "abcde"]
    call = ["compare", "./base/solve {instance}", "./solve {instance}", *files]
    call += ["--names", "base,candidate", "--runs", "6", "--same"]

    killed = start(*call)
    log = tmp_path / "log"
    while not log.exists() or log.stat().st_size < 30 * len(files[0]):
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.01)
    end(killed)
    resumed = shell(*call, "--json")
    gate = shell("gate", "compare.db", "--markdown", "comment.md", "--junit", "gate.xml", "--json")

    made = log.read_text().count("\n")
    assert (resumed.code, resumed.json["runs"]) == (0, 90)
    assert made < 130, "runs made before the kill are made again"
    assert resumed.json["clock"]["low"] < resumed.json["clock"]["high"]
    assert (gate.code, gate.json["outcome"], gate.json["base"]) == (code, outcome, "base")
    assert [check["candidate"] for check in gate.json["checks"]] == ["candidate"]
    assert f"ampler: {outcome}" in Path("comment.md").read_text(encoding="utf-8")
    assert ElementTree.parse("gate.xml").getroot().get("failures") == str(int(code == 3))
