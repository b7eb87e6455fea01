"""The paper's experiments as studies: their design, and a small one from start to finish."""

import json
from pathlib import Path

import pytest

import ampler as am
from ampler_upmsp import published
from ampler_upmsp.experiments import (
    Recipe,
    calibration_like,
    first_experiment,
    instance_files,
    makespan_of,
    second_experiment,
)
from ampler_upmsp.instance import generate_instance, write_instance
from ampler_upmsp.paper import main
from ampler_upmsp.variants import follow_up_variants, paper_variants

GOLD = Path(__file__).parents[3] / "tests" / "gold" / "paper_tables.json"


def test_the_first_experiment_needs_57_of_200_instances():
    plan = first_experiment(calibration_like(), iterations=1000).plan
    assert (len(plan.instances), len(plan.untouched), plan.needed) == (57, 143, 57)
    assert [algorithm.name for algorithm in plan.algorithms] == list(paper_variants())


def test_the_second_experiment_uses_all_instances_and_has_the_power_of_the_paper():
    plan = second_experiment(calibration_like(), iterations=1000).plan
    assert len(plan.instances) == 200
    assert plan.power == pytest.approx(0.853, abs=5e-4)


def test_both_rules_see_the_same_runs(tmp_path):
    instances = {name: Recipe(10, 3, 9, replicate) for replicate, name in enumerate("abc", start=1)}
    stores = {}
    for paper_rule in (False, True):
        study = first_experiment(instances, iterations=300, paper_rule=paper_rule)
        path = tmp_path / f"{paper_rule}.db"
        analysis = study.run(path, workers=2)
        assert len(analysis.comparisons) == 21
        with am.read_store(path) as store:
            stores[paper_rule] = {each.key: each.value for each in store.observations()}
    shared = stores[False].keys() & stores[True].keys()
    assert len(shared) >= 3 * 22 * 10
    assert all(stores[False][key] == stores[True][key] for key in shared)


def test_files_and_recipes_give_the_same_makespans(tmp_path):
    write_instance(generate_instance(12, 3, 9, seed=2), tmp_path / "one.txt.gz")
    (name, path), *_ = instance_files(tmp_path).items()
    assert name == "one"
    settings = {"disable": "no-TSK", "iterations": 500}
    assert makespan_of(path, 7, **settings) == makespan_of(Recipe(12, 3, 9, 2), 7, **settings)


@pytest.mark.parametrize(
    ("table", "rows", "variants"),
    [("table1_N57_K21", published.FIRST, paper_variants()), ("table2_N200_K7", published.SECOND, follow_up_variants())],
)
def test_the_published_numbers_are_those_of_the_tables(table, rows, variants):
    printed = json.loads(GOLD.read_text())[table]["rows"]
    assert [(row.variant, row.estimate, row.half_width, row.effect_size, row.p_value) for row in rows] == [
        (row["comparison"], row["estimate"], row["halfwidth_printed"], row["d_printed"], row["p_printed"])
        for row in printed
    ]
    assert {row.variant for row in rows} == set(variants) - {"full"}


def test_a_small_version_goes_from_design_to_report_and_beside_the_paper(tmp_path, capsys):
    for replicate in range(4):
        write_instance(generate_instance(8, 3, 9, seed=replicate), tmp_path / f"I_{replicate}.txt")
    arguments = [
        "--output",
        str(tmp_path / "out"),
        "--instances",
        str(tmp_path),
        "--iterations",
        "200",
        "--only",
        "second",
    ]
    assert main(arguments) == 0
    assert main(arguments) == 0  # again: nothing is left to run
    table = (tmp_path / "out" / "second-beside-the-paper.md").read_text()
    assert all(row.variant in table for row in published.SECOND)
    assert "<html" in (tmp_path / "out" / "second.html").read_text()
    assert "7 null hypotheses" in capsys.readouterr().out
