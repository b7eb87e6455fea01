"""Each caution speaks when its trouble is there, names it, and is silent when it is not."""

import pickle
import re
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import ampler as am
from ampler.analysis import AnalysisWarning, analyse_runs, warnings
from ampler.analysis.tables import comparison_columns
from ampler.core.arrays import Runs
from ampler.core.errors import SEVERITIES, InvalidData, WarningKind, by_severity
from ampler.core.failures import Drop, Par, Penalty
from ampler.core.settings import Settings
from ampler.core.text import parameter
from ampler.report import render, subject_of
from ampler.report.latex import holm_table
from ampler.report.methods import methods, plain_paragraph
from ampler.report.tables import comparisons_table, unsolved_table

RNG = np.random.default_rng


def healthy(n=30, a=3, runs=20, seed=1):
    """Values (instance, algorithm, run) with nothing to complain about."""
    rng = RNG(seed)
    level = rng.uniform(50, 150, (n, 1, 1))
    return level * (1 + 0.1 * np.arange(a)[None, :, None] + 0.05 * rng.normal(size=(n, a, 1))) + rng.normal(
        0, 0.5, (n, a, runs)
    )


def runs_of(values, instances=None, status=None):
    n, a, _ = values.shape
    instances = instances or [f"i{i}" for i in range(n)]
    codes = np.indices(values.shape)
    return Runs.from_columns(
        np.array(instances, object)[codes[0].ravel()],
        np.array([f"a{k}" for k in range(a)], object)[codes[1].ravel()],
        values.ravel(),
        status,
    )


def warnings_of(runs, **question):
    analysis = analyse_runs(runs, Settings(**({"difference": "percent", "reference": "a0"} | question)))
    return {caution.kind: caution.sentence for caution in analysis.warnings}


def test_healthy_results_have_no_warning():
    assert warnings_of(runs_of(healthy()), se=1.0, budget=1000, effect=0.8) == {}


def test_noise_of_the_runs_above_a_quarter_of_the_variance():
    values = healthy(runs=2) + RNG(2).normal(0, 15, (30, 3, 2))
    values += 100 - values.mean(axis=(0, 2), keepdims=True)  # where nothing differs, it matters
    sentence = warnings_of(runs_of(values))["run-noise"]
    assert "More runs per instance" in sentence
    assert "2 of 2 comparisons" in sentence


def test_noise_up_to_a_quarter_of_the_variance_is_no_trouble():
    pairs = [("a", "b"), ("a", "c"), ("a", "d")]
    none, every = np.zeros(3, bool), np.ones(3, bool)
    assert not list(warnings.run_noise(np.array([0.2, 0.25, np.nan]), pairs, none))
    assert "in 1 of 3 comparisons" in next(warnings.run_noise(np.array([0.2, 0.25, 0.26]), pairs, none)).sentence
    assert ", 30,762 %" in next(warnings.run_noise(np.array([0.2, 0.25, 307.62]), pairs, none)).sentence
    assert not list(warnings.run_noise(np.array([0.2, 0.25, 307.62]), pairs, every))  # it cost nothing


def test_runs_given_as_instances():
    names = [f"problem{i // 6}_run{i % 6}" for i in range(30)]
    sentence = warnings_of(runs_of(healthy(), names))["pseudoreplication"]
    assert "30 instances are repeated runs of 5 problems" in sentence
    assert "so the sample size is 5, not 30" in sentence


