"""Algorithms that share their seeds: the same runs however they are made, and fewer of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ampler as am
from ampler.core.arrays import Samples
from ampler.core.errors import InvalidInput, PlanMismatch
from ampler.running.driver import run_plan
from ampler.sampling.allocation import ReferencePairs, SharedPairs, optimal_counts
from ampler.sampling.rules import Accuracy, sample
from ampler.stats import dependence
from ampler.stats.contrasts import contrasts_among
from ampler.study.plan import part_of
from ampler.study.record import record
from ampler.study.store import open_store
from ampler.study.store.transfer import merge_stores

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "dependence.json").read_text())
LOAD = 0.95


def simulator(shift, load=LOAD, fails=()):
    def run(instance, seed):
        if seed % 10 in fails:
            raise ValueError("no value")
        common, own = (np.random.default_rng([seed, key]).normal() for key in (0, round(1 + 1000 * shift)))
        return 100 + instance + shift + 5 * (load * common + (1 - load**2) ** 0.5 * own)

    return run


def study(seeds="shared", *, design=None, instances=6, algorithms=None, **options):
    algorithms = algorithms or {"a": simulator(0.0), "b": simulator(1.0), "c": simulator(0.5)}
    options = {"difference": "simple", "better": "lower", "reference": "a", "seed": 5} | options
    design = design or am.Precision(se=1.0, budget=900)
    return am.Study(algorithms, {f"i{n}": n for n in range(instances)}, design=design, seeds=seeds, **options)


def observed(path):
    with am.open_study(path) as store:
        return {(run.key, run.seed, run.value) for run in store.observations()}


@pytest.mark.parametrize("gold", GOLD["seeds"])
def test_shared_seeds_follow_the_recipe(gold):
    assert am.run_seed(gold["study_seed"], gold["instance"], None, gold["index"]) == gold["seed"]


def test_run_k_of_all_algorithms_has_one_seed_and_instances_share_none(tmp_path):
    study().run(tmp_path / "s.db", progress=False)
    seeds: dict[tuple[str, int], set[int]] = {}
    for key, seed, _ in observed(tmp_path / "s.db"):
        seeds.setdefault((key.instance, key.index), set()).add(seed)
    assert all(len(of_run) == 1 for of_run in seeds.values())
    assert len(set.union(*seeds.values())) == len(seeds)


def test_plans_with_seeds_of_their_own_are_recorded_as_ever(tmp_path):
    own, shared = (study(seeds).plan for seeds in ("own", "shared"))
    assert [record(plan).seeds for plan in (own, shared)] == ["own", "shared"]
    assert not any("seeds" in identity for identity in record(own).fingerprint.algorithms.values())
    study("own").run(tmp_path / "s.db", progress=False)
    with pytest.raises(PlanMismatch, match="seeds"):
        study("shared").run(tmp_path / "s.db", progress=False)


@pytest.mark.parametrize("difference", ["simple", "percent", "ratio"])
@pytest.mark.parametrize(
    "design",
    [
        am.Precision(se=1.0, budget=900),
        am.Detect(1.0, pilot=12),
        am.FixedSize(instances=24, runs=5, interim=2, effect=0.8),
    ],
    ids=["precision", "detect", "interim"],
)
def test_correlated_runs_need_fewer_and_the_analysis_sees_it(tmp_path, difference, design):
    scale = 1.0 if difference == "simple" else 0.01
    if isinstance(design, am.Precision):
        design = replace(design, se=scale)
    elif isinstance(design, am.Detect):
        design = replace(design, difference=scale)
    own, shared = (
        study(
            seeds, design=design, instances=40 if not isinstance(design, am.Precision) else 6, difference=difference
        ).run(tmp_path / f"{seeds}.db", progress=False)
        for seeds in ("own", "shared")
    )
    assert shared.settings.paired == "seed"
    if isinstance(design, am.FixedSize):
        assert np.nanmean(shared.errors) < 0.5 * np.nanmean(own.errors)
    else:
        assert shared.runs < 0.6 * own.runs
    assert all(row.correlation > 0.8 for row in shared.diagnoses)
    assert "pairing" in {item.kind for item in shared.warnings}


@pytest.mark.parametrize("fails", [(), (3,)], ids=["all run", "some fail"])
def test_interrupted_parallel_and_divided_studies_have_the_same_runs(tmp_path, fails):
    algorithms = {"a": simulator(0.0), "b": simulator(1.0, fails=fails), "c": simulator(0.5)}
    whole = study(algorithms=algorithms, on_failure="drop")
    analysis = whole.run(tmp_path / "whole.db", workers=1, progress=False)
    expected = observed(tmp_path / "whole.db")

    whole.run(tmp_path / "parallel.db", workers=3, progress=False)
    assert observed(tmp_path / "parallel.db") == expected

    class Killed(Exception):
        pass

    def kill(event):
        done = getattr(event, "runs", 0)
        if done and done > 40:
            raise Killed

    for _ in range(3):
        try:
            whole.run(tmp_path / "killed.db", workers=1, progress=kill)
        except Killed:
            continue
    again = whole.run(tmp_path / "killed.db", workers=1, progress=False)
    assert observed(tmp_path / "killed.db") == expected
    assert again.comparisons == analysis.comparisons

    parts = [tmp_path / f"part{n}.db" for n in (1, 2)]
    for number, path in enumerate(parts, start=1):
        with open_store(path) as store:
            run_plan(part_of(whole.plan, number, 2), store, workers=1)
    merge_stores(parts, tmp_path / "merged.db")
    assert observed(tmp_path / "merged.db") == expected


def test_samples_keep_the_index_of_runs_that_failed():
    samples = Samples(["a", "b"])
    samples.drop("a", 1)
    samples.extend("a", [1.0, 3.0])
    samples.extend("b", [1.0, 2.0, 3.0])
    assert np.array_equal(samples.by_index(), [[1, 1], [np.nan, 2], [3, 3]], equal_nan=True)


def test_the_rule_stops_where_the_error_run_by_run_is_reached():
    rng = np.random.default_rng(1)
    values = 10 + 0.9 * rng.normal(size=(500, 1)) + 0.3 * rng.normal(size=(500, 3))
    rule = Accuracy(se=0.1, difference="percent", reference="a", seeds="shared", guard="none", budget=1500)
    outcome = sample(rule, lambda name, index: values[index, "abc".index(name)], ["a", "b", "c"])
    table = outcome.samples.by_index()
    gradient = contrasts_among(3, difference="percent", reference=0).gradient(np.nanmean(table, axis=0))
    squares = dependence.noise_errors(dependence.shared_noise(gradient, table), outcome.samples.counts.astype(float))
    assert rule.errors(outcome.samples).plain == pytest.approx(np.sqrt(squares))
    assert outcome.stop.reason == "accuracy reached"
    assert np.ptp(outcome.samples.counts) <= 1


@pytest.mark.parametrize("gold", GOLD["counts"])
def test_the_number_of_runs_is_near_the_fewest(gold):
    """Equal numbers unless a quarter is saved; the golden numbers have no such threshold."""
    own, start = np.array(gold["variances"], dtype=float), np.full(len(gold["variances"]), float(gold["start"]))
    noise = np.zeros((len(own) - 1, len(own), len(own)))
    for pair, (variance, covariance) in enumerate(zip(own[1:], gold["covariances_with_reference"], strict=True)):
        noise[pair, 0, 0], noise[pair, pair + 1, pair + 1] = own[0], variance
        noise[pair, 0, pair + 1] = noise[pair, pair + 1, 0] = -covariance
    shared, rest = np.full_like(own, own[0]), own.copy()
    shared[0] = rest[0] = 0
    pairs = SharedPairs(noise)
    targets = pairs.targets(start, optimal_counts(ReferencePairs(0, shared, rest), gold["se"], start), gold["se"])
    assert pairs.largest_error(targets) == pytest.approx(gold["se"], rel=1e-6)
    assert gold["total"] * (1 - 1e-6) <= targets.sum() <= gold["total"] / 0.72


@pytest.mark.parametrize("correlation", [0.0, 0.6, 0.95])
@pytest.mark.parametrize("reference", [None, 0])
def test_targets_reach_the_error_from_any_counts(correlation, reference):
    rng = np.random.default_rng(7)
    for size in (2, 5, 9):
        gradient = contrasts_among(size, difference="simple", reference=reference).gradient(np.ones(size))
        deviations = rng.uniform(0.5, 2.0, size)
        covariances = np.outer(deviations, deviations) * (correlation + (1 - correlation) * np.eye(size))
        pairs = SharedPairs(gradient.T[:, :, None] * gradient.T[:, None, :] * covariances)
        for _ in range(20):
            counts = rng.integers(5, 60, size).astype(float)
            reached = pairs.largest_error(counts)
            for se in (reached * 0.99, reached / 2):
                targets = pairs.targets(counts, rng.uniform(1, 50, size), se)
                assert (targets >= counts).all()
                assert (targets > counts).any()


@pytest.mark.parametrize("seed", range(12))
def test_many_alike_algorithms_end(seed):
    rng = np.random.default_rng([1, seed])
    values = 10 + 0.95 * rng.normal(size=(400, 1)) + 0.3 * rng.normal(size=(400, 22))
    rule = Accuracy(se=0.15, difference="simple", reference="a0", seeds="shared", budget=22 * 400)
    counts = sample(rule, drawing(values), [f"a{k}" for k in range(22)]).samples.counts
    assert np.ptp(counts) <= 1
    assert counts.max() < 60


def drawing(values):
    return lambda name, index: values[index, int(name[1:])]


@pytest.mark.parametrize("algorithms", [2, 5, 22])
def test_algorithms_that_ignore_the_seed_lose_few_runs(algorithms):
    names = [f"a{k}" for k in range(algorithms)]
    total = dict.fromkeys(("own", "shared"), 0)
    for seed in range(4):
        values = np.random.default_rng(seed).normal(10, 1, (2000, algorithms))
        for seeds in total:
            rule = Accuracy(se=0.25, difference="simple", reference="a0", seeds=seeds, budget=20_000)
            total[seeds] += sample(rule, drawing(values), names).samples.total_spent
    assert total["shared"] < 1.35 * total["own"]


def test_an_algorithm_without_noise_is_run_once():
    values = np.random.default_rng(2).normal(10, 1, 500)
    rule = Accuracy(se=0.2, difference="simple", seeds="shared", budget=1000)
    outcome = sample(rule, lambda name, k: 5.0 if name == "d" else values[k], ["a", "d"], deterministic=["d"])
    assert outcome.samples.counts[0] >= 20  # 1/0.2² = 25 for a standard deviation of 1
    assert outcome.samples.counts[1] == 1
    assert outcome.stop.reason == "accuracy reached"


def test_a_check_says_whether_sharing_helps(tmp_path):
    helps = study().check()
    hardly = study(algorithms={"a": simulator(0.0, 0.0), "b": simulator(1.0, 0.0)}).check()
    assert helps.inspection.correlation > 0.7
    assert abs(hardly.inspection.correlation) < 0.7
    assert helps.shared_seeds is not None
    assert study("own").check().shared_seeds is None
    loose = study(algorithms={"a": simulator(0.0), "b": lambda instance, seed: np.random.default_rng().normal(9)})
    assert any("shared seeds have no effect" in warning for warning in loose.check().warnings)


def test_what_cannot_be_is_refused():
    with pytest.raises(InvalidInput, match="seeds must be"):
        study("common")
    with pytest.raises(InvalidInput, match="greedy"):
        Accuracy(se=1, difference="simple", seeds="shared", allocation="greedy")


def test_medians_are_compared_as_independent(tmp_path):
    analysis = study(statistic="median", design=am.FixedSize(runs=10)).run(tmp_path / "s.db", progress=False)
    assert next(item for item in analysis.warnings if item.kind == "pairing").numbers == {}
