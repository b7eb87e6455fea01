"""From runs to an Analysis: against R, against the paper's first table, on public data, and the laws of the whole."""

import csv
import itertools
import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

import ampler
from ampler.analysis import analyse_runs
from ampler.analysis.display import plain_text
from ampler.analysis.tables import comparison_columns
from ampler.analysis.text import headline
from ampler.core.arrays import STATUSES, Runs
from ampler.core.errors import InvalidInput
from ampler.core.failures import Drop, Par, Penalty
from ampler.core.settings import Settings
from ampler.stats.omnibus import block_anova

GOLD = Path(__file__).parents[1] / "gold"
DATA = json.loads((GOLD / "analysis.json").read_text())
NAMES = {"t": "t.test", "wilcoxon": "wilcoxon", "sign": "binomial"}
COMPARISON_KEYS = [
    *(
        "first",
        "second",
        "estimate",
        "estimate_of",
        "interval",
        "level",
        "joint_interval",
        "p_value",
        "p_holm",
        "alpha",
    ),
    *("rank", "rejected", "effect_size", "effect_interval", "instances", "verdict"),
    *("doubts", "claimed", "direction", "t", "degrees_of_freedom"),
]


def analysed(runs, *, features=None, deterministic=None, **asked):
    """The analysis of runs under these settings."""
    return analyse_runs(runs, Settings(**asked), features=features, deterministic=deterministic)


def runs_from(values, algorithms=None, repeats=None):
    """One run per cell of a table, or `repeats` noisy ones."""
    values = np.asarray(values, float)
    n, a = values.shape
    algorithms = algorithms or [f"a{k + 1}" for k in range(a)]
    instances = [f"i{i + 1}" for i in range(n)]
    cells = [(instances[i], algorithms[k], values[i, k]) for i in range(n) for k in range(a)]
    if repeats is not None:
        noise = np.random.default_rng(0).normal(size=(len(cells), repeats))
        cells = [(i, k, value + x) for (i, k, value), row in zip(cells, noise, strict=True) for x in row]
    return Runs.from_columns(*zip(*cells, strict=True))


def shifted(n=20, shift=(0.0, 1.0, 0.1), seed=1, sd=1.0):
    """Instances with very different levels, algorithms with these shifts."""
    rng = np.random.default_rng(seed)
    return 100 + 20 * rng.normal(size=(n, 1)) + rng.normal(0, sd, (n, len(shift))) + np.array(shift)


def read_paper(public_data):
    table = pd.read_csv(public_data / "paper_experiment1_runs.csv")
    return Runs.from_columns(table.Instance, table.Algorithm, table.Observation.to_numpy(float))


tables = st.integers(0, 10**6).map(lambda seed: shifted(n=8, shift=(0.0, 0.5, 1.0), seed=seed))
differences = st.sampled_from(["simple", "percent", "ratio"])


def analysis_or_sentence(runs, **question):
    """The analysis, or the text of the error that a user would see; anything else is a bug."""
    try:
        return analysed(runs, **question)
    except InvalidInput as problem:
        return str(problem)


# against R --------------------------------------------------------------------------------------------------------


def has_rounding_noise(phi):
    return any(len(set(np.abs(column))) != len(set(np.abs(column.round(9)))) for column in phi.T)


def wilcoxon_without_noise(phi, data):
    """p-values by scipy, with R's rules, of differences rounded to where their ties are."""
    alternative = data["alternative"].replace(".", "-")
    p = [
        wilcoxon(column[column != 0], correction=True, method="approx", alternative=alternative).pvalue
        for column in phi.round(9).T
    ]
    by_size = np.argsort(p)
    steps = np.maximum.accumulate(np.array(p)[by_size] * np.arange(len(p), 0, -1))
    return {"p": p, "p_holm": np.minimum(steps, 1.0)[np.argsort(by_size)]}


@pytest.mark.parametrize("data", DATA, ids=lambda data: data["name"])
@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_the_whole_analysis_gives_what_r_gives(data, test):
    analysis = analysed(
        runs_from(data["Y"]),
        difference="percent" if data["dif"] == "perc" else "simple",
        reference="a1" if data["comparisons"] == "all.vs.first" else None,
        test=test,
        signed_ranks="normal",  # as R where differences tie
        alternative=data["alternative"].replace(".", "-"),
        alpha=data["alpha"],
    )
    gold = dict(data["tests"][NAMES[test]])
    if test == "wilcoxon" and has_rounding_noise(np.array(data["Phi"])):  # R ranks the noise; ties are ties here
        gold |= wilcoxon_without_noise(np.array(data["Phi"]), data)
    names = [(f"a{i}", f"a{j}") for i, j in data["pairs"]]
    assert analysis.pairs == tuple(names)
    np.testing.assert_allclose(analysis.differences, data["Phi"], rtol=1e-9, atol=1e-12)
    assert [(c.first, c.second) for c in analysis.comparisons] == [names[k - 1] for k in gold["holm_order"]]
    in_order = [analysis.comparisons[rank - 1] for rank in gold["holm_rank"]]
    np.testing.assert_allclose([c.p_value for c in in_order], gold["p"], rtol=1e-9)
    np.testing.assert_allclose([c.p_holm for c in in_order], gold["p_holm"], rtol=1e-9)
    assert [c.rejected for c in in_order] == gold["reject_step_down"]


