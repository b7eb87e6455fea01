"""Readers of other tools, value by value beside the tool's own numbers.

The files of hyperfine 1.15, pytest-benchmark 5, pyperf 2.10, Google Benchmark, Go, asv, Inspect 0.3.285, MLflow,
lm-evaluation-harness 0.4.13, benchopt, SMAC 2 and scikit-learn were written by the tools; paths of the machine were
replaced. Those of JMH, BenchmarkDotNet, Criterion and the AutoML benchmark follow their documented form.
"""

from __future__ import annotations

import json
import lzma
import sqlite3
import statistics
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ampler.core.errors import InvalidData
from ampler.data.imports import readers
from ampler.data.tables import Columns, read_table

FILES = Path(__file__).parent / "files"
NAMES = {  # whose files end in what, for damaged and foreign ones
    "asv": "asv/box/013d9666-existing-py_python.json",
    "BenchmarkDotNet": "benchmark-dotnet/Demo.Sort-report-full.json",
    "Google Benchmark": "google-benchmark/base.json",
    "hyperfine": "hyperfine/param-base.json",
    "Inspect": "inspect/a.json",
    "JMH": "jmh/result.json",
    "lm-evaluation-harness": "lm-eval-results/model1.json",
    "pyperf": "pyperf/base.json",
    "pytest-benchmark": "pytest-benchmark/parameters.json",
    "SMAC": "smac/runhistory.json",
}


def loaded(name):
    return json.loads((FILES / name).read_text())


def by_cell(table):
    """The values of each algorithm and instance, in the order of the runs."""
    runs, cells = table.runs, {}
    for a, i, value in zip(runs.algorithm, runs.instance, runs.value, strict=True):
        cells.setdefault((runs.algorithms[a], runs.instances[i]), []).append(float(value))
    return cells


def test_every_reader_is_found_by_its_entry_point_and_describes_itself():
    tools = [reader.tool for reader in readers()]
    assert len(tools) == len(set(tools)) == 21


def test_rounds_of_pytest_benchmark_have_its_means():
    table = read_table(FILES / "pytest-benchmark" / "parameters.json")
    assert table.runs.algorithms == ("quick", "slow")
    assert table.direction.better == "lower"
    cells = by_cell(table)
    for benchmark in loaded("pytest-benchmark/parameters.json")["benchmarks"]:
        size, solver = benchmark["param"].split("-")
        values = cells[solver, size]
        assert values == benchmark["stats"]["data"]
        assert statistics.mean(values) == pytest.approx(benchmark["stats"]["mean"], rel=1e-12)


def test_benchmarks_without_parameters_are_asked_for_their_algorithm():
    with pytest.raises(InvalidData, match=r"without a common parameter for the algorithm.*base.json candidate.json"):
        read_table(FILES / "pytest-benchmark" / "base.json")


def test_values_of_pyperf_have_its_means():
    table = read_table(FILES / "pyperf" / "base.json", columns=Columns(algorithm=("benchmark",), instance=("process",)))
    document = loaded("pyperf/base.json")
    for benchmark in document["benchmarks"]:
        own = [run["values"] for run in benchmark["runs"]]
        cells = {key: values for key, values in by_cell(table).items() if key[0] == benchmark["metadata"]["name"]}
        assert list(cells.values()) == own


def test_files_with_values_in_different_units_are_not_compared(tmp_path):
    memory = loaded("pyperf/base.json")
    for each in (memory, *memory["benchmarks"]):
        each["metadata"] = each.get("metadata", {}) | {"unit": "byte"}
    scores = loaded("jmh/result.json")
    for row in scores:
        row["primaryMetric"]["scoreUnit"] = "us/op"
    for document, name in ((memory, "pyperf/base.json"), (scores, "jmh/result.json")):
        (tmp_path / "other.json").write_text(json.dumps(document))
        with pytest.raises(InvalidData, match="values of one name and unit"):
            read_table({"a": FILES / name, "b": tmp_path / "other.json"})


def test_values_of_a_process_of_pyperf_are_averaged():
    files = {name: FILES / "pyperf" / f"{name}.json" for name in ("base", "candidate")}
    table = read_table(files)
    own = {
        (name, benchmark["metadata"]["name"]): [statistics.mean(run["values"]) for run in benchmark["runs"]]
        for name in files
        for benchmark in loaded(f"pyperf/{name}.json")["benchmarks"]
    }
    assert by_cell(table) == {key: pytest.approx(values, rel=1e-12) for key, values in own.items()}
    assert table.nested == "process"


