"""One instance is a study too: its runs are compared, and everything says that this holds for it only."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pandas as pd
import pytest
from flat_study import flat_analyse, flat_study
from scipy import stats

import ampler as am
from ampler.analysis.text import headline, together
from ampler.core.errors import InvalidData, InvalidDesign, InvalidPlan
from ampler.core.plan import Function
from ampler.report import subject_of
from ampler.report.latex import holm_table
from ampler.report.methods import cited, methods, plain_paragraph
from ampler.report.tables import comparisons_csv
from ampler.stats.holm import step_down
from ampler.study.record import as_begun, record
from ampler.study.store import open_store
from ampler.testing import SerialExecutor

RNG = np.random.default_rng(4)
RUNS = {"old": RNG.normal(10, 1, 12), "new": RNG.normal(8, 2, 20), "same": RNG.normal(10, 1, 15)}
ASKED = {"difference": "simple", "better": "lower"}


def frame(runs=RUNS, instance="i1"):
    rows = [(instance, name, value) for name, values in runs.items() for value in values]
    return pd.DataFrame(rows, columns=["instance", "algorithm", "value"])


def analysed(runs=RUNS, **asked):
    return flat_analyse(frame(runs), **ASKED | asked)


def test_welch_under_holm_is_the_default():
    analysis = analysed()
    p = [stats.ttest_ind(RUNS[a], RUNS[b], equal_var=False).pvalue for a, b in analysis.pairs]
    steps = step_down(p, 0.05)
    by_pair = {(each.first, each.second): each for each in analysis.comparisons}
    for k, pair in enumerate(analysis.pairs):
        found = by_pair[pair]
        reference = stats.ttest_ind(*(RUNS[name] for name in pair), equal_var=False)
        assert found.p_value == pytest.approx(p[k], rel=1e-10)
        assert (found.rank, found.rejected) == (steps.ranks[k], steps.rejected[k])
        assert found.interval == pytest.approx(tuple(reference.confidence_interval(1 - steps.levels[k])), rel=1e-10)
        assert found.joint_interval == pytest.approx(tuple(reference.confidence_interval(1 - 0.05 / 3)), rel=1e-10)
        assert found.estimate == pytest.approx(RUNS[pair[0]].mean() - RUNS[pair[1]].mean())


def test_mann_and_whitney_by_ranks():
    analysis = analysed(test="wilcoxon")
    for found in analysis.comparisons:
        x, y = RUNS[found.first], RUNS[found.second]
        assert found.p_value == pytest.approx(stats.mannwhitneyu(x, y, method="exact").pvalue, rel=1e-10)
        assert found.estimate == pytest.approx(np.median(np.subtract.outer(x, y)))
        assert found.estimate_of == "shift"
    assert "Mann–Whitney tests" in str(analysis)
    ratios = analysed(test="wilcoxon", difference="ratio").comparisons[0]
    logs = np.subtract.outer(np.log(RUNS[ratios.first]), np.log(RUNS[ratios.second]))
    assert ratios.estimate == pytest.approx(np.median(logs))
    percent = analysed(test="wilcoxon", difference="percent", reference="old").comparisons[0]
    share = np.subtract.outer(RUNS["old"], RUNS[percent.second]) / RUNS["old"].mean()
    assert percent.estimate == pytest.approx(np.median(share))


def test_every_sentence_says_that_it_holds_for_this_instance_only():
    analysis = analysed()
    assert analysis.single == "i1"
    assert "on i1 alone" in headline(analysis)
    assert all("on this instance" in each.verdict for each in analysis.comparisons)
    assert "holds for one instance only, i1" in {each.kind: each.sentence for each in analysis.warnings}["one-instance"]
    assert "simultaneous 95 % CI" in analysis.comparisons[-1].verdict
    assert "need two instances or more" in together(analysis)
    text = plain_paragraph(methods(subject_of(analysis)))
    assert "on one problem instance, i1" in text
    assert "tested by Welch's t-tests (two-sided) of the runs" in text
    assert "the conclusions hold for this instance only" in text
    assert "welch1947" in [work.key for work in cited(methods(subject_of(analysis)))]
    ranks = subject_of(analysed(test="wilcoxon"))
    assert "mann1947" in [work.key for work in cited(methods(ranks))]


KINDS = [
    {},
    {"reference": "old", "alternative": "less"},
    {"margin": 1.0},
    {"test": "wilcoxon"},
    {"difference": "percent"},
    {"difference": "ratio", "reference": "new"},
    {"statistic": "median"},
    {"se": 0.1, "budget": 40},
]


@pytest.mark.parametrize("asked", KINDS)
def test_reports_of_one_instance_are_written(asked, tmp_path):
    for ending in ("md", "tex", "csv"):
        am.write_report(analysed(**asked), tmp_path / f"report.{ending}")
        assert (tmp_path / f"report.{ending}").stat().st_size > 500
    analysis = analysed(**asked)
    json.dumps(analysis.as_dict(), allow_nan=False)
    assert "old" in comparisons_csv(analysis)
    assert "toprule" in holm_table(analysis)


@pytest.mark.parametrize("asked", [*KINDS[:3], *(pytest.param(each, marks=pytest.mark.slow) for each in KINDS[3:])])
def test_pages_of_one_instance_are_written(asked, tmp_path):
    am.write_report(analysed(**asked), tmp_path / "report.html")

    assert (tmp_path / "report.html").stat().st_size > 500


def test_equivalence_is_two_one_sided_tests():
    analysis = analysed(margin=1.5, reference="old")
    for found in analysis.diagnoses:
        x, y = RUNS[found.first], RUNS[found.second]
        below = stats.ttest_ind(x + 1.5, y, equal_var=False, alternative="greater").pvalue
        above = stats.ttest_ind(x - 1.5, y, equal_var=False, alternative="less").pvalue
        assert found.equivalence.p_value == pytest.approx(max(below, above), rel=1e-10)


def test_the_other_test_is_shown_beside():
    assert next((each.test, each.same) for each in analysed().stability) == ("t", 3)
    assert [each.test for each in analysed(test="wilcoxon").stability] == ["wilcoxon", "t"]


def test_rates_on_one_instance_are_compared_in_points():
    runs = {"old": np.array([1, 0] * 10, float), "new": np.ones(20), "same": np.array([1, 0] * 10, float)}
    analysis = am.analyse(frame(runs), difference="simple", better="higher", statistic="rate")
    best = analysis.comparisons[0]
    assert best.verdict.startswith("old is worse than new on this instance: −50.0 points")
    p = (np.array([10, 20]) + 0.5) / 21
    error = np.sqrt((p * (1 - p) / 20).sum())
    assert abs(best.estimate) / error == pytest.approx(stats.t.isf(best.p_value / 2, _degrees(p)), rel=1e-6)


def _degrees(p, n=20):
    v = p * (1 - p) / n
    return v.sum() ** 2 / (v**2 / (n - 1)).sum()


@pytest.mark.parametrize("test", ["sign", "bootstrap-t", "sign-flip"])
def test_tests_over_instances_are_refused(test):
    with pytest.raises(InvalidDesign, match=f"'t'.*'wilcoxon'.*got '{test}'"):
        analysed(test=test)


def test_ranks_know_no_statistic():
    with pytest.raises(InvalidDesign, match="not their 'median'"):
        analysed(test="wilcoxon", statistic="median")


def test_one_run_of_each_is_refused():
    with pytest.raises(InvalidData, match=r"two values or more"):
        analysed({name: values[:1] for name, values in RUNS.items()})


def test_an_algorithm_with_one_value_is_not_compared():
    analysis = analysed(RUNS | {"single": RUNS["old"][:1]})
    said = [each.verdict for each in analysis.comparisons if "single" in (each.first, each.second)]
    assert len(said) == 3
    assert all(each.startswith("Not compared: ") and each.endswith("need two values each or more") for each in said)
    assert sum(each.rejected for each in analysis.comparisons) == 2


def test_how_probable_it_is_needs_instances():
    with pytest.raises(InvalidData, match="cannot be learnt from one"):
        _ = analysed().bayes


def test_values_of_any_magnitude():
    plain, large = analysed(), analysed({name: values * 1e200 for name, values in RUNS.items()})
    for one, other in zip(plain.comparisons, large.comparisons, strict=True):
        assert other.p_value == pytest.approx(one.p_value, rel=1e-9)
        assert other.interval == pytest.approx(tuple(1e200 * bound for bound in one.interval), rel=1e-9)


def test_failed_runs_counted_otherwise():
    table = frame().assign(status="ok")
    table.loc[3, "status"], table.loc[3, "value"] = "timeout", np.nan
    analysis = flat_analyse(am.read_results(table, on_failure="drop"), **ASKED)
    (other,) = analysis.other_policies
    assert (other.instances, len(other.decisions)) == (1, 3)


def test_results_that_their_values_ended_are_told_where_they_are_skewed():
    rng = np.random.default_rng(2)
    runs = {name: rng.exponential(1, 40) for name in ("a", "b")}
    kinds = {each.kind: each for each in analysed(runs, se=0.3, start=10).warnings}
    assert 'test="wilcoxon"' in kinds["bias"].sentence
    assert "--test wilcoxon" in kinds["bias"].in_shell
    assert "bias" not in {each.kind for each in analysed(runs, se=0.3, start=10, test="wilcoxon").warnings}
    first = analysed(runs, se=0.3, start=10, estimate="first-runs").comparisons[0]
    expected = stats.ttest_ind(runs["a"][:10], runs["b"][:10], equal_var=False).pvalue
    assert first.p_value == pytest.approx(expected, rel=1e-10)


# studies ----------------------------------------------------------------------------------------------------------


def noisy(mean, sd):
    return lambda instance, seed: mean + random.Random(seed).gauss(0, sd)


def study(**changes):
    given = {
        "algorithms": {"a": noisy(10, 1), "b": noisy(8, 2)},
        "instances": ["alone"],
        "se": 0.5,
        "seed": 3,
    }
    return flat_study(**ASKED | given | changes)


def test_the_rule_decides_on_the_runs_of_a_study_of_one_instance(tmp_path):
    analysis = study().run(tmp_path / "study.db", executor=SerialExecutor())
    assert analysis.accuracy[0].guarded_error <= 0.5
    assert analysis.comparisons[0].verdict.startswith("a is worse than b on this instance: ")
    am.write_report(tmp_path / "study.db", tmp_path / "report.html")
    assert "for this instance only" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_plan_says_what_one_instance_is_good_for():
    (warning,) = study().plan.warnings
    assert "there is one instance, alone: its runs are compared, and the conclusion holds" in warning
    (warning,) = study(effect=0.5).plan.warnings
    assert warning.endswith("effect and power speak of several instances and are not used")
    with pytest.raises(InvalidPlan, match="test must be one of 't', 'wilcoxon'"):
        _ = study(test="sign").plan


def test_a_deterministic_algorithm_needs_one_value(tmp_path):
    exact = Function("exact", lambda instance, seed: 9.0, "m:exact", deterministic=True)
    analysis = study(algorithms={"a": noisy(10, 1), "exact": exact}).run(
        tmp_path / "study.db", executor=SerialExecutor()
    )
    with open_store(tmp_path / "study.db") as store:
        values = [each.value for each in store.observations() if each.key.algorithm == "a"]
    assert analysis.comparisons[0].p_value == pytest.approx(stats.ttest_1samp(values, 9.0).pvalue, rel=1e-9)


def test_one_finished_instance_of_several_is_no_study_of_one(tmp_path):
    study(instances=["i1"]).run(tmp_path / "study.db", executor=SerialExecutor())
    several = study(instances=["i1", "i2", "i3"], use="all")
    with open_store(tmp_path / "study.db") as store:
        store.begin(record(as_begun(several.plan)), {})
    with pytest.raises(InvalidData, match="needs two finished instances, got 1; resume the study"):
        am.analyse(tmp_path / "study.db")


def test_an_interval_of_ratios_is_one_of_a_factor():
    analysis = analysed(difference="ratio")
    low, high = (100 * (math.exp(end) - 1) for end in analysis.comparisons[-1].joint_interval)
    assert f"{low:.1f} to {high:.1f} %".replace("-", "−") in analysis.comparisons[-1].verdict