def test_the_first_table_of_the_paper_to_its_printed_digits(public_data):
    runs = read_paper(public_data)
    analysis = analysed(runs, reference="Full", difference="percent", se=0.05, budget=1100, formula="paper")
    printed = json.loads((GOLD / "paper_tables.json").read_text())["table1_N57_K21"]
    assert (analysis.instances, analysis.runs, len(analysis.algorithms)) == (57, 23_271, 22)
    assert sum(c.rejected for c in analysis.comparisons) == 12
    for ours, row in zip(analysis.comparisons, printed["rows"], strict=True):
        assert (ours.first, ours.second, ours.rank) == ("Full", row["comparison"], row["rank"])
        assert ours.rejected == row["reject"]
        half = (ours.interval[1] - ours.interval[0]) / 2
        assert agrees(ours.alpha, row["alpha_printed"])
        assert agrees(ours.p_value, row["p_printed"])
        assert agrees(ours.estimate, row["estimate"])
        assert agrees(half, row["halfwidth_printed"])
        assert agrees(ours.effect_size, row["d_printed"])
    assert analysis.at_budget == ("I_50_15_S_1-9_2", "I_50_25_S_1-124_1", "I_50_25_S_1-9_2")
    assert [row.instance for row in analysis.accuracy if row.accurate is False] == list(analysis.at_budget)
    assert "budget" in {caution.kind for caution in analysis.warnings}


def agrees(value, printed):
    """Whether a value rounds to what is printed with two significant digits (halves may go either way)."""
    unit = 10.0 ** (math.floor(math.log10(abs(printed))) - 1)
    return abs(value - printed) <= unit * (0.5 + 1e-9)


# public data ------------------------------------------------------------------------------------------------------


def test_duplicated_instances_are_noticed(public_data):
    table = pd.read_csv(public_data / "benavoli2017_accuracies_mean.csv").melt("dataset")
    runs = Runs.from_columns(table.dataset, table.variable, table.value)
    analysis = analysed(runs, difference="simple", better="higher")
    assert analysis.omnibus.friedman.corrected.statistic == pytest.approx(20.8405, abs=5e-5)
    (caution,) = (caution for caution in analysis.warnings if caution.kind == "duplicates")
    assert "credit = credit_2" in caution.sentence


def test_mean_ranks_know_what_is_better(public_data):
    table = pd.read_csv(public_data / "demsar2006_table6.csv", index_col=0)
    table.loc["voting", "C4.5+cf"] = 0.9754
    runs = runs_from(table.to_numpy(), list(table.columns))
    analysis = analysed(runs, difference="simple", better="higher")
    assert [row.mean_rank for row in analysis.algorithms] == pytest.approx([3.143, 2.0, 2.893, 1.964], abs=5e-4)
    assert analysis.omnibus.friedman.uncorrected.statistic == pytest.approx(9.28, abs=5e-3)


def test_an_incomplete_block_serves_the_pairs_that_have_it_and_that_is_said(public_data):
    table = pd.read_csv(public_data / "ioh_dsl_large_final.csv")
    runs = Runs.from_columns([f"f{f}" for f in table.func], table.algorithm, table.finalFV.to_numpy(float))
    analysis = analysed(runs, difference="simple", better="higher")
    assert (analysis.instances, analysis.omnibus.instances) == (23, 22)
    assert (analysis.excluded, analysis.incomplete) == ({}, {"f18": "no run of (30,30) vGA"})
    assert {(c.instances, "(30,30) vGA" in (c.first, c.second)) for c in analysis.comparisons} == {
        (22, True),
        (23, False),
    }
    sentence = next(c.sentence for c in analysis.warnings if c.kind == "incomplete")
    assert "1 of 23 instances are incomplete: f18 (no run of (30,30) vGA)." in sentence
    assert "(22 for 11 pairs, 23 for 55 pairs)" in sentence
    assert "22 complete ones" in sentence


def test_a_dimension_makes_subgroups(public_data):
    table = pd.read_csv(public_data / "cec17_extended_final.csv.gz")
    instances = [f"F{f}-D{d}" for f, d in zip(table.Benchmark, table.Dimension, strict=True)]
    runs = Runs.from_columns(instances, table.Algorithm, table.Result.to_numpy(float))
    features = {"Dimension": dict(zip(instances, table.Dimension, strict=True))}
    analysis = analysed(runs, difference="simple", features=features, test="wilcoxon")
    assert len(analysis.subgroups) == 4 * 78
    assert {(group.value, group.instances) for group in analysis.subgroups} == {
        (d, 29) for d in ("10", "30", "50", "100")
    }
    alone = table[table.Dimension == 30]
    single = analysed(
        Runs.from_columns(alone.Benchmark.astype(str), alone.Algorithm, alone.Result.to_numpy(float)),
        difference="simple",
        test="wilcoxon",
    )
    assert single.omnibus.friedman.corrected.statistic == pytest.approx(230.990, abs=5e-4)
    by_pair = {(c.first, c.second): c.p_value for c in single.comparisons}
    groups = {(g.first, g.second): g.p_value for g in analysis.subgroups if g.value == "30"}
    assert groups == pytest.approx(by_pair)


