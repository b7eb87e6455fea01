"""Yes and no from door to door: studies, tables, verdicts, reports and advice in percentage points."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest
from flat_study import flat_analyse, flat_study

import ampler as am
from ampler.analysis.tables import comparison_columns
from ampler.core.errors import InvalidData, InvalidInput, InvalidPlan, InvalidSamples, RunFailed
from ampler.core.failures import Drop, Par, Penalty
from ampler.core.plan import Function, Question
from ampler.report import subject_of
from ampler.report.latex import holm_table
from ampler.report.methods import cited, methods, plain_paragraph
from ampler.report.tables import accuracy_table, comparisons_csv, comparisons_table, exploratory_tables
from ampler.running.check import inspect_plan, refuse_what_does_not_run
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.study.toml import read_study_file
from ampler.testing import MemoryStore, SerialExecutor

CHANCES = {"old": 0.5, "new": 0.8, "same": 0.5}


def outcomes(seed=3, instances=15, runs=12) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (f"i{i:02}", name, int(rng.random() < chance + 0.15 * np.sin(i)))
        for i in range(instances)
        for name, chance in CHANCES.items()
        for _ in range(runs)
    ]
    return pd.DataFrame(rows, columns=["instance", "algorithm", "value"])


ASKED = {"difference": "simple", "better": "higher", "statistic": "rate"}
FRAME = outcomes()
ANALYSIS = flat_analyse(FRAME, **ASKED, settings=am.Settings(se=0.1))


def shares(frame=FRAME):
    return frame.pivot_table(index="instance", columns="algorithm", values="value")


def test_differences_are_those_of_the_shares_of_yes():
    means = shares()
    for comparison in ANALYSIS.comparisons:
        difference = means[comparison.first] - means[comparison.second]
        assert comparison.estimate == pytest.approx(difference.mean())


def test_standard_errors_know_ten_of_ten():
    means, counts = shares(), 12
    p = (means * counts + 0.5) / (counts + 1)
    variances = p * (1 - p) / counts
    for k, (first, second) in enumerate(ANALYSIS.pairs):
        wanted = np.sqrt(variances[first] + variances[second])
        assert ANALYSIS.errors[:, k] == pytest.approx(wanted.to_numpy())
    assert (ANALYSIS.guarded_errors >= ANALYSIS.errors).all()
    assert (means == 1).to_numpy().any(), "some cells are all yes"


def test_verdicts_speak_of_percentage_points():
    best = ANALYSIS.comparisons[0]
    low, high = sorted(abs(100 * bound) for bound in best.joint_interval)
    assert f"{100 * abs(best.estimate):.1f} points" in best.verdict
    assert best.verdict.endswith(f"{low:.1f} to {high:.1f} points)")


def test_margins_are_percentage_points():
    analysis = flat_analyse(FRAME, **ASKED, margin=0.3)
    assert any("equivalent within ±30 percentage points" in each.verdict for each in analysis.comparisons)


def test_tables_are_in_points_and_data_are_not():
    text = " ".join(str(ANALYSIS).split())
    best = ANALYSIS.comparisons[0]
    assert "points" in text
    assert "difference, points" in comparison_columns(ANALYSIS).fitted(200).head[0]
    cell = comparisons_table(ANALYSIS).rows[0][3]
    assert cell.value == pytest.approx(100 * best.estimate)
    assert comparisons_table(ANALYSIS).header[3] == "difference, points"
    assert accuracy_table(ANALYSIS).rows[0][2].value == pytest.approx(100 * ANALYSIS.accuracy[0].error)
    assert ", points" in holm_table(ANALYSIS)
    assert f"{best.estimate}" in comparisons_csv(ANALYSIS)
    assert ANALYSIS.as_dict()["comparisons"][0]["estimate"] == best.estimate


def test_the_sign_tests_share_of_instances_has_no_unit():
    analysis = flat_analyse(FRAME, **ASKED, test="sign")
    assert "points" not in comparison_columns(analysis).fitted(200).head[0]
    assert comparisons_table(analysis).rows[0][3].value == analysis.comparisons[0].estimate


def test_other_choices_are_other_tests():
    assert {(each.statistic, each.difference) for each in ANALYSIS.stability} == {("rate", "simple")}
    assert {each.test for each in ANALYSIS.stability} >= {"t", "wilcoxon", "sign"}
    assert [table.name for table in exploratory_tables(ANALYSIS)] == ["stability"]


def test_the_methods_paragraph_says_how_and_whose():
    sentences = methods(subject_of(ANALYSIS))
    text = plain_paragraph(sentences)
    assert "the differences of success rates in percentage points, per pair and instance, were the paired" in text
    assert "p = (x + 1/2)/(n + 1)" in text
    assert "brown2001" in [work.key for work in cited(sentences)]


def test_reports_of_rates_are_written(tmp_path, figures_only_of):
    figures_only_of("comparisons", "accuracy")
    for ending in ("html", "md", "tex"):
        am.write_report(FRAME, tmp_path / f"report.{ending}", **ASKED)
        assert "percentage points" in (tmp_path / f"report.{ending}").read_text(encoding="utf-8")


def test_figures_are_drawn_in_points():
    from ampler import plots

    ax = plots.draw_intervals(plots.intervals_data(ANALYSIS))
    ax.figure.draw_without_rendering()
    assert ax.get_xlabel().startswith("Percentage points, first − second")
    ends = [float(label.get_text().replace("−", "-")) for label in ax.get_xticklabels()]
    assert max(map(abs, ends)) > 5
    assert (
        plots.draw_accuracy(plots.accuracy_data(ANALYSIS)).get_xlabel().startswith("Standard error, percentage points")
    )


def test_plain_zeros_and_ones_are_told_that_there_are_rates():
    warnings = {each.kind: each for each in am.analyse(FRAME, difference="simple", better="higher").warnings}
    assert 'statistic="rate"' in warnings["rates"].sentence
    assert "--statistic rate" in warnings["rates"].in_shell
    assert "rates" not in {each.kind for each in ANALYSIS.warnings}
    numbers = FRAME.assign(value=FRAME["value"] * 2.0)
    assert "rates" not in {each.kind for each in am.analyse(numbers, difference="simple", better="higher").warnings}


@pytest.mark.parametrize("words", [{0: "no", 1: "yes"}, {0: "False", 1: "True"}, {0: False, 1: True}])
def test_tables_may_say_it_in_words(words):
    frame = FRAME.assign(value=FRAME["value"].map(words))
    assert (
        flat_analyse(am.read_results(frame, value="value"), **ASKED, settings=am.Settings(se=0.1)).comparisons
        == ANALYSIS.comparisons
    )


@pytest.mark.parametrize("strange", [0.5, 2.0, -1.0])
def test_other_values_are_refused_with_their_place(strange):
    frame = FRAME.astype({"value": float})
    frame.loc[30, "value"] = strange
    place = f"for algorithm '{frame.algorithm[30]}' on instance '{frame.instance[30]}'"
    with pytest.raises(InvalidData, match=rf"1 \(yes\) or 0 \(no\), got {strange:g} {place}"):
        flat_analyse(frame, **ASKED)


def test_ratios_and_floors_are_refused():
    with pytest.raises(InvalidInput, match="percentage points, difference 'simple', got 'percent'"):
        flat_analyse(FRAME, **ASKED | {"difference": "percent"})
    with pytest.raises(InvalidData, match="a rate has no floor"):
        flat_analyse(FRAME, **ASKED, settings=am.Settings(floor=1e-8))


def test_a_function_called_rate_is_any_function():
    def rate(values):
        return float(np.median(values))

    frame = outcomes(instances=3, runs=3).assign(value=lambda table: table["value"] + 1.5)
    assert flat_analyse(frame, **ASKED | {"statistic": rate, "difference": "percent"}).settings.statistic == "rate()"


def test_advice_is_in_percentage_points():
    advice = am.advise(FRAME, detect=0.1, difference="simple", better="lower", settings=am.Settings(statistic="rate"))
    assert "se = 0.214" in str(advice)
    assert advice.best.instances == 40
    assert 0.01 < advice.best.se < 0.5


# studies ----------------------------------------------------------------------------------------------------------


def lucky(chance):
    def attempt(instance, seed):
        return random.Random(seed).random() < chance  # True or False

    return attempt


def study(**changes):
    given = {
        "algorithms": {"old": lucky(0.4), "new": lucky(0.9)},
        "instances": [f"task {number}" for number in range(8)],
        "difference": "simple",
        "statistic": "rate",
        "better": "higher",
        "se": 0.15,
        "seed": 7,
        "use": "all",
    }
    return flat_study(**given | changes)


def test_a_study_of_attempts_runs_until_the_rates_are_known(tmp_path):
    analysis = study().run(tmp_path / "study.db", executor=SerialExecutor())
    assert all(row.guarded_error <= 0.15 for row in analysis.accuracy)
    assert analysis.comparisons[0].verdict.startswith("old is worse than new: −")
    assert " points" in analysis.comparisons[0].verdict
    text = plain_paragraph(methods(subject_of(tmp_path / "study.db")))
    assert "every standard error of interest was at most 15 percentage points" in text
    assert "exact bounds of the rates (Clopper & Pearson 1934)" in text


def test_a_value_that_is_no_outcome_ends_a_study(tmp_path):
    for rule in ({}, {"se": None, "rule": Fixed(runs=3)}):
        broken = study(algorithms={"old": lucky(0.4), "new": lambda instance, seed: 0.25}, **rule)
        with pytest.raises(InvalidSamples, match=r"on instance 'task \d': .* got 0.25 from algorithm 'new'"):
            broken.run(tmp_path / f"{len(rule)}.db", executor=SerialExecutor())


@pytest.mark.parametrize("policy", [Penalty(1000.0), Par(10.0, 60.0)])
def test_a_failed_run_counts_as_yes_or_no(policy):
    with pytest.raises(InvalidPlan, match="on-failure must be failure"):
        _ = study(on_failure=policy).plan


@pytest.mark.parametrize("policy", [Penalty(0.0), Penalty(1.0), Drop()])
def test_failed_runs_may_be_a_no(policy):
    assert study(on_failure=policy).plan.policy == policy


def test_study_files_know_rates_and_refuse_their_ratios(tmp_path):
    text = """
        better = "lower"
        difference = "simple"
        statistic = "rate"
        se = 0.1
        [[algorithm]]
        name = "a"
        command = "a {instance} {seed}"
        [[algorithm]]
        name = "b"
        command = "b {instance} {seed}"
        [instances]
        names = ["x", "y"]
        use = "all"
    """
    file = tmp_path / "study.toml"
    file.write_text(text)
    assert read_study_file(file).plan.rule.statistic == "rate"
    file.write_text(text.replace('"simple"', '"ratio"'))
    with pytest.raises(InvalidPlan, match="percentage points, difference 'simple', got 'ratio'"):
        read_study_file(file)


def plan_of(**calls):
    return make_plan(
        question=Question("simple", statistic="rate", better="lower"),
        algorithms=[Function(name, call, f"m:{name}") for name, call in calls.items()],
        instances=["i1", "i2"],
        rule=Fixed(runs=4),
        count="all",
    )


def test_a_check_refuses_what_is_no_outcome_and_is_not_surprised_by_two_equal_ones():
    fine = inspect_plan(plan_of(a=lucky(1.0), b=lucky(0.0)), MemoryStore())
    refuse_what_does_not_run(plan_of(a=lucky(1.0), b=lucky(0.0)), fine)
    assert [each.kind for each in fine.findings] == ["reproducible", "reproducible"]
    plan = plan_of(a=lucky(1.0), b=lambda instance, seed: 3.0)
    with pytest.raises(RunFailed, match=r"got 3 from algorithm 'b' on 'i\d'; .*mean"):
        refuse_what_does_not_run(plan, inspect_plan(plan, MemoryStore()))