def test_a_parameter_of_some_benchmarks_names_no_algorithm_and_an_address_no_instance(tmp_path):
    document = loaded("pytest-benchmark/parameters.json")
    first, *rest = document["benchmarks"]
    for name in ("one", "two"):  # as two processes write an object as parameter
        first["params"] = {"thing": f"<object object at 0x7f{name}>"}
        (tmp_path / f"{name}.json").write_text(json.dumps(document | {"benchmarks": [first, *rest]}))
    with pytest.raises(InvalidData, match="without a common parameter for the algorithm"):
        read_table(tmp_path / "one.json")
    table = read_table([tmp_path / "one.json", tmp_path / "two.json"])
    assert len(table.runs.instances) == len(document["benchmarks"])


def test_repetitions_of_google_benchmark_are_seconds_and_errors_have_failed():
    table = read_table(
        FILES / "google-benchmark" / "base.json", columns=Columns(algorithm=("benchmark",), instance=("run",))
    )
    rows = [row for row in loaded("google-benchmark/base.json")["benchmarks"] if row["run_type"] == "iteration"]
    good = [row["real_time"] * 1e-9 for row in rows if not row.get("error_occurred")]
    assert sorted(table.runs.value[table.runs.ok]) == pytest.approx(sorted(good), rel=1e-12)
    assert table.runs.failures() == {("BM_Err/iterations:1", "failed"): 3}
    means = read_table(
        FILES / "google-benchmark" / "aggregates.json", columns=Columns(algorithm=("benchmark",), instance=("run",))
    )
    own = [
        r["real_time"] * 1e-9
        for r in loaded("google-benchmark/aggregates.json")["benchmarks"]
        if r.get("aggregate_name") == "mean"
    ]
    assert means.runs.value[means.runs.ok].tolist() == pytest.approx([v for v in own if v], rel=1e-12)


def test_lines_of_go_are_runs():
    table = read_table(FILES / "go" / "base.txt", columns=Columns(algorithm=("size",), instance=("benchmark",)))
    assert by_cell(table) == {
        ("10", "BenchmarkSort"): [394.9, 524.2, 391.2],
        ("100", "BenchmarkSort"): [842.6, 936.7, 989.0],
    }
    memory = read_table(
        FILES / "go" / "base.txt", columns=Columns(algorithm=("size",), instance=("benchmark",), value="B/op")
    )
    assert set(memory.runs.value) == {104.0, 920.0}


def test_commands_of_hyperfine_have_its_means():
    table = read_table(FILES / "hyperfine" / "two.json")
    assert table.runs.algorithms == ("echo a", "echo b")
    assert len(table.runs.instances) == 1
    for result in loaded("hyperfine/two.json")["results"]:
        values = by_cell(table)[result["command"], "the only one"]
        assert values == result["times"]
        assert statistics.mean(values) == pytest.approx(result["mean"], rel=1e-12)


def test_commits_of_asv_are_algorithms_and_failed_benchmarks_have_failed():
    table = read_table(FILES / "asv")
    assert table.runs.algorithms == ("013d9666", "9ee4aa11")
    document = loaded("asv/box/013d9666-existing-py_python.json")
    samples = document["results"]["b.Suite.time_sort"][11]
    assert by_cell(table)["013d9666", "b.Suite.time_sort(10, 'up')"] == samples[0]
    assert by_cell(table)["013d9666", "b.mem_list"] == [856.0]
    assert table.runs.failures() == {("013d9666", "failed"): 1, ("9ee4aa11", "failed"): 1}
    assert table.direction is None  # track_length may be better either way


def test_forks_of_jmh_have_the_means_of_their_scores():
    table = read_table(FILES / "jmh" / "result.json")
    cells = by_cell(table)
    instance = "org.demo.Sort.run"  # its one size names nothing
    assert cells == {("quick", instance): [1.5, 3.5], ("slow", instance): [4.5, 6.5]}
    for row in loaded("jmh/result.json"):
        assert statistics.mean(cells[row["params"]["solver"], instance]) == row["primaryMetric"]["score"]
    assert table.direction.better == "lower"


def test_throughput_of_jmh_is_better_higher_and_modes_are_not_mixed(tmp_path):
    document = loaded("jmh/result.json")
    for row in document:
        row["mode"] = "thrpt"
    (tmp_path / "t.json").write_text(json.dumps(document))
    assert read_table(tmp_path / "t.json").direction.better == "higher"
    document[0]["mode"] = "avgt"
    (tmp_path / "t.json").write_text(json.dumps(document))
    with pytest.raises(InvalidData, match="write one mode and one unit"):
        read_table(tmp_path / "t.json")


def test_methods_of_benchmark_dotnet_are_algorithms():
    table = read_table(FILES / "benchmark-dotnet")
    for row in loaded("benchmark-dotnet/Demo.Sort-report-full.json")["Benchmarks"]:
        values = by_cell(table)[f"Sort.{row['Method']}", row["Parameters"].removeprefix("N=")]
        assert statistics.mean(values) == row["Statistics"]["Mean"]