@pytest.mark.parametrize("name", ["aslib_CPMP-2015.csv", "aslib_CSP-2010.csv"])
def test_solver_failures_need_a_policy(public_data, name):
    table = pd.read_csv(public_data / name)
    status = ["ok" if s == "ok" else "timeout" if s == "timeout" else "failed" for s in table.runstatus]
    runs = Runs.from_columns(table.instance_id, table.algorithm, table.runtime.to_numpy(float), status)
    with pytest.raises(InvalidInput, match="drop them, or count a penalty or PAR-k"):
        analysed(runs, difference="simple")
    dropped, par = (analysed(runs, difference="simple", failures=policy) for policy in (Drop(), Par(10)))
    solved = {name: set(rows.instance_id) for name, rows in table[table.runstatus == "ok"].groupby("algorithm")}
    assert all(c.instances == len(solved[c.first] & solved[c.second]) for c in dropped.comparisons)
    everyone = set.intersection(*solved.values())
    assert dropped.omnibus is None if len(everyone) < 2 else dropped.omnibus.instances == len(everyone)
    assert par.instances == table.instance_id.nunique()
    assert par.statistics.max() == 10 * table.runtime[table.runstatus != "ok"].max()
    assert "failures" in {caution.kind for caution in par.warnings}
    assert sum(sum(row.failures.values()) for row in par.algorithms) == (table.runstatus != "ok").sum()


@pytest.mark.parametrize(("name", "limit"), [("aslib_CPMP-2015.csv", 3600.0), ("aslib_CSP-2010.csv", 5000.0)])
def test_par10_of_public_solver_runs_is_what_a_loop_over_the_rows_gives(public_data, name, limit):
    scores = defaultdict(list)
    with (public_data / name).open(newline="") as file:
        for row in csv.DictReader(file):
            scores[row["algorithm"]].append(float(row["runtime"]) if row["runstatus"] == "ok" else 10 * limit)
    analysis = ampler.analyse(
        ampler.read_results(public_data / name, on_failure="par=10"), difference="simple", better="lower"
    )
    assert analysis.settings.failures == Par(10, limit)
    means = dict(zip(analysis.recorded.algorithms, analysis.statistics.mean(axis=0), strict=True))
    assert means == pytest.approx({algorithm: sum(each) / len(each) for algorithm, each in scores.items()}, rel=1e-12)


# dropped failures -------------------------------------------------------------------------------------------------


def solvers(policy, **question):
    """`bold` is quick where it ends and fails in half of its runs; `calm` always ends, at ten times the time."""
    rng = np.random.default_rng(3)
    rows = [
        (f"i{i}", name, time * rng.uniform(0.8, 1.2), "timeout" if name == "bold" and run % 2 else "ok")
        for i in range(20)
        for name, time in (("bold", 6.0), ("calm", 60.0))
        for run in range(6)
    ]
    return analysed(
        Runs.from_columns(*zip(*rows, strict=True)), difference="simple", reference="calm", failures=policy, **question
    )


def test_dropped_failures_are_said_in_the_verdict_the_headline_and_beside_them():
    found = solvers(Drop())
    assert found.comparisons[0].verdict.startswith("bold is better than calm among the runs that succeeded: −")
    assert headline(found).startswith("calm is worse than bold, among the runs that succeeded.")
    assert [(row.algorithm, row.solved, row.runs) for row in found.algorithms] == [
        ("bold", 60, 120),
        ("calm", 120, 120),
    ]
    assert "60 failed (left out)" in " ".join(str(found).split())
    assert found.as_dict()["algorithms"][0]["solved"] == 60


def test_a_policy_that_turns_the_answer_round_is_said_to_reverse_it():
    found, punished = solvers(Drop()), solvers(Penalty(6000.0))
    assert punished.comparisons[0].verdict.startswith("bold is worse than calm: +")
    (other,) = (other for other in punished.other_policies if other.failed_runs == "left out")
    assert other.reversed == other.changed == (("calm", "bold"),)
    sentence = next(c.sentence for c in punished.warnings if c.kind == "failures")
    assert "With failed runs left out 1 verdict would reverse (calm × bold), on 20 instances." in sentence
    assert "reverse" not in next(c.sentence for c in found.warnings if c.kind == "failures")  # 7 is the worst seen


def test_where_nothing_failed_nothing_is_said_of_success():
    found = analysed(runs_from(shifted(), repeats=3), difference="simple", failures=Drop())
    assert "succeeded" not in str(found) + headline(found) + found.comparisons[0].verdict
    assert "gave a value" not in str(found)


