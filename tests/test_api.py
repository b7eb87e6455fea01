"""analyse and advise: one door for paths, data frames, study files, stores and runs."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from flat_study import flat_analyse, flat_study
from scipy import stats

import ampler as am
from ampler import Precision, Study
from ampler.analysis.units import measure_text
from ampler.api import is_study_file
from ampler.core.arrays import Runs
from ampler.core.errors import InvalidData, StoreError
from ampler.core.failures import Drop, Penalty
from ampler.sampling.rules import Fixed
from ampler.study.record import record
from ampler.study.store import read_store


@pytest.fixture
def frame():
    rng = np.random.default_rng(7)
    rows = [
        {"algorithm": a, "instance": f"i{i}", "run": r, "value": 10 + i % 3 + shift + rng.normal(scale=0.5)}
        for i in range(12)
        for a, shift in (("old", 2.0), ("new", 0.0), ("same", 0.1))
        for r in range(4)
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def study():
    """A study of two deterministic-in-the-seed functions, with features."""

    def solver(shift):
        return lambda instance, seed: instance + shift + (seed % 1000) / 2000

    return Study(
        algorithms={"plain": solver(0.0), "worse": solver(1.0)},
        instances={f"i{k}": 10.0 + k for k in range(8)},
        difference="percent",
        reference="plain",
        better="lower",
        design=Precision(se=0.05, instances="all", start=4),
        seed=3,
    )


# Where results may be


def test_a_frame_its_csv_its_parquet_and_its_runs_give_the_same_analysis(frame, tmp_path):
    frame.to_csv(tmp_path / "runs.csv", index=False)
    frame.to_parquet(tmp_path / "runs.parquet")
    runs = Runs.from_columns(frame["instance"], frame["algorithm"], frame["value"])
    sources = (frame, tmp_path / "runs.csv", str(tmp_path / "runs.parquet"), runs)
    found = [
        am.analyse(source, difference="percent", better="lower", reference="old").comparisons for source in sources
    ]
    assert all(comparisons == found[0] for comparisons in found)
    assert found[0][0].rejected


def test_a_study_file_needs_no_options_and_its_export_gives_the_same(study, tmp_path):
    from ampler.data.export import write_runs

    study.run(tmp_path / "study.db", workers=1)
    analysis = am.analyse(tmp_path / "study.db")
    assert analysis.settings.difference == "percent"
    assert analysis.settings.reference == "plain"
    assert (analysis.settings.se, analysis.settings.budget) == (0.05, 100)
    assert analysis.instances == 8
    with read_store(tmp_path / "study.db") as store:
        write_runs(store.observations(), tmp_path / "runs.csv")
        assert am.analyse(store).comparisons == analysis.comparisons
    told = {"difference": "percent", "better": "lower", "reference": "plain"}
    as_they_are = am.analyse(tmp_path / "study.db", settings=am.Settings(estimate="all-runs")).comparisons[0]
    of_table = flat_analyse(tmp_path / "runs.csv", **told).comparisons[
        0
    ]  # a table does not say who decided on the runs
    again = flat_analyse(
        tmp_path / "runs.csv", **told, settings=am.Settings(se=0.05, start=10, budget=100)
    ).comparisons[0]
    assert of_table.p_value == pytest.approx(as_they_are.p_value, rel=1e-9)
    assert again.p_value == pytest.approx(analysis.comparisons[0].p_value, rel=1e-9)


def test_what_is_said_comes_before_what_the_study_says(study, tmp_path):
    study.run(tmp_path / "study.db", workers=1)
    analysis = am.analyse(tmp_path / "study.db", difference="simple", alpha=0.01, better="higher", test="sign")
    asked = analysis.settings
    assert (asked.difference, asked.alpha, asked.better, asked.test) == ("simple", 0.01, "higher", "sign")


def test_a_study_that_has_not_finished_an_instance_and_a_foreign_database_are_refused(study, tmp_path):
    from ampler.study.record import record
    from ampler.study.store import open_store

    with open_store(tmp_path / "study.db") as store:
        store.begin(record(study.plan), {})
    with pytest.raises(InvalidData, match="no instance of the study is finished"):
        am.analyse(tmp_path / "study.db")
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    assert is_study_file(tmp_path / "other.db")
    with pytest.raises(StoreError):
        am.analyse(tmp_path / "other.db")


def test_columns_cannot_be_chosen_in_a_study_file(study, tmp_path):
    study.run(tmp_path / "study.db", workers=1)
    with pytest.raises(InvalidData, match="no columns to choose"):
        am.analyse(am.read_results(tmp_path / "study.db", value="seconds"))


def test_a_plan_that_was_changed_after_the_first_run_is_said(study, tmp_path):
    from dataclasses import replace

    study.run(tmp_path / "study.db", workers=1)
    late = {**study.algorithms, "late": lambda instance, seed: instance + 0.5 + (seed % 7) / 100}
    replace(study, algorithms=late).run(tmp_path / "study.db", workers=1)
    warnings = {caution.kind: caution.sentence for caution in am.analyse(tmp_path / "study.db").warnings}
    assert "algorithm late was added" in warnings["plan"]


# What must be said, and what is said back


def test_the_difference_must_be_chosen_and_the_error_lists_the_three(frame):
    with pytest.raises(InvalidData, match=r'"simple".*"percent".*"ratio"'):
        am.analyse(frame)


def test_failed_runs_need_a_policy_and_get_it(frame):
    frame["status"] = ["timeout" if k == 5 else "ok" for k in range(len(frame))]
    with pytest.raises(InvalidData, match='on_failure="drop"'):
        am.analyse(frame, difference="simple", better="lower")
    dropped = am.analyse(am.read_results(frame, on_failure="drop"), difference="simple", better="lower")
    penalised = am.analyse(am.read_results(frame, on_failure=Penalty(100.0)), difference="simple", better="lower")
    assert dropped.settings.failures == Drop()
    assert dropped.statistics.max() < penalised.statistics.max()


def test_what_is_better_must_be_said_where_the_name_does_not_tell(frame):
    with pytest.raises(InvalidData, match='better="lower" or better="higher"'):
        am.analyse(frame, difference="simple")
    with pytest.raises(InvalidData, match="lower or higher values are better"):
        am.analyse(Runs.from_columns(["i", "i", "j", "j"], ["a", "b"] * 2, [1, 2, 3, 5]), difference="simple")


@pytest.mark.parametrize(("name", "better"), [("accuracy", "higher"), ("Time (s)", "lower")])
def test_a_name_that_says_what_is_better_is_believed_and_the_first_line_says_so(frame, name, better):
    analysis = am.analyse(frame.rename(columns={"value": name}), difference="simple")
    assert analysis.settings.better == better
    assert analysis.warnings[0].kind == "direction"
    assert measure_text(analysis).startswith(f"{name}, {better} is better (going by the name '{name}'); ")
    verdict = next(each.verdict for each in analysis.comparisons if (each.first, each.second) == ("old", "new"))
    assert verdict.startswith(f"old is {'better' if better == 'higher' else 'worse'} than new: ")


def test_what_is_said_comes_before_what_the_name_says(frame):
    analysis = am.analyse(frame.rename(columns={"value": "accuracy"}), difference="simple", better="lower")
    assert analysis.settings.better == "lower"
    assert "direction" not in [caution.kind for caution in analysis.warnings]
    assert "going by" not in measure_text(analysis)


def test_maximise_in_the_table_decides_the_words(frame):
    analysis = am.analyse(frame.assign(maximize=True), difference="simple")
    assert analysis.settings.better == "higher"
    assert "higher is better (going by column 'maximize')" in measure_text(analysis)


def test_advice_asks_what_is_better_unless_a_name_implies_it(frame):
    with pytest.raises(InvalidData, match=r'better="lower" or better="higher"'):
        am.advise(frame, difference="simple", detect=1.0)
    assert am.advise(frame.rename(columns={"value": "cost"}), difference="simple", detect=1.0).best.instances > 1


def test_notes_of_the_reader_are_warnings_of_the_analysis(frame):
    analysis = am.analyse(frame.assign(dimension=[10, 30] * (len(frame) // 2)), difference="simple", better="lower")
    assert [caution.kind for caution in analysis.warnings[:2]] == ["columns", "table"]
    assert analysis.warnings[1].sentence.startswith("An instance is one combination of instance and dimension")


def test_what_was_taken_for_what_is_said_before_everything_else(frame):
    said = "'algorithm' names the algorithm, 'instance' the instance, 'value' holds the values, 'run' numbers the runs."
    assert am.analyse(frame, difference="simple", better="lower").warnings[0].sentence == said
    assert am.advise(frame, difference="simple", detect=1.0, better="lower").warnings[0] == said


def test_where_and_columns_reach_the_table(frame):
    renamed = frame.rename(columns={"algorithm": "who", "instance": "on", "value": "result of it"})
    renamed["half"] = [0, 0, 1, 1] * (len(frame) // 4)
    analysis = am.analyse(
        am.read_results(renamed, algorithm="who", instance=["on"], value="result of it", where={"half": 1}),
        difference="simple",
        better="lower",
    )
    assert analysis.runs == len(frame) // 2


def test_features_of_a_table_become_subgroups(frame):
    frame["size"] = [f"s{int(name[1:]) % 2}" for name in frame["instance"]]
    groups = am.analyse(frame, difference="simple", better="lower", reference="old").subgroups
    assert {group.feature for group in groups} == {"size"}


# Advice


def test_advice_comes_from_the_same_sources(frame, study, tmp_path):
    from_frame = am.advise(frame, difference="simple", detect=0.5, start=2, better="lower")
    frame.to_csv(tmp_path / "runs.csv", index=False)
    from_file = am.advise(tmp_path / "runs.csv", difference="simple", detect=0.5, start=2, better="lower")
    assert from_file.best == from_frame.best
    study.run(tmp_path / "study.db", workers=1)
    advice = am.advise(tmp_path / "study.db", detect=0.02, better="lower")
    assert advice.difference == "percent"
    assert advice.pilot_instances == 8
    with pytest.raises(InvalidData, match="choose the kind of difference"):
        am.advise(frame, detect=0.5, better="lower")


def sometimes_zero(instance, seed):
    return max(0.0, instance + seed % 7 - 3)


def test_one_zero_does_not_end_a_study_with_a_floor(tmp_path, figures_only_of):
    figures_only_of()
    asked = {
        "algorithms": {"zero": lambda instance, seed: 0.0, "some": sometimes_zero},
        "instances": {"i1": 2.0, "i2": 3.0, "i3": 4.0},
        "difference": "ratio",
        "rule": Fixed(runs=4),
        "use": "all",
    }
    with pytest.raises(InvalidData, match="to a floor"):
        flat_study(**asked).run(tmp_path / "lost.db", workers=1)

    analysis = flat_study(**asked, floor=1e-8).run(tmp_path / "study.db", workers=1)

    assert analysis.settings.floor == 1e-8
    assert analysis.statistics[:, 0].tolist() == [1e-8] * 3
    with read_store(tmp_path / "study.db") as store:
        assert {seen.value for seen in store.observations() if seen.key.algorithm == "zero"} == {0.0}, "as they are"
    assert "Values below 1e-08 counted as 1e-08" in am.write_report(analysis, tmp_path / "report.html").read_text()


def test_an_accurate_study_decides_on_floored_values(tmp_path):
    def run(**given):
        return flat_study(
            algorithms={"a": sometimes_zero, "b": lambda instance, seed: 1 + instance + seed % 5},
            instances={"i1": 2.0, "i2": 1.0},
            difference="percent",
            se=0.5,
            use="all",
            **given,
        )

    floored = run(floor=4.5).run(tmp_path / "floor.db", workers=1)

    assert floored.statistics[:, 0].min() >= 4.5
    with read_store(tmp_path / "floor.db") as store:
        kept = store.plans()[-1]
    assert kept.question.floor == 4.5
    assert kept.decisions != record(run().plan).decisions


def test_a_floor_holds_for_tables_too():
    frame = pd.DataFrame({"dataset": ["a", "b", "c"], "old": [0.0, 8, 7], "new": [5, 4, 0.0]})

    with pytest.raises(InvalidData, match="a floor"):
        am.analyse(frame, difference="percent", better="lower", reference="new")
    found = am.analyse(frame, difference="percent", better="lower", reference="new", settings=am.Settings(floor=1.0))

    assert found.statistics.min() == 1.0


def folds():
    rows = [
        (a, f"d{i}", fold, 50 + i + (fold * 7) % 5 + k + 0.1 * ((fold + i + 2 * k) % 3))
        for i in range(8)
        for fold in range(5)
        for k, a in enumerate(["old", "new"])
    ]
    return pd.DataFrame(rows, columns=["classifier", "dataset", "fold", "accuracy"])


def test_runs_that_share_a_fold_are_compared_fold_by_fold_in_long_and_wide_tables():
    table = folds()
    wide = table.pivot(index=["dataset", "fold"], columns="classifier", values="accuracy").reset_index()
    alone, long = (
        am.analyse(am.read_results(table, paired=paired), difference="simple", reference="old")
        for paired in (None, "fold")
    )
    beside = am.analyse(am.read_results(wide, paired="fold"), difference="simple", reference="old", better="higher")
    assert long.settings.paired == "fold"
    assert long.errors == pytest.approx(beside.errors)
    assert (long.errors < alone.errors / 3).all()
    assert long.comparisons[0].estimate == pytest.approx(alone.comparisons[0].estimate)


def test_folds_are_said_not_to_be_independent_runs_with_what_to_do():
    alone, paired = (
        am.analyse(am.read_results(folds(), paired=paired), difference="simple") for paired in (None, "fold")
    )
    caution = next(caution for caution in alone.warnings if caution.kind == "folds")
    assert "5 folds" in caution.sentence
    assert "2.2 times" in caution.sentence  # 1 + 5/(5 − 1)
    assert 'paired="fold"' in caution.sentence
    assert "--paired fold" in caution.in_shell
    assert "paired=" not in next(caution.sentence for caution in paired.warnings if caution.kind == "folds")


def test_a_column_that_pairs_must_be_there(frame):
    with pytest.raises(InvalidData, match="paired must name a column, got 'batch'"):
        am.analyse(am.read_results(frame, paired="batch"), difference="simple", better="lower")


@pytest.mark.parametrize("seed", [0, 1])
def test_long_and_wide_tables_of_the_same_results_have_the_same_ties(seed):
    rng = np.random.default_rng(seed)
    means = rng.integers(5, 9, (15, 4))  # tenths with many ties; the means of runs are blurred by rounding
    wobble = rng.integers(-9, 10, (15, 4, 6))
    values = (100 * means[:, :, None] + np.concatenate([wobble, -wobble.sum(axis=2, keepdims=True)], axis=2)) / 1000
    names = [f"i{k}" for k in range(15)]
    wide = pd.DataFrame({"instance": names, **{a: means[:, k] / 10 for k, a in enumerate("abcd")}})
    rows = [(a, names[i], value) for i in range(15) for k, a in enumerate("abcd") for value in values[i, k]]
    long = pd.DataFrame(rows, columns=["algorithm", "instance", "value"])
    friedman = stats.friedmanchisquare(*means.T).statistic
    for table in (long, wide, long.groupby(["instance", "algorithm"])["value"].mean().unstack()):
        found = am.analyse(table, difference="simple", better="lower", test="sign")
        assert found.omnibus.friedman.corrected.statistic == pytest.approx(friedman, rel=1e-12)
        for each in found.comparisons:
            d = means[:, "abcd".index(each.first)] - means[:, "abcd".index(each.second)]
            assert each.p_value == pytest.approx(stats.binomtest(int((d > 0).sum()), int((d != 0).sum())).pvalue)


def test_an_algorithm_with_few_cells_costs_the_others_nothing_in_long_and_wide_tables():
    rng = np.random.default_rng(4)
    wide = pd.DataFrame(rng.random((30, 3)).round(3), columns=list("abc")).rename_axis("instance").reset_index()
    pair = am.analyse(wide[["instance", "a", "b"]], difference="simple", better="lower").comparisons[0]
    wide.loc[5:, "c"] = np.nan
    long = wide.melt("instance", var_name="algorithm", value_name="value").dropna()
    for table in (wide, long):
        found = {
            (each.first, each.second): each
            for each in am.analyse(table, difference="simple", better="lower").comparisons
        }
        assert found["a", "b"].p_value == pytest.approx(pair.p_value, rel=1e-12)
        assert [found[each].instances for each in (("a", "b"), ("a", "c"), ("b", "c"))] == [30, 5, 5]
