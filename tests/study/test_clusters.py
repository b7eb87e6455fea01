"""Studies whose instances belong together: declared in the plan, run over the clusters, tested by clusters."""

import json
import math
import random
from pathlib import Path

import pandas as pd
import pytest

import ampler as am
from ampler.core.errors import InvalidPlan
from ampler.core.plan import Instance
from ampler.running import run_plan
from ampler.study.record import from_json, record, to_json
from ampler.study.run_inputs import in_order
from ampler.study.store import open_store
from ampler.study.toml import read_study_file
from ampler.testing import SerialExecutor

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "dependence.json").read_text())
FAMILIES = {f"i{number:02d}": f"family{number % 6}" for number in range(24)}


def plain(instance, seed):
    return 10.0 + random.Random(f"{FAMILIES[instance]}").gauss(0, 1) + random.Random(seed).random()


def shifted(instance, seed):
    return plain(instance, seed) + 1.5 + random.Random(f"other {FAMILIES[instance]}").gauss(0, 1)


def study(**changes):
    settings = {
        "algorithms": {"plain": plain, "shifted": shifted},
        "instances": list(FAMILIES),
        "difference": "simple",
        "better": "lower",
        "design": am.FixedSize(runs=2),
        "seed": 3,
        "cluster": FAMILIES,
    }
    return am.Study(**settings | changes)


@pytest.mark.parametrize("gold", GOLD["order"], ids=str)
def test_the_order_takes_one_instance_of_each_cluster_after_the_other(gold):
    instances = [Instance(name, features={"of": label}) for name, label in gold["cluster_of"].items()]

    assert [instance.name for instance in in_order(gold["seed"], instances, "of")] == gold["order"]


def test_the_first_instances_are_of_as_many_clusters_as_there_are():
    plan = study(design=am.FixedSize(instances=6, runs=2)).plan

    assert len({FAMILIES[instance.name] for instance in plan.instances}) == 6


def test_a_study_by_clusters_is_analysed_by_clusters(tmp_path):
    with open_store(tmp_path / "study.db") as store:
        run_plan(study().plan, store, executor=SerialExecutor())

    planned = am.analyse(tmp_path / "study.db")
    ignoring = am.analyse(tmp_path / "study.db", difference="simple")

    assert planned.settings.cluster == ignoring.settings.cluster == "cluster"
    assert planned.comparisons[0].cluster.clusters == 6
    assert planned.comparisons[0].cluster.df == 5


def test_a_study_goes_on_with_its_clusters_where_it_was_interrupted(tmp_path):
    whole, parts = tmp_path / "whole.db", tmp_path / "parts.db"
    with open_store(whole) as store:
        run_plan(study().plan, store, executor=SerialExecutor())
    for use in (7, "all"):
        with open_store(parts) as store:
            run_plan(study(design=am.FixedSize(instances=use, runs=2)).plan, store, executor=SerialExecutor())

    first, second = (am.analyse(path).comparisons[0] for path in (whole, parts))

    assert first == second


@pytest.mark.parametrize(
    "changes",
    [
        {"design": am.FixedSize(instances="needed", effect=0.5)},
        {"design": am.FixedSize(effect=0.5)},
        {"design": am.Detect(0.5), "settings": am.Settings(mean_over="instances")},
        {"design": am.Detect(0.5), "cluster": lambda name: name},
        {"design": am.Detect(0.5), "cluster": lambda name: name[-1] in "012"},
        {"design": am.FixedSize(interim=2)},
        {"cluster": {"i00": "family"}},
        {"cluster": "family"},
    ],
)
def test_what_would_count_instances_as_independent_is_refused(changes):
    with pytest.raises(InvalidPlan, match="cluster"):
        _ = study(**changes).plan


@pytest.mark.parametrize("seeds", ["own", "shared"])
def test_detect_takes_two_instances_of_each_cluster_then_as_many_as_their_variance_needs(tmp_path, seeds):
    def algorithm(name):
        def run(instance, seed):
            family, own = (random.Random(f"{name} {label}").gauss(0, 0.3) for label in (FAMILIES[instance], instance))
            return 10.0 + family + own + random.Random(seed).gauss(0, 0.4)

        return run

    searched = study(algorithms={name: algorithm(name) for name in "ab"}, design=am.Detect(1.2, runs=3), seeds=seeds)
    analysis = searched.run(tmp_path / "s.db", workers=1, progress=False)
    with open_store(tmp_path / "s.db") as store:
        pilot, main, _ = (record.decision for record in store.decisions())

    assert (len(pilot.instances), main.last) == (12, True)
    assert main.details["clusters"] == 6
    assert len(main.instances) == 6 * main.details["per_cluster"] < 24
    assert len(set(map(FAMILIES.get, main.instances[:6]))) == 6
    assert (analysis.instances, analysis.comparisons[0].cluster.df) == (len(main.instances), 5)
    again = searched.run(tmp_path / "s.db", workers=2, progress=False)
    assert again.comparisons == analysis.comparisons