def test_a_pair_without_failures_is_not_told_of_those_of_others():
    rows = [
        (f"i{i}", f"a{k}", 1.0 + k + i % 3 / 10, "failed" if k == 2 and i % 2 else "ok")
        for i in range(9)
        for k in (0, 1, 2)
    ]
    found = analysed(Runs.from_columns(*zip(*rows, strict=True)), difference="simple", failures=Drop(), margin=0.1)
    said = {pair: "succeeded" in comparison.verdict for pair, comparison in by_pair(found).items()}
    assert said == {("a0", "a1"): False, ("a0", "a2"): True, ("a1", "a2"): True}


def test_runs_that_no_comparison_uses_are_not_counted():
    runs = without(runs_from(shifted(n=10), repeats=3), {(0, 0), (0, 1), (4, 2)})
    found = analysed(runs, difference="simple")
    assert (len(runs), found.runs) == (81, 78)  # the three runs of a3 alone on i1 serve no pair
    assert "3 algorithms, 78 runs" in str(found)


# missing cells ----------------------------------------------------------------------------------------------------


def without(runs, lacking):
    """The runs but for those of these cells: {(instance, algorithm), …} by place."""
    rows = np.array([(i, k) not in lacking for i, k in zip(runs.instance, runs.algorithm, strict=True)])
    return Runs.from_columns(
        np.array(runs.instances, object)[runs.instance[rows]],
        np.array(runs.algorithms, object)[runs.algorithm[rows]],
        runs.value[rows],
    )


def by_pair(analysis):
    return {(c.first, c.second): c for c in analysis.comparisons}


def test_a_third_algorithm_with_few_cells_costs_the_others_nothing():
    runs = runs_from(shifted(n=30), repeats=3)
    few = without(runs, {(i, 2) for i in range(5, 30)})
    full, found = (by_pair(analysed(each, difference="simple")) for each in (runs, few))
    assert [found[pair].instances for pair in (("a1", "a2"), ("a1", "a3"), ("a2", "a3"))] == [30, 5, 5]
    for field in ("estimate", "p_value", "joint_interval", "effect_size", "effect_interval"):
        assert getattr(found["a1", "a2"], field) == getattr(full["a1", "a2"], field)


holes = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2)), max_size=9).map(set)


@given(tables, holes, st.sampled_from([("simple", None), ("ratio", None), ("percent", "a1"), ("simple", "a2")]))
def test_each_pair_is_tested_as_if_the_two_were_alone(values, lacking, question):
    difference, reference = question
    runs = runs_from(values, ["a1", "a2", "a3"], repeats=3)
    found = analysis_or_sentence(without(runs, lacking), difference=difference, reference=reference)
    if isinstance(found, str):
        return
    for comparison, column in zip(found.comparisons, by_pair(found), strict=True):
        others = {(i, k) for i in range(8) for k in range(3) if f"a{k + 1}" not in column}
        alone = analysis_or_sentence(without(runs, lacking | others), difference=difference, reference=reference)
        if isinstance(alone, str):
            assert comparison.instances < 2
            assert comparison.verdict.startswith("Not compared")
            continue
        (single,) = alone.comparisons
        assert comparison.instances == single.instances == alone.instances
        assert comparison.p_value == single.p_value
        assert comparison.estimate == single.estimate
        assert comparison.effect_size == single.effect_size


@given(tables, holes)
def test_percent_of_the_grand_mean_is_of_the_algorithms_that_the_instance_has(values, lacking):
    found = analysis_or_sentence(without(runs_from(values), lacking), difference="percent")
    if isinstance(found, str):
        return
    names = [row.algorithm for row in found.algorithms]
    for row, phi in zip(found.statistics, found.differences, strict=True):
        grand = np.mean(row[~np.isnan(row)])
        for (first, second), difference in zip(found.pairs, phi, strict=True):
            expected = (row[names.index(first)] - row[names.index(second)]) / grand
            assert difference == pytest.approx(expected, rel=1e-12, nan_ok=True)


@given(tables, holes, st.sampled_from(["simple", "percent", "ratio"]), st.sampled_from([None, "a2"]))
def test_whatever_is_missing_all_that_is_said_of_it_fits_together(values, lacking, difference, reference):
    runs = without(runs_from(values, ["a1", "a2", "a3"], repeats=3), lacking)
    features = {"half": {f"i{i + 1}": i % 2 for i in range(8)}}
    question = {"difference": difference, "reference": reference, "se": 0.1, "budget": 9, "margin": 0.1}
    found = analysis_or_sentence(runs, features=features, **question)
    if isinstance(found, str):
        assert "at least two instances" in found
        return
    json.dumps(found.as_dict(), allow_nan=False)
    there = ~np.isnan(found.differences)
    counts = dict(zip(found.pairs, there.sum(axis=0).tolist(), strict=True))
    assert {(c.first, c.second): c.instances for c in found.comparisons} == counts
    assert found.instances == len(found.accuracy) == len(found.differences)
    assert there.any(axis=1).all()
    whole = int((~np.isnan(found.statistics)).all(axis=1).sum())
    assert len(found.incomplete) == found.instances - whole
    assert (found.omnibus is None) == (whole < 2)
    assert found.omnibus is None or found.omnibus.instances == whole
    for row, errors, pairs in zip(found.accuracy, found.errors, there, strict=True):
        assert row.error == errors[pairs].max()
        assert row.worst in [pair for pair, has in zip(found.pairs, pairs, strict=True) if has]
    assert all(group.instances >= 2 for group in found.subgroups)
    assert ("instances" in [column.head for column in comparison_columns(found).columns]) == bool(found.incomplete)
    assert all(name in str(found) for name in {name for pair in found.pairs for name in pair})


