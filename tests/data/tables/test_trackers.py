"""Exports of experiment trackers: no id, moment or setting is compared, and several measures are asked about.

The columns are those that the tools document: MLflow's `search_runs().to_csv()`, the CSV of a Weights & Biases table of
runs and of its API, Optuna's `trials_dataframe()`, scikit-learn's `cv_results_`, and logs dumped by pandas.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import ampler as am
from ampler.core.errors import InvalidData
from ampler.data.tables import Columns, read_table

MODELS, DATASETS, SEEDS = ("forest", "boosting"), tuple(f"d{k}" for k in range(6)), (1, 2, 3)


def rows(columns):
    """One row per run, the columns as functions of a generator and of model, dataset, seed, and number of the run."""
    rng = np.random.default_rng(3)
    runs = itertools.product(MODELS, DATASETS, SEEDS)
    return pd.DataFrame(
        [{name: of(rng, *run, number) for name, of in columns.items()} for number, run in enumerate(runs)]
    )


def constant(value):
    return lambda rng, model, dataset, seed, number: value


def noise(size=1.0):
    return lambda rng, model, dataset, seed, number: size * (1 + rng.random())


def model(rng, model, dataset, seed, number):
    return model


def dataset(rng, model, dataset, seed, number):
    return dataset


def seed(rng, model, dataset, seed, number):
    return seed


def moment(rng, model, dataset, seed, number):
    return f"2024-05-0{1 + number % 9} 10:00:{number:02}.123000+00:00"


MLFLOW = {
    "run_id": lambda rng, model, dataset, seed, number: f"{number:032x}",
    "experiment_id": lambda rng, model, dataset, seed, number: 1000 + number % 5,
    "status": constant("FINISHED"),
    "artifact_uri": lambda rng, model, dataset, seed, number: f"mlflow-artifacts:/1/{number:032x}/artifacts",
    "start_time": moment,
    "end_time": moment,
    "metrics.training_score": noise(),
    "metrics.val_accuracy": noise(),
    "metrics.lift_at_10": noise(),
    "params.model": model,
    "params.dataset": dataset,
    "params.seed": seed,
    "params.max_depth": lambda rng, model, dataset, seed, number: 3 + number % 4,
    "tags.mlflow.user": constant("ana"),
    "tags.mlflow.source.name": constant("train.py"),
    "tags.mlflow.source.type": constant("LOCAL"),
    "tags.mlflow.runName": lambda rng, model, dataset, seed, number: f"bold-owl-{number}",
}  # fmt: skip
WANDB = {
    "Name": lambda rng, model, dataset, seed, number: f"rosy-sun-{number}",
    "State": constant("finished"),
    "Notes": constant("-"),
    "User": constant("ana"),
    "Tags": constant(""),
    "Created": lambda rng, model, dataset, seed, number: f"2024-05-01T10:00:{number:02}.000Z",
    "Runtime": lambda rng, model, dataset, seed, number: 60 + number % 7,
    "Sweep": constant(""),
    "model": model,
    "dataset": dataset,
    "seed": seed,
    "lr": constant(0.001),
    "_runtime": noise(60),
    "_step": lambda rng, model, dataset, seed, number: 1000 + number,
    "_timestamp": lambda rng, model, dataset, seed, number: 1714557600.5 + number,
    "val/top-1": noise(),
}
OPTUNA = {
    "number": lambda rng, model, dataset, seed, number: number,
    "value": noise(),
    "datetime_start": moment,
    "datetime_complete": moment,
    "duration": lambda rng, model, dataset, seed, number: f"0 days 00:00:{number:02}.5",
    "params_lr": noise(),
    "user_attrs_model": model,
    "user_attrs_dataset": dataset,
    "system_attrs_grid_id": lambda rng, model, dataset, seed, number: number,
    "state": constant("COMPLETE"),
}
SKLEARN = {
    "Unnamed: 0": lambda rng, model, dataset, seed, number: number,
    "mean_fit_time": noise(),
    "std_fit_time": noise(),
    "mean_score_time": noise(),
    "std_score_time": noise(),
    "param_C": noise(),
    "params": constant("{'C': 1}"),
    "split0_test_score": noise(),
    "split1_test_score": noise(),
    "mean_test_score": noise(),
    "std_test_score": noise(),
    "rank_test_score": lambda rng, model, dataset, seed, number: 1 + number % 3,
    "estimator": model,
    "dataset": dataset,
}
LOG = {
    "Unnamed: 0.1": lambda rng, model, dataset, seed, number: number,
    "level_0": lambda rng, model, dataset, seed, number: number,
    "job_id": lambda rng, model, dataset, seed, number: 40 + number,
    "code_version": constant(3),
    "timestamp": lambda rng, model, dataset, seed, number: 1714557600 + 7 * number,
    "algorithm": model,
    "instance": dataset,
    "seed": seed,
    "n_nodes": lambda rng, model, dataset, seed, number: 10 * len(dataset),
    "gap_closed": noise(),
}


@pytest.mark.parametrize(
    ("columns", "asked", "never"),
    [
        (MLFLOW, ("metrics.training_score", "metrics.val_accuracy", "metrics.lift_at_10"), "experiment_id"),
        (WANDB, ("Runtime", "_runtime", "val/top-1"), "_timestamp"),
        (SKLEARN, ("mean_fit_time", "mean_score_time", "mean_test_score"), "rank_test_score"),
    ],
    ids=["MLflow", "Weights & Biases", "scikit-learn"],
)
def test_of_several_measures_the_value_is_asked_for_and_the_answer_is_taken(columns, asked, never, tmp_path):
    path = tmp_path / "export.csv"
    rows(columns).to_csv(path, index=False)
    with pytest.raises(InvalidData) as question:
        am.analyse(path, difference="simple", better="lower")
    assert all(repr(name) in str(question.value) for name in asked)
    assert repr(never) not in str(question.value)
    assert "value=" in str(question.value)
    runs = read_table(path, columns=Columns(value=asked[-1])).runs
    assert (runs.algorithms, len(runs.instances), len(runs)) == (MODELS, 6, 36)


@pytest.mark.parametrize(
    ("columns", "value"),
    [
        (MLFLOW, "metrics.val_accuracy"),
        ({name: of for name, of in WANDB.items() if name not in ("Runtime", "_runtime")}, "val/top-1"),
        (OPTUNA, "value"),
        (LOG, "gap_closed"),
    ],
    ids=["MLflow", "Weights & Biases", "Optuna", "a log"],
)
def test_the_one_measure_of_an_export_is_the_value(columns, value, tmp_path):
    path = tmp_path / "export.csv"
    frame = rows({name: of for name, of in columns.items() if name == value or not name.startswith("metrics.")})
    frame.to_csv(path, index=False)
    runs = read_table(path).runs
    assert sorted(runs.value) == sorted(frame[value])


@pytest.mark.parametrize("columns", [MLFLOW, WANDB, SKLEARN], ids=["MLflow", "Weights & Biases", "scikit-learn"])
def test_without_a_column_for_the_algorithm_nothing_is_compared(columns, tmp_path):
    path = tmp_path / "export.csv"
    named = ("params.model", "model", "estimator")
    rows({name: of for name, of in columns.items() if name not in named}).to_csv(path, index=False)
    with pytest.raises(InvalidData):
        am.analyse(path, difference="simple", better="lower")


def test_the_trials_of_one_study_of_optuna_compare_nothing():
    frame = pd.DataFrame({"number": range(9), "value": np.arange(9.0), "params_x": np.arange(9.0) ** 2})
    for name in ("datetime_start", "datetime_complete", "duration"):
        frame[name] = [f"2026-11-19 15:00:0{k}" for k in range(9)]
    with pytest.raises(InvalidData, match="no column names the algorithm"):
        read_table(frame)
    with pytest.raises(InvalidData, match="'value' are values by name, and no column names the algorithm"):
        read_table(frame.assign(other=np.arange(9.0) * 3))


def test_measures_of_runs_are_no_instances_of_algorithms_in_rows():
    frame = rows({name: WANDB[name] for name in ("Name", "Runtime", "val/top-1")})
    with pytest.raises(InvalidData, match="'Runtime' are measured values, and no column names the instance"):
        read_table(frame, columns=Columns(algorithm=("Name",)))


def test_what_differs_from_run_to_run_beside_a_measure_is_asked_about_and_what_describes_is_not():
    columns = {"solver": model, "instance": dataset, "seed": seed, "time": noise()}
    per_instance = columns | {"hardness": lambda rng, model, dataset, seed, number: int(dataset[1:])}
    per_solver = columns | {"tuning": lambda rng, model, dataset, seed, number: len(model)}
    for frame in (rows(columns), rows(per_instance), rows(per_solver)):
        assert sorted(read_table(frame).runs.value) == sorted(frame["time"])
    with pytest.raises(InvalidData, match=r"'time', 'gap_closed' could each be the value.*value=\"time\""):
        read_table(rows(columns | {"gap_closed": noise()}))