def test_the_pilot_of_clusters_writes_a_ratio_near_1_as_percent():
    plan = study(difference="ratio", design=am.Detect(0.02, runs=3)).plan

    assert "runs detect a difference of 2 %." in plan.study_rule(plan, ()).reason


def test_the_record_of_a_plan_holds_its_clusters_and_others_stay_as_they_were():
    clustered, plain_plan = record(study().plan), record(study(cluster=None).plan)

    assert from_json(to_json(clustered)).question.cluster == "cluster"
    assert not {"cluster", "mean_over"} & json.loads(to_json(plain_plan))["question"].keys()
    assert clustered.decisions != plain_plan.decisions


def test_a_study_file_declares_clusters_by_a_column_of_the_features(tmp_path):
    rows = "\n".join(f"{name},{family}" for name, family in FAMILIES.items())
    (tmp_path / "features.csv").write_text(f"instance,family\n{rows}\n", encoding="utf-8")
    (tmp_path / "algorithms.py").write_text(
        "def plain(instance, seed):\n    return 1.0 + seed % 7\n\n\n"
        "def other(instance, seed):\n    return 2.0 + seed % 5\n",
        encoding="utf-8",
    )
    definition = tmp_path / "study.toml"
    definition.write_text(
        'name = "families"\ndifference = "simple"\nbetter = "lower"\ncluster = "family"\nmean-over = "instances"\n'
        '[rule]\nallocation = "fixed"\nruns = 2\n'
        '[[algorithm]]\nname = "plain"\npython = "algorithms:plain"\n'
        '[[algorithm]]\nname = "other"\npython = "algorithms:other"\n'
        f'[instances]\nnames = {json.dumps(list(FAMILIES))}\nfeatures = "features.csv"\nuse = "all"\n',
        encoding="utf-8",
    )

    question = read_study_file(definition).plan.question

    assert (question.cluster, question.mean_over) == ("family", "instances")
    definition.write_text(definition.read_text(encoding="utf-8").replace('"family"', '"familie"'), encoding="utf-8")
    with pytest.raises(InvalidPlan, match="cluster"):
        read_study_file(definition)


def test_a_study_whose_algorithms_are_equal_seldom_claims_a_difference():
    """Forty studies of twelve families, each analysed by the families: about one in twenty claims a difference."""
    claims, studies = 0, 40
    for number in range(studies):
        rng = random.Random(f"study {number}")
        effects = {(name, family): rng.gauss(0, 1) for name in "ab" for family in range(12)}
        rows = [
            (f"f{family}", f"i{family}-{k}", name, effects[name, family] + rng.gauss(0, 1))
            for family in range(12)
            for k in range(5)
            for name in "ab"
        ]
        columns = dict(zip(("family", "instance", "algorithm", "score"), zip(*rows, strict=True), strict=True))
        analysis = am.analyse(
            am.read_results(pd.DataFrame(columns), cluster="family"), difference="simple", better="higher"
        )
        claims += analysis.comparisons[0].claimed

    assert claims / studies <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / studies)


@pytest.mark.parametrize("design", [am.Detect(0.25), am.Precision(se=0.3, effect=0.35, interim=2)])
def test_families_that_nobody_declared_are_noticed_in_planned_studies(tmp_path, design):
    gains = [random.Random(5 + family).gauss(0, 1) for family in range(10)]

    def plain(number, seed):
        return 100 + number / 10 + random.Random(seed).gauss(0, 0.1)

    def other(number, seed):
        return plain(number, seed) + gains[number // 10]

    study = am.Study(
        algorithms={"plain": plain, "other": other},
        instances=[am.Instance(f"i{k:03}", data=k, features={"family": f"f{k // 10}"}) for k in range(100)],
        difference="simple",
        better="lower",
        design=design,
        seed=4,
    )
    analysis = study.run(tmp_path / "study.db", executor=SerialExecutor(), progress=False)
    (warning,) = [warning for warning in analysis.warnings if warning.kind == "clusters"]
    assert "(0 of 1 claims stay)" in warning.sentence
    assert "Plan a new study" in warning.sentence