def test_no_complete_instance_leaves_the_pairs_and_no_ranks():
    runs = runs_from(shifted(n=30), repeats=3)
    found = analysed(without(runs, {(i, i % 3) for i in range(30)}), difference="simple")
    assert [c.instances for c in found.comparisons] == [10, 10, 10]
    assert found.omnibus is None
    assert all(math.isnan(row.mean_rank) for row in found.algorithms)
    assert "omnibus tests need complete ones" in next(c.sentence for c in found.warnings if c.kind == "incomplete")


def test_each_verdict_knows_the_effect_its_own_instances_would_have_found():
    runs = runs_from(shifted(n=30, shift=(0.0, 0.0, 0.0)), repeats=3)
    found = by_pair(analysed(without(runs, {(i, 2) for i in range(8, 30)}), difference="simple"))
    of_all, of_few = (found[pair].verdict for pair in (("a1", "a2"), ("a1", "a3")))
    assert of_all.partition("power for ")[2].startswith("d ≥ 0.5")
    assert of_few.partition("power for ")[2].startswith("d ≥ 1.")


# what comes out ---------------------------------------------------------------------------------------------------


def test_the_json_has_the_promised_keys_and_no_infinity():
    analysis = analysed(runs_from(shifted()), difference="simple", reference="a1", alternative="less")
    document = json.loads(json.dumps(analysis.as_dict(), allow_nan=False))
    assert [list(comparison) for comparison in document["comparisons"]] == [COMPARISON_KEYS] * 2
    assert (document["instances"], document["runs"]) == (20, 60)
    assert all(
        set(caution) == {"kind", "severity", "message", "remedy", "numbers", "sentence"}
        for caution in document["warnings"]
    )
    first = analysis.comparisons[0]
    assert document["comparisons"][0]["interval"] == [None, first.interval[1]]  # open to the left
    assert document["comparisons"][0]["p_value"] == first.p_value
    assert document["accuracy"][0]["error"] is None  # one value per cell: not known


def test_the_table_has_a_row_for_each_comparison_in_holms_order():
    table = analysed(runs_from(shifted()), difference="simple").table()
    assert table["rank"].tolist() == [1, 2, 3]
    assert {"first", "second", "interval_lower", "joint_interval_upper", "p_holm", "verdict"} <= set(table.columns)


def test_printing_shows_the_holm_table_with_the_place_where_it_stops():
    analysis = analysed(runs_from(shifted(shift=(0, 3, 0.05)), repeats=3), difference="simple", reference="a1")
    lines = plain_text(analysis, 160).splitlines()
    stop = next(place for place, line in enumerate(lines) if "not significant" in line)
    assert lines[stop - 1].split()[:2] == ["▼", "a2"]
    assert lines[stop - 1].endswith("worse")
    assert lines[stop + 1].split()[:2] == ["·", "a3"]
    assert not lines[stop + 1].endswith("worse")
    assert all(len(line) == len(line.rstrip()) for line in lines)


def test_arrays_and_rows_belong_together():
    analysis = analysed(runs_from(shifted(), repeats=4), difference="simple", se=0.5, budget=12)
    assert analysis.differences.shape == analysis.errors.shape == analysis.guarded_errors.shape == (20, 3)
    assert analysis.statistics.shape == (20, 3)
    for row, errors, guarded in zip(analysis.accuracy, analysis.errors, analysis.guarded_errors, strict=True):
        assert row.error == errors.max()
        assert row.guarded_error == guarded.max() >= row.error
        assert row.worst == analysis.pairs[int(errors.argmax())]
        assert row.runs == (4, 4, 4)
        assert row.at_budget
        assert row.accurate == (row.error <= 0.5)


def test_an_accuracy_that_is_just_reached_is_reached():
    runs = Runs.from_columns(["i"] * 4 + ["j"] * 4, ["a", "a", "b", "b"] * 2, [1, 1, 4, 6, 1, 1, 3, 5])
    analysis = analysed(runs, difference="simple", se=1.0, guard="none")
    assert [row.error for row in analysis.accuracy] == [1.0, 1.0]
    assert all(row.accurate for row in analysis.accuracy)
    assert "accuracy" not in {caution.kind for caution in analysis.warnings}


def test_without_a_guard_errors_are_what_they_seem():
    analysis = analysed(runs_from(shifted(), repeats=4), difference="simple", guard="none")
    np.testing.assert_array_equal(analysis.guarded_errors, analysis.errors)


