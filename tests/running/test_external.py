"""Runs that another workflow makes: the same runs, decisions and conclusions as `ampler run`."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import ampler as am
from ampler.core.errors import InvalidData
from ampler.running import run_plan
from ampler.running.external import exchange
from ampler.study.store import open_store
from ampler.testing import MemoryStore, SerialExecutor, dummy_algorithms, dummy_instances

ALGORITHMS = dummy_algorithms(3, mean=50.0, sd=4.0)
DESIGNS = {
    "adaptive": (6, am.Precision(se=2.0)),
    "detect": (60, am.Detect(2.0, pilot=16, runs=3)),
    "interim": (40, am.Precision(se=3.0, effect=0.6, interim=3)),
}


def study(kind):
    instances, design = DESIGNS[kind]
    return am.Study(
        algorithms=ALGORITHMS,
        instances=dummy_instances(instances, spread=0.05),
        difference="simple",
        better="lower",
        reference="a1",
        seed=5,
        design=design,
    )


def made(plan, tasks, rng=None):
    """The results of runs, as a workflow would write them."""
    instances = {item.name: item.data for item in plan.instances}
    lines = []
    for task in tasks:
        key = task.key
        seed = am.run_seed(plan.seed, key.instance, key.algorithm, key.index)
        value = ALGORITHMS[key.algorithm](instances[key.instance], seed)
        lines.append(
            {"instance": key.instance, "algorithm": key.algorithm, "index": key.index, "value": value, "seed": seed}
        )
    if rng is not None:
        rng.shuffle(lines)
    return lines


def recorded(store):
    return {(run.key, run.value) for run in store.observations()}


@pytest.mark.parametrize("kind", DESIGNS)
def test_exchanged_runs_give_the_study_that_run_gives(kind):
    plan = study(kind).plan
    whole, pieces, rng = MemoryStore(), MemoryStore(), random.Random(3)
    run_plan(plan, whole, executor=SerialExecutor())

    outcome = exchange(plan, pieces)
    rounds = 0
    while outcome.wanted:
        lines = made(plan, outcome.wanted, rng)
        part = lines[: max(1, len(lines) * 2 // 3)]  # some runs are missing at first
        outcome = exchange(plan, pieces, [*part, *part[:2]])  # and some come twice
        rounds += 1

    assert rounds > 1
    assert recorded(pieces) == recorded(whole)
    first, second = am.analyse(whole), am.analyse(pieces)
    assert [each.p_holm for each in first.comparisons] == [each.p_holm for each in second.comparisons]


def test_results_that_no_decision_asks_for_are_counted_and_not_recorded():
    plan = study("adaptive").plan
    store = MemoryStore()
    [first, *_] = made(plan, exchange(plan, store).wanted)

    outcome = exchange(plan, store, [first, first | {"index": 500, "seed": seed_of(plan, first, 500)}])

    assert (outcome.recorded, outcome.unused) == (1, 1)
    assert exchange(plan, store, [first]).known == 1


def seed_of(plan, line, index):
    return am.run_seed(plan.seed, line["instance"], line["algorithm"], index)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instance": "i99"}, "the study has no instance 'i99'"),
        ({"algorithm": 5}, "the study has no algorithm 5"),
        ({"index": -1}, "index must be a whole number"),
        ({"index": True}, "index must be a whole number"),
        ({"value": "much"}, "only 'ok' has a number"),
        ({"value": float("nan")}, "only 'ok' has a number"),
        ({"status": "timeout"}, "only 'ok' has a number"),
        ({"status": "broken"}, "status must be one of"),
        ({"seed": 1}, "the seed of this run is"),
        ({"seconds": -2}, "seconds must be a number"),
        ({"value": 10**400}, "only 'ok' has a number"),
        ({"seconds": 10**400}, "seconds must be a number"),
        ({"measures": {"gap": "x"}}, "measures must be numbers"),
        ({"colour": 3}, "unknown field 'colour'"),
    ],
)
def test_a_wrong_line_is_named(change, message):
    plan = study("adaptive").plan
    store = MemoryStore()
    [line, *_] = made(plan, exchange(plan, store).wanted)

    with pytest.raises(InvalidData, match="line 2") as problem:
        exchange(plan, store, [line, line | change])

    assert message in str(problem.value)
    assert recorded(store) == set()


def test_a_run_with_two_values_is_refused():
    plan = study("adaptive").plan
    store = MemoryStore()
    [line, *_] = made(plan, exchange(plan, store).wanted)

    with pytest.raises(InvalidData, match="has two values"):
        exchange(plan, store, [line, line | {"value": line["value"] + 1}])


SOLVER = '#!/bin/sh\necho "$(( ($2 % 1000) + $3 ))"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "solve").write_text(SOLVER)
    (tmp_path / "solve").chmod(0o755)
    (tmp_path / "study.toml").write_text(
        'difference = "simple"\nbetter = "lower"\nseed = 3\n[rule]\nallocation = "fixed"\nruns = 3\n'
        '[[algorithm]]\nname = "a"\ncommand = "./solve {instance} {seed} 0"\n'
        '[[algorithm]]\nname = "b"\ncommand = "./solve {instance} {seed} 900"\n'
        '[run]\non-failure = "drop"\n[instances]\nnames = ["i1", "i2", "i3", "i4"]\nuse = "all"\n'
    )
    return tmp_path


def test_the_commands_list_runs_and_take_their_results(shell, folder):
    wanted = shell("next", "study.toml", "--json").json
    assert (wanted["complete"], wanted["wanted"], len(wanted["runs"])) == (False, 24, 24)
    run = wanted["runs"][0]
    assert run["command"][0] == "./solve"
    assert run["command"][2] == str(run["seed"])
    assert len(shell("next", "study.toml", "--limit", "5").out.splitlines()) == 5

    lines = [
        {name: run[name] for name in ("instance", "algorithm", "index", "seed")}
        | ({"status": "failed", "message": "it broke"} if number == 3 else {"value": number, "seconds": 0.5})
        for number, run in enumerate(wanted["runs"])
    ]
    Path("runs.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    answer = shell("record", "study.toml", "runs.jsonl", "--json").json
    assert answer == {"schema_version": 1, "recorded": 24, "known": 0, "unused": 0, "complete": True, "wanted": 0}
    assert shell("next", "study.db", "--json").json["complete"] is True
    assert shell("analyse", "study.db", "--json").json["runs"] == 23

    with open_store("study.db") as store:
        failed = [run for run in store.observations() if run.status == "failed"]
    assert [(run.message, run.cause) for run in failed] == [("it broke", "external")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not json", "line 1: not a JSON object"),
        (b"\xff\xfe", "must be text in UTF-8"),
        (b"[1, 2]", "must be a JSON object"),
        (b"[" * 5000, "not a JSON object"),
    ],
)
def test_a_foreign_file_gets_one_sentence(shell, folder, content, message):
    Path("runs.jsonl").write_bytes(content)

    answer = shell("record", "study.toml", "runs.jsonl")

    assert answer.code == 1
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_a_study_that_another_process_runs_takes_no_results(shell, folder):
    Path("runs.jsonl").write_text("")
    with open_store("study.db"):
        answer = shell("record", "study.toml", "runs.jsonl")

    assert answer.code == 1
    assert "being run" in answer.err or "already open" in answer.err


JOBS = Path(__file__).parents[2] / "docs" / "jobs"
SBATCH = """#!/usr/bin/env bash
# stands for SLURM: makes the jobs of an array one after the other
for argument in "$@"; do case $argument in --array=1-*) last=${argument#--array=1-};; esac; done
for ((SLURM_ARRAY_TASK_ID = 1; SLURM_ARRAY_TASK_ID <= last; SLURM_ARRAY_TASK_ID++)); do
  export SLURM_ARRAY_TASK_ID; bash "${@: -1}"
done
"""


def test_the_recipe_for_job_arrays_in_rounds_gives_the_study_that_run_gives(shell, folder):
    text = (folder / "study.toml").read_text().replace('allocation = "fixed"\nruns = 3\n', "start = 3\nbudget = 12\n")
    (folder / "study.toml").write_text(f"se = 250\n{text}")
    (folder / "sbatch").write_text(SBATCH)
    (folder / "sbatch").chmod(0o755)
    path = f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(["bash", str(JOBS / "rounds.sh")], env=os.environ | {"PATH": path}, check=True, capture_output=True)

    assert shell("run", "study.toml", "--store", "whole.db", "--workers", "1").code == 0
    with open_store("study.db") as pieces, open_store("whole.db") as whole:
        assert recorded(pieces) == recorded(whole)
        assert len(recorded(whole)) > 24