@pytest.mark.parametrize("style", ["{}-seed={}", "{} (rep 1{})", "{}/fold_{}", "{}.trial{}"])
def test_many_ways_to_write_a_run_into_a_name(style):
    assert "pseudoreplication" in warnings_of(runs_of(healthy(), [style.format(i % 10, i // 10) for i in range(30)]))


def test_numbered_instances_are_not_taken_for_runs():
    names = [f"I_50_15_S_1-9_{i}" for i in range(15)] + [f"trunk{i}" for i in range(15)]
    assert "pseudoreplication" not in warnings_of(runs_of(healthy(), names))


def test_instances_with_the_same_values():
    values = healthy()
    values[7] = values[3]
    assert "i3 = i7" in warnings_of(runs_of(values))["duplicates"]


def timed(seed, instances, unit, algorithms=2, *, spread=1.0, noise=0.1):
    """Times of instances that differ in difficulty, in whole units."""
    rng = RNG(seed)
    logs = rng.normal(1, spread, (instances, 1, 1)) + rng.normal(0, noise, (instances, algorithms, 1))
    return np.round(np.exp(logs) / unit) * unit


@pytest.mark.parametrize(("instances", "unit"), [(20, 0.1), (60, 0.1), (60, 1.0), (200, 1.0), (200, 0.1)])
def test_coarse_times_are_rarely_equal_enough_for_copies(instances, unit):
    fired = sum(
        "duplicates" in warnings_of(runs_of(timed(seed, instances, unit)), difference="simple") for seed in range(40)
    )
    assert fired <= 5  # 5 % of 40 analyses are 2; more than 5 have a probability of 0.01


@pytest.mark.parametrize("unit", [1.0, 0.1, 0.01])
def test_a_copy_of_an_instance_is_found_in_coarse_times_too(unit):
    values = timed(1, 40, unit, 6, noise=0.5)
    values = np.concatenate([values, values[[int(np.argmax(values[:, 0, 0]))]]])
    assert "duplicates" in warnings_of(runs_of(values), difference="simple")


def test_copies_in_a_public_table_are_found(public_data):
    analysis = am.analyse(public_data / "benavoli2017_accuracies_mean.csv", difference="simple", better="higher")
    (sentence,) = [each.sentence for each in analysis.warnings if each.kind == "duplicates"]
    assert "credit = credit_2" in sentence


def test_ties_between_all_algorithms_and_coarse_values_are_no_duplicates():
    solved = healthy()
    solved[3] = solved[7] = 100.0
    assert "duplicates" not in warnings_of(runs_of(solved))
    coarse = RNG(3).integers(1, 4, (40, 2, 1)).astype(float)
    assert "duplicates" not in warnings_of(runs_of(coarse), difference="simple")


def test_rows_copied_within_a_cell():
    values = healthy()
    values[4, 1, 10:] = values[4, 1, :10]
    sentence = warnings_of(runs_of(values))["repeated-runs"]
    assert "1 cell" in sentence
    assert "a1 on i4" in sentence


def test_rows_copied_within_a_cell_are_seen_beside_a_run_of_its_own():
    values = healthy(runs=11)
    values[4, 1, 5:10] = values[4, 1, :5]
    assert "1 cell" in warnings_of(runs_of(values))["repeated-runs"]


def test_missing_cells():
    values = healthy()
    keep = np.ones(values.shape, bool)
    keep[5, 2] = keep[9, 0] = False
    full = runs_of(values)
    rows = keep.ravel()
    runs = Runs.from_columns(
        np.array(full.instances, object)[full.instance][rows],
        np.array(full.algorithms, object)[full.algorithm][rows],
        full.value[rows],
    )
    sentence = warnings_of(runs)["incomplete"]
    assert sentence.startswith("29 of 30 instances are used; without values of both algorithms:")
    assert "algorithms: i9 (no run of a0). 1 of 29 instances are incomplete: i5 (no run of a2)." in sentence
    assert "on the instances that both have (28 for a0 × a2, 29 for a0 × a1)" in sentence
    assert sentence.endswith("Ranks and omnibus tests use the 28 complete ones.")
    both_ways = warnings_of(runs, reference=None)["incomplete"]
    assert both_ways.startswith("2 of 30 instances are incomplete: i5 (no run of a2), i9 (no run of a0).")
    assert "(28 for a0 × a2, 29 for 2 pairs)" in both_ways


def test_constant_differences():
    values = healthy()
    values[:, 1] = values[:, 0]
    values[:, 2] = values[:, 0] + 3.0
    assert "2 of 2 comparisons" in warnings_of(runs_of(values), difference="simple")["constant"]
    assert "a0 × a1: zero" in warnings_of(runs_of(values), difference="simple")["constant"]
    assert "sign" not in warnings_of(runs_of(values), difference="simple", test="sign")["constant"]


def single(columns):
    """One run per cell: a reference at 100, and the others below it by these differences."""
    return runs_of(np.column_stack([np.full(len(columns), 100.0), 100.0 - columns])[:, :, None])


def skewed_difference(seed=4, instances=40):
    """Lognormal differences with mean 0: t-tests find too much on the short side."""
    return RNG(seed).lognormal(0, 1.0, instances) - np.exp(0.5)


def test_intervals_of_skewed_differences_are_too_narrow_whatever_is_claimed():
    runs = single(skewed_difference()[:, None])
    sentence = warnings_of(runs, difference="simple")["skewness"]
    assert sentence.startswith("Simultaneous intervals may be too narrow (coverage about ")
    assert 'test="bootstrap-t"' in sentence
    assert "skewness" in warnings_of(runs, difference="simple", test="sign-flip")
    assert "skewness" not in warnings_of(runs, difference="simple", test="bootstrap-t")
    assert "about the pseudomedian" in warnings_of(runs, difference="simple", test="wilcoxon")["skewness"]
    assert "skewness" not in warnings_of(runs, difference="simple", test="sign")


def test_skewness_that_may_be_chance_is_not_told():
    few = np.array([0.0, 1, 2, 3, 4, 5, 6, 12])
    assert "skewness" not in warnings_of(single(few[:, None]), difference="simple")
    assert "skewness" in warnings_of(single(np.tile(few, 9)[:, None]), difference="simple", alpha=0.001)


def test_one_instance_with_most_of_the_variance_is_named_with_its_share_and_the_remedy():
    differences = RNG(3).normal(0.3, 1.0, (25, 2))
    differences[7, 1] = 40.0
    sentence = warnings_of(single(differences), difference="simple")["outlier"]
    assert sentence.startswith("One instance may hide differences: in 1 of 2 comparisons it has more than half")
    assert "Most: a0 × a2, i7, 94 %." in sentence
    assert 'difference="ratio"' in sentence
    assert "ratio" not in warnings_of(single(differences), difference="ratio").get("outlier", "")
    for test in ("wilcoxon", "sign"):
        assert "outlier" not in warnings_of(single(differences), difference="simple", test=test)


def test_one_of_four_instances_may_have_most_of_the_variance_by_chance():
    differences = np.array([[0.0], [0.1], [0.2], [9.0], [0.15]])
    assert "outlier" in warnings_of(single(differences), difference="simple")
    assert "outlier" not in warnings_of(single(differences[:4]), difference="simple")


def test_differences_that_resampling_cannot_judge_are_named():
    rare = np.zeros(30)
    rare[3] = 1.0
    runs = single(np.column_stack([RNG(2).normal(1.0, 1.0, 30), rare]))
    sentence = warnings_of(runs, difference="simple", test="bootstrap-t")["constant"]
    assert "Resampling cannot judge 1 of 2 comparisons" in sentence
    assert 'test="sign"' in sentence
    assert "constant" not in warnings_of(runs, difference="simple", test="sign-flip")


def test_denominators_near_zero():
    values = healthy()
    values[11, 0] = np.abs(RNG(6).normal(0, 1e-3, 20))
    sentence = warnings_of(runs_of(values))["denominator"]
    assert "Instances: i11." in sentence
    assert "denominator" not in warnings_of(runs_of(values), difference="simple")


def test_ratios_of_any_size_are_reliable_where_the_statistics_are_known():
    """Values from 1e-8 to 1e5, a millionfold apart on an instance, known to 3 %."""
    rng = RNG(8)
    levels = 10.0 ** rng.uniform(-8, 5, (60, 3, 1))
    runs = runs_of(levels * (1 + 0.1 * rng.standard_normal((60, 3, 10))))
    assert "denominator" not in warnings_of(runs, difference="ratio")
    noisy = runs_of(levels * rng.choice([0.01, 1.0], (60, 3, 10), p=[0.9, 0.1]))
    sentence = warnings_of(noisy, difference="ratio")["denominator"]
    assert "a ratio takes a very uncertain value" in sentence
    assert "raise small values to a floor" in sentence
    assert "compare geometric means or medians" in sentence
    assert "floor" not in warnings_of(noisy, difference="ratio", floor=1e-9)["denominator"]
    assert "denominator" not in warnings_of(noisy, difference="ratio", statistic="geometric-mean")


def test_what_is_not_divided_by_may_be_near_zero():
    values = healthy()
    values[11, 2] = [1.0, *[1e-4] * 19]  # hardly known
    assert "denominator" not in warnings_of(runs_of(values))
    assert "Instances: i11." in warnings_of(runs_of(values), difference="ratio")["denominator"]


def test_power_that_is_just_reached_is_reached():
    asked = {"detectable": 0.5, "effect": 0.5, "power": 0.8}
    compared = analyse_runs(runs_of(healthy(n=57)), Settings(difference="simple")).comparisons
    assert not list(warnings.underpowered(compared, reached=0.8, **asked))
    assert "is 79 %, not 80 %" in next(warnings.underpowered(compared, reached=0.79, **asked)).sentence


def test_too_few_instances_for_the_planned_effect_or_for_any_but_large_ones():
    few = runs_of(healthy(n=8))
    assert "power for d = 0.5 is" in warnings_of(few, effect=0.5)["power"]
    assert "power is 80 % only for large effects (d ≥ 1.25)" in warnings_of(few)["power"]
    assert "power" not in warnings_of(runs_of(healthy(n=60)), effect=0.5)


def test_a_test_that_cannot_reach_its_level():
    sentence = warnings_of(runs_of(healthy(n=5)), test="wilcoxon")["level"]
    assert "2 of 2 intervals cannot reach their level" in sentence
    assert "93.8 %" in sentence
    assert "no difference could be significant" in warnings_of(runs_of(healthy(n=5)), test="wilcoxon")["power"]


def test_budget_and_accuracy():
    values = healthy(runs=4)
    values[2] += RNG(7).normal(0, 30, (3, 4))
    found = warnings_of(runs_of(values), se=0.05, budget=12)
    assert found["budget"].startswith("The budget of 12 runs was reached on 30 instances. Instances: i0, i1,")
    assert "1 of 30 instances misses the target standard error of 0.05. By the conservative" in found["accuracy"]
    missed = int(re.search(r"variance bound, (\d+) instance", found["accuracy"])[1])
    assert f"was reached there on i0, i1, i3 and {30 - missed - 3} more." in found["budget"]
    assert "standard error" not in warnings_of(runs_of(values), budget=12)["budget"]


def test_the_guard_is_approximate_for_statistics_it_does_not_know():
    values = healthy(runs=4)
    question = {"se": 1e-4, "difference": "simple"}
    assert "approximate for this statistic" in warnings_of(runs_of(values), statistic=np.ptp, **question)["accuracy"]
    for known in ("mean", "median", "quantile:0.9", "trimmed-mean"):
        assert "approximately" not in warnings_of(runs_of(values), statistic=known, **question)["accuracy"]


def test_heavy_tails_are_told_to_those_who_asked_for_accuracy():
    values = healthy() + RNG(9).lognormal(0, 1.5, (30, 3, 20))
    assert "heavy-tails" in warnings_of(runs_of(values), se=0.1)
    assert "heavy-tails" not in warnings_of(runs_of(values))
    assert "heavy-tails" not in warnings_of(runs_of(healthy()), se=0.1)


def test_heavy_tails_on_one_instance_are_not_typical():
    values = healthy()
    values[3] += RNG(9).lognormal(0, 2.5, (3, 20))
    assert "heavy-tails" not in warnings_of(runs_of(values), se=1.0)


def test_single_values():
    assert warnings_of(runs_of(healthy(runs=1)))["accuracy-unknown"].startswith(
        "The precision of differences is unknown: on every instance"
    )


# failures ---------------------------------------------------------------------------------------------------------


def with_failures(values, lost):
    """The runs at the places of `lost` failed."""
    status = np.where(lost, "timeout", "ok").ravel().tolist()
    values = np.where(lost, np.nan, values)
    return runs_of(values, status=status)


def test_failures_that_do_not_matter():
    values, lost = healthy(), np.zeros((30, 3, 20), bool)
    lost[0, 1, :2] = lost[1, 2, 0] = True
    sentence = warnings_of(with_failures(values, lost), failures=Drop())["failures"]
    assert sentence.startswith("3 of 1,800 runs failed (a1 2 of 600, a2 1 of 600).")
    assert "counted as the worst value seen on their instance every verdict stays" in sentence
    assert "left out" not in sentence  # that is what was done


def test_failures_on_which_the_conclusion_hangs():
    values = healthy(a=2)
    values[:, 1] = values[:, 0] * (1 - 0.02 * RNG(8).uniform(0.5, 1.5, (30, 1)))  # a1 is better when it runs through
    values[:, 0, 0] *= 3  # something much worse is seen on every instance
    lost = np.zeros((30, 2, 20), bool)
    lost[:, 1, ::2] = True
    runs = with_failures(values, lost)
    dropped = warnings_of(runs, failures=Drop())["failures"]
    assert "1 verdict would reverse (a0 × a1), on 30 instances" in dropped
    punished = warnings_of(runs, failures=Penalty(1e4))["failures"]
    assert "With failed runs left out 1 verdict would reverse" in punished


def test_when_all_runs_of_an_algorithm_failed_dropping_them_leaves_nothing():
    lost = np.zeros((30, 2, 20), bool)
    lost[:, 1] = True
    sentence = warnings_of(with_failures(healthy(a=2), lost), failures=Penalty(1e3))["failures"]
    assert "With failed runs left out no comparison is possible" in sentence


def test_when_all_runs_of_one_of_three_failed_dropping_them_leaves_the_others():
    lost = np.zeros((30, 3, 20), bool)
    lost[:, 2] = True
    sentence = warnings_of(with_failures(healthy(), lost), failures=Penalty(1e3))["failures"]
    assert "With failed runs left out 1 verdict would change (a0 × a2), on 30 instances" in sentence


def test_instances_that_neither_algorithm_of_a_pair_solved_are_counted_and_named():
    names = [(i, a) for i in ("i1", "i2", "i3") for a in ("a", "b", "c")]
    failed = {("i1", "a"), ("i1", "b"), ("i2", "a"), ("i2", "b"), ("i3", "c")}
    runs = Runs.from_columns(
        [i for i, _ in names],
        [a for _, a in names],
        [np.nan if each in failed else 1.0 + len(each[0]) + ord(each[1]) for each in names],
        ["timeout" if each in failed else "ok" for each in names],
    )

    counted = analyse_runs(runs, Settings(difference="simple", failures=Par(10.0, 5.0)))
    dropped = [caution.kind for caution in _warnings_with(runs, Drop())]

    (said,) = [caution.sentence for caution in counted.warnings if caution.kind == "censored"]
    assert said.endswith("Instances: i1, i2. Pairs: a × b 2.")
    assert "censored" not in dropped
    assert [each.unsolved for each in counted.diagnoses] == [2, 0, 0]
    assert counted.unsolved == {("a", "b"): ("i1", "i2")}
    (verdict,) = [each.verdict for each in counted.comparisons if (each.first, each.second) == ("a", "b")]
    assert verdict.endswith("; on 2 of 3 instances (i1, i2) neither gave a value")
    assert "neither solved" in [column.head for column in comparison_columns(counted).columns]
    assert "solved" in str(counted)  # its head may be folded
    assert "neither solved" in holm_table(counted)
    assert "neither solved" in comparisons_table(counted).header
    (row,) = unsolved_table(counted).rows
    assert [cell.text for cell in row] == ["a × b", "2", "i1, i2"]
    text = plain_paragraph(methods(subject_of(counted)))
    assert "On 2 instances neither algorithm of 1 pair gave a value" in text
    assert "(PAR10)" in text
    for ending in ("html", "md", "tex"):
        assert "i1, i2" in render(subject_of(counted), ending)


def _warnings_with(runs, policy):
    try:
        return analyse_runs(runs, Settings(difference="simple", failures=policy)).warnings
    except InvalidData:
        return ()


def test_every_kind_of_warning_has_one_severity():
    kinds = get_args(WarningKind)

    assert {kind: sum(kind in some for some in SEVERITIES.values()) for kind in kinds} == dict.fromkeys(kinds, 1)


def test_warnings_that_could_reverse_a_verdict_come_first():
    some = [
        AnalysisWarning("columns", "a"),
        AnalysisWarning("run-noise", "b"),
        AnalysisWarning("skewness", "c"),
        AnalysisWarning("power", "d"),
    ]

    assert [each.sentence for each in by_severity(some)] == ["c", "b", "d", "a"]


def test_instances_are_named_as_people_know_them():
    rng = np.random.default_rng(5)
    names = [f"instances/G_{k}.txt" for k in range(8)]
    frame = pd.DataFrame({"instance": names, "a": rng.normal(100, 5, 8), "b": rng.normal(100, 5, 8)})
    frame.loc[3, "b"] = np.nan

    said = [each.sentence for each in am.analyse(frame, difference="simple", better="lower").warnings]

    assert any("G_3 (" in each for each in said)
    assert not any("instances/" in each or ".txt" in each for each in said)


def test_a_caution_names_parameters_to_who_calls_and_options_to_who_types():
    caution = AnalysisWarning("bias", f"Say it ({parameter('estimate', 'first-runs')}).")

    assert caution.sentence == 'Say it (estimate="first-runs").'
    assert caution.in_shell == "Say it (--estimate first-runs)."
    assert pickle.loads(pickle.dumps(caution)).in_shell == caution.in_shell