def test_the_share_of_the_noise_is_that_of_its_variance():
    analysis = analysed(runs_from(shifted(), repeats=4), difference="simple")
    shares = (analysis.errors**2).mean(axis=0) / analysis.differences.var(axis=0, ddof=1)
    np.testing.assert_allclose([diagnosis.noise_share for diagnosis in analysis.diagnoses], shares)


def test_where_ratios_are_compared_the_analysis_of_variance_is_on_logarithms():
    values = np.exp(shifted() / 20)
    analysis = analysed(runs_from(values), difference="ratio")
    assert analysis.omnibus.anova == block_anova(np.log(values))
    assert analysed(runs_from(values), difference="percent").omnibus.anova == block_anova(values)


def test_failed_runs_count_towards_the_budget():
    rows = [("i", "a", 1.0, "ok"), ("i", "b", 2.0, "ok"), ("j", "a", 3.0, "ok"), ("j", "b", 5.0, "ok")] * 2
    runs = Runs.from_columns(*zip(*rows, ("j", "b", math.nan, "failed"), strict=True))
    analysis = analysed(runs, difference="simple", failures=Drop(), budget=5)
    assert analysis.at_budget == ("j",)


def test_runs_are_counted_for_each_algorithm_with_their_failures():
    runs = Runs.from_columns(
        ["i", "i", "i", "j", "j", "j", "i", "j"],
        ["a", "b", "b", "a", "b", "b", "a", "a"],
        [1.0, 2.0, np.nan, 3.0, 5.0, 7.0, 1.0, 3.0],
        ["ok", "ok", "timeout", "ok", "ok", "failed", "ok", "ok"],
    )
    analysis = analysed(runs, difference="simple", failures=Penalty(9.0))
    assert [(row.algorithm, row.runs, row.failures) for row in analysis.algorithms] == [
        ("a", 4, {}),
        ("b", 4, {"failed": 1, "timeout": 1}),
    ]


def test_one_value_per_cell_is_legal_and_its_accuracy_not_known():
    analysis = analysed(runs_from(shifted()), difference="percent", se=0.05)
    assert all(math.isnan(row.error) and row.accurate is None and row.worst is None for row in analysis.accuracy)
    assert all(math.isnan(diagnosis.noise_share) for diagnosis in analysis.diagnoses)
    assert "accuracy-unknown" in {caution.kind for caution in analysis.warnings}


def test_equivalence_is_a_family_of_its_own_at_all_of_alpha():
    values = shifted(n=40, shift=(0.0, 5.0, 0.0), sd=0.3)
    alone = analysed(runs_from(values), difference="simple", reference="a1")
    both = analysed(runs_from(values), difference="simple", reference="a1", margin=1.0)
    assert both.comparisons[0].alpha == alone.comparisons[0].alpha
    assert [d.equivalence.established for d in both.diagnoses] == [False, True]
    assert sorted(d.equivalence.alpha for d in both.diagnoses) == [0.025, 0.05]
    assert both.comparisons[1].verdict == "a3 and a1 are equivalent within ±1"
    assert "equivalence margin ±1." in " ".join(str(both).split())


def test_beside_a_margin_of_an_earlier_study_everything_said_of_differences_is_at_half_of_alpha():
    """A p-value between the two levels: found at 0.05, not at 0.025."""
    values = np.linspace(90.0, 110.0, 12)[:, None] + np.zeros(2)
    values[:, 1] += 0.55 + np.tile([-1.0, 1.0, -0.4, 0.4], 3)
    cells = [(f"i{i}", "ab"[k], value) for (i, k), value in np.ndenumerate(values)]
    rows = [(*names, value + noise, "ok") for *names, value in cells for noise in (-0.1, 0.1)]
    runs = Runs.from_columns(*zip(*rows, ("i0", "a", math.nan, "failed"), strict=True))
    asked = {"difference": "simple", "failures": Penalty(90.0), "effect": 0.8}

    whole, half = analysed(runs, **asked), analysed(runs, **asked, alpha=0.025)
    both = analysed(runs, **asked, margin=0.01, equivalence_level="shared")

    assert [each.decisions for each in whole.other_policies] != [each.decisions for each in half.other_policies]
    assert whole.stability != half.stability
    assert (both.other_policies, both.stability) == (half.other_policies, half.stability)
    assert both.detectable_effect == half.detectable_effect > whole.detectable_effect
    assert [each for each in both.warnings if each.kind == "power"] == [e for e in half.warnings if e.kind == "power"]


def test_subgroups_are_no_family_and_keep_all_of_alpha_beside_a_margin():
    features = {"size": {f"i{i + 1}": str(i % 2) for i in range(20)}}
    alone, both = (
        analysed(runs_from(shifted()), difference="simple", features=features, margin=margin) for margin in (None, 1.0)
    )
    assert len(both.subgroups) == 6
    assert both.subgroups == alone.subgroups


# what other ways of counting failed runs would give ---------------------------------------------------------------


