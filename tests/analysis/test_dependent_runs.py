"""Runs that belong together on an instance: folds that share training data, iterations of one process."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ampler as am
from ampler.core.errors import InvalidData, InvalidDesign, InvalidInput

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "dependence.json").read_text())


def folds(differences, *, per_repeat=None, datasets=1):
    """A table of two learners whose scores differ by so much in each fold."""
    per_repeat = per_repeat or len(differences)
    rows = [
        (
            f"d{dataset}",
            name,
            number // per_repeat,
            number % per_repeat,
            0.5 + number / 1000 + (name == "a") * difference,
        )
        for dataset in range(datasets)
        for number, difference in enumerate(differences)
        for name in "ab"
    ]
    return pd.DataFrame(rows, columns=["dataset", "learner", "repeat", "fold", "accuracy"])


def of_folds(frame, *, resampled=("repeat", "fold"), **options):
    reading = {name: options.pop(name) for name in ("test_share",) if name in options}
    results = am.read_results(frame, algorithm="learner", instance="dataset", resampled=resampled, **reading)
    return am.analyse(results, difference="simple", better="higher", settings=am.Settings(**options))


@pytest.mark.parametrize("gold", GOLD["folds"], ids=lambda row: str(len(row["differences"])))
def test_folds_of_one_dataset_are_tested_with_the_corrected_error(gold):
    ratio = gold["test_over_train"]

    analysis = of_folds(folds(gold["differences"]), resampled="fold", test_share=ratio / (1 + ratio))

    comparison = analysis.comparisons[0]
    low, high = comparison.joint_interval
    assert comparison.estimate == pytest.approx(gold["estimate"], rel=1e-9)
    assert comparison.p_value == pytest.approx(gold["p"], rel=1e-9)
    assert analysis.errors[0, 0] == pytest.approx(gold["error"], rel=1e-9)
    assert (low + high) / 2 == pytest.approx(gold["estimate"], rel=1e-9)


def test_the_folds_of_a_repeat_give_the_share_of_test_data():
    differences = np.random.default_rng(1).normal(0.01, 0.02, 50)

    analysis = of_folds(folds(differences, per_repeat=10))

    expected = differences.std(ddof=1) * math.sqrt(1 / 50 + 1 / 9)
    assert analysis.settings.test_over_train == pytest.approx(1 / 9)
    assert analysis.errors[0, 0] == pytest.approx(expected, rel=1e-9)


def test_over_datasets_the_tests_are_those_of_the_mean_differences():
    rng = np.random.default_rng(2)
    frame = pd.concat(folds(rng.normal(0.01, 0.02, 10)).assign(dataset=f"d{n}") for n in range(12))

    corrected = of_folds(frame, resampled="fold")
    plain = am.analyse(
        am.read_results(frame, algorithm="learner", instance="dataset", paired="fold"),
        difference="simple",
        better="higher",
    )

    assert corrected.comparisons[0].p_value == plain.comparisons[0].p_value
    assert np.all(corrected.errors > plain.errors)
    assert corrected.errors[0, 0] / plain.errors[0, 0] == pytest.approx(math.sqrt(1 + 10 / 9))


def test_the_error_rate_of_repeated_cross_validation_is_kept():
    """Scores of folds are correlated as training sets overlap: their common part is as large as their own."""
    rng, studies, found = np.random.default_rng(3), 300, np.zeros(2)
    for _ in range(studies):
        common = rng.normal(0, math.sqrt(0.1))  # the correlation of folds is test/(test + train) = 0.1
        frame = folds(common + rng.normal(0, math.sqrt(0.9), 50), per_repeat=10)
        naive = am.read_results(frame, algorithm="learner", instance="dataset")
        found += [
            of_folds(frame).comparisons[0].rejected,
            am.analyse(naive, difference="simple", better="higher").comparisons[0].rejected,
        ]

    assert found[0] / studies <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / studies)
    assert found[1] / studies > 0.2


@pytest.mark.parametrize(
    ("options", "error"),
    [({"test": "wilcoxon"}, InvalidDesign), ({"test_share": 1.2}, InvalidData), ({"statistic": "median"}, InvalidData)],
    ids=str,
)
def test_what_folds_have_not_is_refused(options, error):
    with pytest.raises(error):
        of_folds(folds([0.1, 0.2, -0.1, 0.3]), resampled="fold", **options)


def test_the_note_on_folds_says_that_they_are_corrected():
    notes = [
        warning
        for warning in of_folds(folds([0.1, 0.2, -0.1, 0.3]), resampled="fold").warnings
        if warning.kind == "folds"
    ]

    assert len(notes) == 1
    assert notes[0].severity == "good to know"
    assert "corrected" in notes[0].sentence


def iterations(gold):
    names = {"first": "a", "second": "b"}
    columns = {
        "solver": [names[which] for which in names for _ in gold[which]],
        "process": [label for which in names for label in gold[f"{which}_group"]],
        "seconds": [value for which in names for value in gold[which]],
    }
    return pd.DataFrame(columns).assign(benchmark="b0")


def of_processes(frame, **options):
    results = am.read_results(frame, algorithm="solver", instance="benchmark", value="seconds", nested="process")
    return am.analyse(results, difference="simple", better="lower", settings=am.Settings(**options))


@pytest.mark.parametrize("gold", GOLD["nested"], ids=lambda row: str(len(row["first"])))
def test_iterations_of_one_process_count_as_one_run(gold):
    analysis = of_processes(iterations(gold))

    comparison, welch = analysis.comparisons[0], gold["welch"]
    expected = gold["first_mean_se2_df"][0] - gold["second_mean_se2_df"][0]
    squared = gold["first_mean_se2_df"][1] + gold["second_mean_se2_df"][1]
    assert comparison.estimate == pytest.approx(expected, rel=1e-9)
    assert analysis.errors[0, 0] == pytest.approx(math.sqrt(squared), rel=1e-7)
    assert comparison.p_value == pytest.approx(welch["p"], rel=1e-7)


def test_few_processes_are_a_warning_and_many_are_none():
    rng = np.random.default_rng(5)

    def kinds(processes):
        rows = [
            (name, f"p{process}", 50 + effect + rng.normal())
            for name in "ab"
            for process in range(processes)
            for effect in [rng.normal()]
            for _ in range(5)
        ]
        frame = pd.DataFrame(rows, columns=["solver", "process", "seconds"]).assign(benchmark="b0")
        return [warning.kind for warning in of_processes(frame).warnings]

    assert "clusters" in kinds(4)
    assert "clusters" not in kinds(8)


def test_the_error_rate_of_nested_runs_is_kept_where_runs_alone_break_it():
    rng, studies, found = np.random.default_rng(6), 300, np.zeros(2)
    for _ in range(studies):
        rows = [
            (name, f"p{process}", 50 + effect + rng.normal())
            for name in "ab"
            for process in range(6)
            for effect in [rng.normal()]
            for _ in range(10)
        ]
        frame = pd.DataFrame(rows, columns=["solver", "process", "seconds"]).assign(benchmark="b0")
        alone = am.read_results(frame, algorithm="solver", instance="benchmark", value="seconds", ignore="process")
        found += [
            of_processes(frame).comparisons[0].rejected,
            am.analyse(alone, difference="simple", better="lower").comparisons[0].rejected,
        ]

    assert found[0] / studies <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / studies)
    assert found[1] / studies > 0.3


def test_runs_belong_together_in_one_way():
    frame = iterations(GOLD["nested"][0])

    with pytest.raises(InvalidInput, match="one way"):
        am.read_results(frame, algorithm="solver", instance="benchmark", nested="process", paired="process")
    with pytest.raises(InvalidData, match="means of their groups"):
        of_processes(frame, statistic="median")


def of_sessions(frame, **options):
    reading = {name: options.pop(name) for name in ("cluster",) if name in options}
    results = am.read_results(
        frame, algorithm="solver", instance="benchmark", value="seconds", crossed="session", **reading
    )
    return am.analyse(results, difference="simple", better="lower", settings=am.Settings(**options))


def in_sessions(table):
    """Runs of two solvers that differ by so much on each benchmark (row) in each session (column)."""
    rows = [
        (f"b{i:02d}", f"s{r}", name, 5.0 + i + r / 7 + (name == "a") * float(table[i, r]))
        for i in range(table.shape[0])
        for r in range(table.shape[1])
        for name in "ab"
    ]
    return pd.DataFrame(rows, columns=["benchmark", "session", "solver", "seconds"])


@pytest.mark.parametrize("gold", GOLD["crossed"], ids=lambda row: str(np.shape(row["table"])))
def test_sessions_that_serve_many_instances_add_their_variance(gold):
    comparison = of_sessions(in_sessions(np.array(gold["table"]))).comparisons[0]

    assert comparison.estimate == pytest.approx(gold["estimate"], rel=1e-8)
    assert comparison.p_value == pytest.approx(gold["p"], rel=1e-6)


def test_an_incomplete_table_uses_its_largest_complete_part():
    table = np.random.default_rng(7).normal(size=(12, 4))
    frame = in_sessions(table)
    frame = frame[~((frame["benchmark"] == "b03") & (frame["session"] == "s2"))]

    rest = in_sessions(np.delete(table, 3, axis=0))

    assert of_sessions(frame).comparisons[0].p_value == pytest.approx(
        of_sessions(rest).comparisons[0].p_value, rel=1e-9
    )


def test_two_sessions_are_a_warning_and_other_tests_are_refused():
    table = np.random.default_rng(8).normal(size=(12, 2))

    assert "clusters" in [warning.kind for warning in of_sessions(in_sessions(table)).warnings]
    with pytest.raises(InvalidDesign, match="sessions"):
        of_sessions(in_sessions(table), test="wilcoxon")


def test_the_error_rate_of_sessions_is_kept_where_instances_alone_break_it():
    rng, studies, found = np.random.default_rng(9), 300, np.zeros(2)
    for _ in range(studies):
        table = rng.normal(size=(30, 1)) + rng.normal(0, math.sqrt(0.5), (1, 5)) + rng.normal(size=(30, 5))
        frame = in_sessions(table)
        alone = am.read_results(frame, algorithm="solver", instance="benchmark", value="seconds", ignore="session")
        found += [
            of_sessions(frame).comparisons[0].rejected,
            am.analyse(alone, difference="simple", better="lower").comparisons[0].rejected,
        ]

    assert found[0] / studies <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / studies)
    assert found[1] / studies > 0.15


def launches(column):
    """A table in which 4 launches with 10 iterations each were made of two algorithms on one instance."""
    rng = np.random.default_rng(3)
    rows = [
        ("b", name, launch, iteration, 100 + shift + rng.normal())
        for name in ("old", "new")
        for launch, shift in enumerate(rng.normal(size=4))
        for iteration in range(10)
    ]
    return pd.DataFrame(rows, columns=["instance", "algorithm", column, "iteration", "ns"])


def test_numbered_groups_of_any_name_are_asked_about_and_never_taken_for_the_value():
    with pytest.raises(InvalidData, match=r"nested='?\"?launch"):
        am.read_results(launches("launch"), value="ns")
    analysis = am.analyse(am.read_results(launches("launch"), nested="launch"), difference="simple", better="lower")
    assert (analysis.measure, analysis.runs) == ("ns", 8)


def test_undeclared_folds_of_one_dataset_could_reverse_a_verdict():
    frame = folds(np.random.default_rng(1).normal(0.01, 0.01, 10))
    results = am.read_results(frame, algorithm="learner", instance="dataset")
    warnings = am.analyse(results, difference="simple", better="higher").warnings
    (found,) = [warning for warning in warnings if warning.kind == "pseudoreplication"]
    assert "resampled" in found.message
    assert not [warning for warning in of_folds(frame).warnings if warning.kind == "pseudoreplication"]