def test_samples_of_criterion_are_nanoseconds_per_iteration(tmp_path):
    for function, scale in (("stable", 10.0), ("unstable", 5.0)):
        for size in ("10", "100"):
            folder = tmp_path / "sort" / function / size / "new"
            folder.mkdir(parents=True)
            description = {"group_id": "sort", "function_id": function, "value_str": size, "full_id": "x"}
            (folder / "benchmark.json").write_text(json.dumps(description))
            sample = {"sampling_mode": "Linear", "iters": [1.0, 2.0], "times": [scale, 4 * scale]}
            (folder / "sample.json").write_text(json.dumps(sample))
    table = read_table(tmp_path)
    assert by_cell(table)["stable", "10"] == [10.0, 20.0]
    assert (table.runs.algorithms, table.runs.instances) == (("stable", "unstable"), ("10", "100"))


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_samples_of_inspect_have_its_accuracy(suffix, tmp_path):
    for path in (FILES / "inspect").glob(f"*{suffix}"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    table = read_table(tmp_path)
    assert sorted(table.runs.algorithms) == ["mockllm/a", "mockllm/b"]
    assert len(table.runs) == 2 * 4 * 2
    for model in table.runs.algorithms:
        own = [values for (name, _), values in by_cell(table).items() if name == model]
        accuracy = loaded(f"inspect/{model[-1]}.json")["results"]["scores"][0]["metrics"]["accuracy"]["value"]
        assert np.mean(own) == accuracy
    assert table.direction.better == "higher"


def test_numbers_of_inspect_are_asked_for_their_direction_and_errors_for_no_score(tmp_path):
    document = loaded("inspect/a.json")
    for number, sample in enumerate(document["samples"]):
        for score in sample["scores"].values():
            score["value"] = 0.5 * number
    (tmp_path / "x.json").write_text(json.dumps(document))
    assert read_table(tmp_path / "x.json").direction is None
    for sample in document["samples"]:
        sample |= {"scores": {}, "error": {"message": "no"}}
    (tmp_path / "x.json").write_text(json.dumps(document))
    with pytest.raises(InvalidData, match="holds no scores: all 8 samples ended in an error"):
        read_table(tmp_path / "x.json")


@pytest.fixture
def mlruns(tmp_path):
    with tarfile.open(FILES / "mlflow" / "mlruns.tar.xz") as archive:
        archive.extractall(tmp_path / "mlruns", filter="data")
    return tmp_path / "mlruns"


@pytest.fixture
def mlflow_db(tmp_path):
    (tmp_path / "mlflow.db").write_bytes(lzma.decompress((FILES / "mlflow" / "mlflow.db.xz").read_bytes()))
    return tmp_path / "mlflow.db"


def exported(name, value):
    frame = pd.read_csv(FILES / "mlflow" / name)
    cells = {}
    for row in frame.sort_values("params.seed").itertuples():
        model, dataset, number = (row[1 + frame.columns.get_loc(c)] for c in ("params.model", "params.dataset", value))
        cells.setdefault((model, dataset), []).append(number)
    return cells


@pytest.mark.parametrize("kind", ["folder", "database", "CSV"])
def test_runs_of_mlflow_have_the_metrics_of_its_own_export(kind, mlruns, mlflow_db):
    path = {"folder": mlruns, "database": mlflow_db, "CSV": FILES / "mlflow" / "mlflow.csv"}[kind]
    with pytest.raises(InvalidData, match=r"metrics.(fit_seconds|val_accuracy)'.*could each be the value"):
        read_table(path)
    for value in ("metrics.val_accuracy", "metrics.fit_seconds"):
        table = read_table(path, columns=Columns(value=value))
        assert {key: sorted(values) for key, values in by_cell(table).items()} == {
            key: sorted(values)
            for key, values in exported("mlruns.csv" if kind == "folder" else "mlflow.csv", value).items()
        }


def test_tasks_of_lm_eval_have_its_results(tmp_path):
    table = read_table(FILES / "lm-eval-results")
    names = {name: loaded(f"lm-eval-results/{name}.json") for name in ("model1", "model2")}
    for name, document in names.items():
        own = {task: row["acc,none"] for task, row in document["results"].items()}
        model = document["model_name"]
        assert {task: by_cell(table)[model, task] for task in own} == {task: [value] for task, value in own.items()}, (
            name
        )
    assert table.direction.better == "higher"


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_curves_of_benchopt_end_where_they_end(suffix, tmp_path):
    frame = pd.read_parquet(FILES / "benchopt" / "run.parquet")
    path = tmp_path / f"run.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    table = read_table(path)
    ends = frame[frame["stop_val"] == frame["stop_val"].max()]
    for (solver, dataset), own in ends.groupby(["solver_name", "dataset_name"]):
        assert by_cell(table)[solver, dataset] == own["objective_value"].tolist()
    assert (len(table.runs), table.direction.better) == (8, "lower")


def test_trials_of_smac_have_its_costs():
    table = read_table(FILES / "smac" / "runhistory.json")
    own = {}
    for trial in loaded("smac/runhistory.json")["data"]:
        own.setdefault((str(trial["config_id"]), trial["instance"]), []).append(trial["cost"])
    assert by_cell(table) == own


def test_candidates_of_scikit_learn_have_its_scores():
    table = read_table(FILES / "sklearn" / "cv_results.csv")
    frame = pd.read_csv(FILES / "sklearn" / "cv_results.csv")
    for row in frame.itertuples():
        values = by_cell(table)[row.params, "the data set"]
        assert statistics.mean(values) == pytest.approx(row.mean_test_score, rel=1e-12)
    assert "Nadeau and Bengio" in table.folds


def test_several_scores_of_scikit_learn_are_asked_about_and_all_are_better_higher():
    path = FILES / "sklearn" / "several_scores.csv"
    with pytest.raises(InvalidData, match="'accuracy', 'neg_log_loss' could each be the value"):
        read_table(path)
    table = read_table(path, columns=Columns(value="neg_log_loss"))
    for row in pd.read_csv(path).itertuples():
        mean = statistics.mean(by_cell(table)[row.params, "the data set"])
        assert mean == pytest.approx(row.mean_test_neg_log_loss, rel=1e-12)
    assert table.direction.better == "higher"


def test_the_last_iteration_of_a_successive_halving_is_read():
    frame = pd.read_csv(FILES / "sklearn" / "halving.csv")
    table = read_table(FILES / "sklearn" / "halving.csv")
    assert set(table.runs.algorithms) == set(frame[frame["iter"] == frame["iter"].max()]["params"])
    assert "only the last iteration" in table.summary


def test_results_of_the_automl_benchmark_are_better_higher_and_missing_ones_have_failed():
    table = read_table(FILES / "amlb" / "results.csv")
    assert by_cell(table)["RandomForest", "iris"] == [-0.12, -0.22]
    assert table.runs.failures() == {("TPOT", "failed"): 1}
    assert table.direction.better == "higher"


@pytest.mark.parametrize("tool", NAMES)
def test_a_damaged_file_gets_one_sentence(tool, tmp_path):
    source = FILES / NAMES[tool]
    cut = tmp_path / source.name
    cut.write_bytes(source.read_bytes()[: source.stat().st_size // 2])
    with pytest.raises(InvalidData, match="is not JSON") as caught:
        read_table(cut)
    assert "\n" not in str(caught.value)


DAMAGED = [
    ("x.json", {"machine_info": {}, "benchmarks": [{"fullname": "a"}]}, "pytest-benchmark"),
    ("x.json", {"version": "1.0", "benchmarks": [{"runs": [{"values": ["a"]}]}]}, "pyperf"),
    ("x.json", {"context": {}, "benchmarks": [{"name": "a"}]}, "Google Benchmark"),
    ("x.json", {"commit_hash": "a", "env_name": "b", "results": {"a": [["x"], []]}}, "asv"),
    ("x.json", [{"primaryMetric": {}}], "JMH"),
    ("x.json", {"HostEnvironmentInfo": {}, "Benchmarks": [{"Type": "a"}]}, "BenchmarkDotNet"),
    ("x.json", {"eval": {}, "status": "", "version": 2, "samples": [{}]}, "Inspect"),
    ("x.json", {"results": {"a": 3}, "configs": {}, "versions": {}}, "lm-evaluation-harness"),
    ("x.json", {"data": [3], "configs": {}, "stats": {}}, "SMAC"),
    ("x.json", {"results": [{"command": "a"}]}, "hyperfine"),
]


@pytest.mark.parametrize(("name", "document", "tool"), DAMAGED, ids=[tool for _, _, tool in DAMAGED])
def test_a_file_of_another_form_gets_one_sentence(name, document, tool, tmp_path):
    (tmp_path / name).write_text(json.dumps(document))
    with pytest.raises(InvalidData, match=f"x.json is not a valid {tool}") as caught:
        read_table(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_damaged_archive_and_database_get_one_sentence(tmp_path, mlflow_db):
    (tmp_path / "x.eval").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(InvalidData, match=r"x\.eval is not a valid Inspect log"):
        read_table(tmp_path / "x.eval")
    with sqlite3.connect(mlflow_db) as connection:
        connection.execute("ALTER TABLE latest_metrics RENAME COLUMN value TO other")
    with pytest.raises(InvalidData, match="cannot be read as a database of MLflow"):
        read_table(mlflow_db)