def with_failures(values, failed):
    """Runs of the algorithms a and b on instances in rows; the runs at the places of `failed` failed."""
    n, algorithms, repeats = values.shape
    rows = [
        (f"i{i}", "ab"[k], math.nan if failed[i, k, r] else values[i, k, r], "failed" if failed[i, k, r] else "ok")
        for i, k, r in np.ndindex(n, algorithms, repeats)
    ]
    return Runs.from_columns(*zip(*rows, strict=True))


def test_a_failed_run_may_count_as_the_worst_value_whichever_side_is_better():
    """Half of the runs of a fail: it is the larger one without them, and the smaller one if they are punished."""
    rng = np.random.default_rng(3)
    values = rng.normal([[[12.0], [10.0]]], 0.3, (12, 2, 6))
    values[:, 1, 0] = -50.0 + rng.normal(size=12)
    failed = np.zeros(values.shape, bool)
    failed[:, 0, :3] = True
    runs = with_failures(values, failed)
    (punished,) = analysed(runs, difference="simple", failures=Drop(), better="higher").other_policies
    (spared,) = analysed(runs, difference="simple", failures=Drop(), better="lower").other_policies
    assert (punished.decisions, punished.changed) == ((-1,), (("a", "b"),))
    assert (spared.decisions, spared.changed) == ((1,), ())


def test_other_policies_use_the_statistic_and_the_instances_of_the_analysis():
    rng = np.random.default_rng(4)
    values = rng.normal([[[12.0], [10.0]]], 0.3, (12, 2, 7))
    values[:6, 0, 0] = -500.0  # a median does not mind
    failed = np.zeros(values.shape, bool)
    failed[0, 1, 6] = True
    single = Runs.from_columns(["x", "x"], ["a", "b"], [1.0, 2.0])
    runs = joined(with_failures(values, failed), single)
    analysis = analysed(runs, difference="simple", statistic="median", failures=Penalty(10.0), deterministic=[])
    assert analysis.excluded == {"x": "only one run of a, and 1 more algorithm short"}
    assert [(other.instances, other.decisions) for other in analysis.other_policies] == [(12, (1,)), (12, (1,))]


def joined(*several):
    """Runs of several tables as one."""
    columns = [
        ([runs.instances[i] for i in runs.instance], [runs.algorithms[k] for k in runs.algorithm], runs.value)
        for runs in several
    ]
    status = [STATUSES[code] for runs in several for code in runs.status]
    return Runs.from_columns(*(list(itertools.chain(*column)) for column in zip(*columns, strict=True)), status)


def test_the_detectable_effect_is_that_of_the_design():
    analysis = analysed(runs_from(shifted(n=57, shift=(0.0,) * 22)), difference="simple", reference="a1")
    assert analysis.detectable_effect == pytest.approx(0.498, abs=2e-3)  # 57 instances are what d = 0.5 needs


# laws -------------------------------------------------------------------------------------------------------------


@given(tables, differences, st.randoms())
def test_the_order_of_rows_and_instances_does_not_matter(values, difference, random):
    runs = runs_from(values, repeats=3)
    rows = list(range(len(runs)))
    random.shuffle(rows)
    names = np.array(runs.algorithms, object)[runs.algorithm]
    rows.sort(key=lambda row: list(runs.algorithms).index(names[row]))  # pairs follow the order of the algorithms
    mixed = Runs.from_columns(np.array(runs.instances, object)[runs.instance][rows], names[rows], runs.value[rows])
    one, other = (analysed(each, difference=difference).comparisons for each in (runs, mixed))
    for a, b in zip(one, other, strict=True):
        assert (a.first, a.second, a.rank, a.rejected) == (b.first, b.second, b.rank, b.rejected)
        assert a.p_value == pytest.approx(b.p_value, rel=1e-6)


@given(tables, differences)
def test_swapping_two_algorithms_turns_the_sign_of_a_symmetric_difference(values, difference):
    there = analysed(runs_from(values[:, :2], ["x", "y"]), difference=difference).comparisons[0]
    back = analysed(runs_from(values[:, 1::-1], ["y", "x"]), difference=difference).comparisons[0]
    assert there.estimate == pytest.approx(-back.estimate, rel=1e-9, abs=1e-12)
    assert there.p_value == pytest.approx(back.p_value, rel=1e-6)
    assert there.interval == pytest.approx((-back.interval[1], -back.interval[0]), rel=1e-9, abs=1e-12)
    assert ("is better" in there.verdict) == ("is worse" in back.verdict)


@pytest.mark.parametrize("power", [-1000, -550, 550, 1000])
@pytest.mark.parametrize("difference", ["simple", "percent", "ratio"])
@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_extreme_magnitudes_change_nothing_but_the_unit(power, difference, test):
    runs = runs_from(shifted(n=12), repeats=3)
    large = Runs.from_columns(
        np.array(runs.instances, object)[runs.instance],
        np.array(runs.algorithms, object)[runs.algorithm],
        np.ldexp(runs.value, power),
    )
    one, other = (analysed(each, difference=difference, test=test) for each in (runs, large))
    unit = 2.0**power if difference == "simple" and test != "sign" else 1.0
    for a, b in zip(one.comparisons, other.comparisons, strict=True):
        assert (a.first, a.second, a.rank, a.rejected) == (b.first, b.second, b.rank, b.rejected)
        assert a.p_value == pytest.approx(b.p_value, rel=1e-7)
        assert a.estimate * unit == pytest.approx(b.estimate, rel=1e-9)
        assert a.effect_size == pytest.approx(b.effect_size, rel=1e-7)
    shares = zip(one.diagnoses, other.diagnoses, strict=True)
    assert all(a.noise_share == pytest.approx(b.noise_share, rel=1e-6) for a, b in shares)
    assert [c.kind for c in one.warnings] == [c.kind for c in other.warnings]


