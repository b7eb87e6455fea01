"""Instances that belong together are planned by clusters, whose number gives the power."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import ampler as am
from ampler.core.errors import InvalidDesign
from ampler.design.detect import DetectGoal, allowed_variance, plan_clusters
from ampler.design.text import Ask, answer_sentence, answer_to, with_available

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "dependence.json").read_text())


@pytest.mark.parametrize("gold", GOLD["needed"], ids=str)
def test_the_fewest_clusters_are_those_of_the_reference(gold):
    terms = {name: gold[name] for name in ("comparisons", "effect", "per_cluster", "icc")}

    design = am.required_instances(power=gold["power"], **terms)

    less = am.achieved_power(instances=design.instances - gold["per_cluster"], **terms)
    assert (design.clusters, design.instances) == (gold["clusters"], gold["clusters"] * gold["per_cluster"])
    assert design.mean_power == pytest.approx(gold["mean_power"], abs=1e-9)
    assert less.power == pytest.approx(gold["mean_power_one_less"], abs=1e-9)


@pytest.mark.parametrize("gold", [row for row in GOLD["power"] if row["cv"] == 0], ids=str)
def test_the_power_is_that_of_the_reference(gold):
    design = am.achieved_power(
        instances=gold["clusters"] * gold["per_cluster"],
        comparisons=1,
        alpha=gold["level"],
        **{name: gold[name] for name in ("effect", "per_cluster", "icc")},
    )

    assert design.power == pytest.approx(gold["power"], abs=1e-9)


def test_instances_without_correlation_need_as_many_in_clusters_of_one():
    plain, single = (
        am.required_instances(comparisons=3, effect=0.4, **clusters)
        for clusters in ({}, {"per_cluster": 1, "icc": 0.4})
    )

    assert (single.instances, single.power, single.powers.tolist()) == (
        plain.instances,
        plain.power,
        plain.powers.tolist(),
    )


@pytest.mark.parametrize("per_cluster", [2, 5, 10])
def test_more_correlation_never_lowers_the_number_of_clusters(per_cluster):
    clusters = [
        am.required_instances(comparisons=7, effect=0.5, per_cluster=per_cluster, icc=icc).clusters
        for icc in (0.0, 0.1, 0.3, 0.5, 0.9, 1.0)
    ]

    assert clusters == sorted(clusters)


def test_the_detectable_effect_is_found_with_the_power_asked_for():
    terms = {"instances": 120, "comparisons": 3, "per_cluster": 6, "icc": 0.25}

    design = am.detectable_effect(power=0.8, **terms)

    assert am.achieved_power(effect=design.effect, **terms).power == pytest.approx(0.8, abs=1e-9)


def test_the_power_of_a_plan_is_that_of_an_analysis_by_clusters():
    design = am.required_instances(comparisons=1, effect=0.6, per_cluster=4, icc=0.4)
    rng, found, studies = np.random.default_rng(41), 0, 400
    for _ in range(studies):
        common = rng.normal(0, math.sqrt(0.4), (design.clusters, 1))
        differences = 0.6 + common + rng.normal(0, math.sqrt(0.6), (design.clusters, 4))
        means = differences.mean(axis=1)
        found += means.mean() / (means.std(ddof=1) / math.sqrt(len(means))) > 2.0
    exact = am.achieved_power(instances=design.instances, comparisons=1, effect=0.6, per_cluster=4, icc=0.4).power

    assert found / studies == pytest.approx(exact, abs=0.03 + 3 * math.sqrt(exact * (1 - exact) / studies))


@pytest.mark.parametrize(
    "wrong",
    [
        {"per_cluster": 4},
        {"icc": 0.2},
        {"per_cluster": 4, "icc": 1.2},
        {"per_cluster": 0, "icc": 0.2},
        {"per_cluster": 4, "icc": 0.2, "looks": 3},
        {"per_cluster": 4, "icc": 0.2, "target": "simulated"},
    ],
    ids=str,
)
def test_what_cannot_be_planned_is_refused(wrong):
    with pytest.raises(InvalidDesign):
        am.required_instances(comparisons=3, effect=0.5, **wrong)


def test_instances_must_be_whole_clusters():
    with pytest.raises(InvalidDesign, match="multiple of 4"):
        am.achieved_power(instances=30, comparisons=1, effect=0.5, per_cluster=4, icc=0.2)


def test_the_answer_tells_clusters_and_instances():
    ask = Ask(comparisons=7, effect=0.5, power=0.8, per_cluster=10, icc=0.1)

    answer = answer_to(ask)

    assert answer_sentence(ask, answer).startswith("12 clusters of 10 (120 instances)")
    assert "With the 90 instances" in with_available(ask, 95)
    assert answer.as_dict()["clusters"] == 12
    assert "clusters" not in answer_to(Ask(comparisons=7, effect=0.5, power=0.8)).as_dict()


def test_the_command_plans_clusters_and_shows_correlations_where_none_is_given(shell):
    options = ("design", "--comparisons", "7", "--effect", "0.5", "--power", "0.8", "--per-cluster", "10")

    one, several = shell(*options, "--icc", "0.1", "--json"), shell(*options, "--json")

    assert (one.json["clusters"], one.json["instances"]) == (12, 120)
    assert [design["icc"] for design in several.json["designs"]] == [0.1, 0.3, 0.5]
    assert [design["clusters"] for design in several.json["designs"]] == [12, 20, 28]
    assert "icc" in shell(*options).out


@pytest.mark.parametrize("gold", GOLD["few_clusters"])
def test_the_instances_of_few_clusters_leave_half_of_the_allowed_variance_to_the_clusters(gold):
    goal = DetectGoal(gold["detect"], power=gold["power"], alpha=gold["alpha"])
    sizes = np.full(gold["clusters"], 100)

    plan = plan_clusters(sizes, gold["within"], gold["comparisons"], goal, lambda se, lower: lower, np.ones(2))

    allowed = allowed_variance(gold["clusters"], gold["comparisons"], goal)
    assert allowed == pytest.approx(gold["allowed_variance"], rel=1e-9)
    assert plan.per_cluster == gold["per_cluster"]
