"""The paper's experiments as studies: their design, their instances and the published numbers."""

import json
from pathlib import Path

import pytest

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


def test_files_and_recipes_give_the_same_makespans_and_features(tmp_path):
    write_instance(generate_instance(12, 3, 9, seed=2), tmp_path / "G_12_3_S_1-9_2.txt.gz")
    (instance,) = instance_files(tmp_path)
    assert instance.name == "G_12_3_S_1-9_2"
    assert instance.features == {"jobs": "12", "machines": "3", "setups": "1-9"}
    settings = {"disable": "no-TSK", "iterations": 500}
    assert makespan_of(Path(instance.path), 7, **settings) == makespan_of(Recipe(12, 3, 9, 2), 7, **settings)


def test_a_folder_without_instances_is_told(tmp_path):
    with pytest.raises(ValueError, match=r"\.txt"):
        instance_files(tmp_path)


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
    assert [row.rejected for row in rows] == [row["reject"] for row in printed]