def test_better_decides_the_words_alone():
    runs = runs_from(shifted(shift=(0, 3, 1)), repeats=3)
    lower, higher = (analysed(runs, difference="percent", better=better) for better in ("lower", "higher"))
    for a, b in zip(lower.comparisons, higher.comparisons, strict=True):
        assert (a.estimate, a.p_value, a.rejected) == (b.estimate, b.p_value, b.rejected)
    assert lower.comparisons[0].verdict.startswith("a1 is better than a2: −")
    assert higher.comparisons[0].verdict.startswith("a1 is worse than a2: −")


nasty = st.sampled_from(
    [0.0, -0.0, 1.0, 1.0, 2.0, 2.5, -1.0, 1e300, -1e300, 1e-300, 5e-324, 1.7e308, -1.7e308, 0.1 + 0.2, 0.3, 1e16]
)


@given(st.data())
def test_any_runs_give_an_analysis_without_infinities_or_one_sentence(data):
    n, a = data.draw(st.integers(2, 6)), data.draw(st.integers(2, 4))
    run = st.tuples(nasty, st.sampled_from(["ok"] * 9 + ["timeout"]))
    cells = data.draw(st.lists(st.lists(run, min_size=1, max_size=3), min_size=n * a, max_size=n * a))
    rows = [(f"i{c // a}", f"a{c % a}", *row) for c, cell in enumerate(cells) for row in cell]
    found = analysis_or_sentence(
        Runs.from_columns(*zip(*rows, strict=True)),
        difference=data.draw(differences),
        test=data.draw(st.sampled_from(["t", "wilcoxon", "sign"])),
        statistic=data.draw(st.sampled_from(["mean", "median"])),
        margin=data.draw(st.sampled_from([None, 0.1])),
        failures=data.draw(st.sampled_from([Drop(), Penalty(5.0), Par(10)])),
        se=0.1,
        budget=5,
    )
    if isinstance(found, str):
        assert len(found) > 20
        return
    json.dumps(found.as_dict(), allow_nan=False)
    assert all(0 <= c.p_value <= 1 and c.verdict for c in found.comparisons)
    assert all(name in str(found) for name in {name for pair in found.pairs for name in pair})


# bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"difference": "logs"}, "difference must be"),
        ({"reference": "nobody"}, "reference must be one of"),
        ({"better": "smaller"}, "better must be"),
        ({"test": "z"}, "test must be"),
        ({"alternative": "less"}, "needs a reference"),
        ({"alpha": 1.5}, "alpha must lie"),
        ({"alpha": "0.05"}, "alpha must lie strictly between 0 and 1"),
        ({"power": 0}, "power must lie"),
        ({"se": -1.0}, "se must be a positive number"),
        ({"margin": 0.0}, "margin must be a positive number"),
        ({"effect": float("nan")}, "effect must be"),
        ({"budget": 0}, "budget must be"),
        ({"guard": "some"}, "guard must be"),
        ({"formula": "other"}, "formula must be"),
        ({"statistic": "mode"}, "statistic must be"),
    ],
)
def test_a_question_that_does_not_fit_is_refused(question, message):
    with pytest.raises(InvalidInput, match=message):
        analysed(runs_from(shifted()), **({"difference": "simple"} | question))


def test_one_instance_is_not_enough_for_others_however_many_runs():
    runs = Runs.from_columns(["i"] * 6, ["a", "b"] * 3, [1.0, 2.0, 1.1, 2.1, 1.2, 2.2])
    found = analysed(runs, difference="simple")
    assert (found.single, found.comparisons[0].instances) == ("i", 1)
    assert "holds for one instance only" in found.warnings[0].sentence
    few = Runs.from_columns(["i", "i", "j"], ["a", "b", "a"], [1.0, 2.0, 1.1])
    with pytest.raises(InvalidInput, match="got 1 of 2"):
        analysed(few, difference="simple")


def test_one_algorithm_is_not_enough():
    with pytest.raises(InvalidInput, match="at least two algorithms"):
        analysed(Runs.from_columns(["i", "j"], ["a", "a"], [1.0, 2.0]), difference="simple")


def test_when_no_instance_is_complete_the_error_says_why():
    runs = Runs.from_columns(["i", "j", "k"], ["a", "b", "a"], [1.0, 2.0, 3.0])
    with pytest.raises(InvalidInput, match=r"got 0 of 3; left out: i \(no run of b\), j \(no run of a\)"):
        analysed(runs, difference="simple")
