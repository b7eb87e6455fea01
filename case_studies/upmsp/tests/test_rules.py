"""The rules judged by the truth: true standard errors, and the whole comparison on a small scale."""

import csv
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest

import ampler as am
from ampler.study.store import read_store
from ampler_upmsp.experiments import RULES, Recipe
from ampler_upmsp.instance import generate_instance, write_instance
from ampler_upmsp.paper import main
from ampler_upmsp.rules import RuleOnInstance, Truth, draw_rules, summary, true_moments, truth_experiment


def test_true_errors_are_those_of_many_repeated_experiments():
    truth = Truth({"full": 100.0, "a": 150.0, "b": 90.0}, {"full": 25.0, "a": 900.0, "b": 4.0})
    runs = {"full": 12, "a": 40, "b": 5}
    rng = np.random.default_rng(1)
    means = {
        name: rng.normal(truth.mean[name], np.sqrt(truth.variance[name] / count), size=400_000)
        for name, count in runs.items()
    }
    simulated = [np.std(1 - means[name] / means["full"]) for name in ("a", "b")]
    assert truth.errors(runs) == pytest.approx(simulated, rel=0.01)


def test_the_truth_is_made_of_many_runs_on_the_instances_of_the_experiment(tmp_path):
    instances = [am.Instance(name, data=Recipe(8, 3, 9, replicate)) for replicate, name in enumerate("ab", start=1)]
    truth_experiment(instances, iterations=200, runs=12).run(tmp_path / "truth.db", workers=2)
    truth = true_moments(tmp_path / "truth.db")
    assert truth.keys() == {"a", "b"}
    with read_store(tmp_path / "truth.db") as store:
        keys = {run.key: run.value for run in store.observations()}
    values = [value for key, value in keys.items() if (key.instance, key.algorithm) == ("a", "full")]
    assert len(values) == 12
    assert truth["a"].mean["full"] == pytest.approx(np.mean(values))
    assert truth["a"].variance["full"] == pytest.approx(np.var(values, ddof=1))


def test_the_summary_has_a_row_for_each_rule():
    rows = [
        RuleOnInstance("x", "paper", 300, 20, 10, 10, 2, 1.2, False),
        RuleOnInstance("y", "paper", 1100, 20, 20, 10, 10, 0.9, True),
        RuleOnInstance("x", "pairs", 400, 20, 20, 10, 10, 0.8, False),
    ]
    lines = summary(rows).splitlines()
    assert lines[2] == "| the paper's Algorithm 1 | 1400 | 1 | 75.0 % | 60.0 % | 1 of 2 | 1.05·se |"
    assert lines[3] == "| optimal, guard pairs (default) | 400 | 0 | 100.0 % | 100.0 % | 1 of 1 | 0.80·se |"


def test_the_figure_has_a_mark_for_each_instance_and_rule():
    rows = [
        RuleOnInstance(name, rule, 300, 21, 21, 6, 6, 0.9, False)
        for name in "xyz"
        for rule in ("paper", "pairs", "all")
    ]
    ax = draw_rules(rows)
    assert [len(line.get_xdata()) for line in ax.lines[:3]] == [3, 3, 3]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The comparison of the rules on three small instances: the folder, and what was said."""
    instances, output = tmp_path_factory.mktemp("instances"), tmp_path_factory.mktemp("out")
    for replicate in range(1, 4):
        write_instance(generate_instance(12, 3, 49, seed=replicate), instances / f"G_12_3_S_1-49_{replicate}.txt")
    arguments = ["--only", "rules", "--instances", instances, "--iterations", 300, "--truth", 50, "--output", output]
    with redirect_stdout(StringIO()) as said:
        assert main([str(word) for word in arguments]) == 0
    return output, said.getvalue()


def test_the_guarded_rules_run_more_and_hold_more(judged):
    output, said = judged
    with (output / "rules.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 3
    runs, hard_within = (
        {rule: sum(int(row[column]) for row in rows if row["rule"] == rule) for rule in ("paper", "pairs", "all")}
        for column in ("runs", "hard_within")
    )
    assert runs["paper"] < runs["pairs"] < runs["all"]
    assert hard_within["paper"] < hard_within["pairs"] <= hard_within["all"]
    assert all(0 <= int(row["hard_within"]) <= int(row["within"]) <= int(row["pairs"]) == 21 for row in rows)
    assert "guard all" in said


def test_the_rules_see_the_same_runs(judged):
    values = {}
    for name in RULES:
        assert len(am.analyse(judged[0] / f"rule-{name}.db").comparisons) == 21
        with read_store(judged[0] / f"rule-{name}.db") as store:
            values[name] = {each.key: each.value for each in store.observations()}
    shared = values["paper"].keys() & values["pairs"].keys() & values["all"].keys()
    assert len(shared) >= 3 * 22 * 10
    assert all(values["paper"][key] == values["pairs"][key] == values["all"][key] for key in shared)
