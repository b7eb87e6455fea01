"""`ampler export`: every run's last attempt as a table."""

import csv

import pytest

from ampler.core.values import Observation, Question, RunKey
from ampler.data.export import COLUMNS, measure_names, write_runs
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.study.store import open_store
from ampler.testing import SerialExecutor

OBSERVATIONS = [
    Observation(RunKey("i,1", 'a "b"', 0), 0.1 + 0.2, 1.5, seed=3, attempt=1, round=2),
    Observation(RunKey("i2", "é", 1), None, 0.25, "failed", "it broke,\nbadly", seed=4),
]


@pytest.fixture
def path(tmp_path):
    plan = make_plan(
        question=Question("simple"),
        algorithms={"a": lambda instance, seed: seed / 7, "b": lambda instance, seed: -seed},
        instances=["i1", "i2"],
        rule=Fixed(runs=3),
        count="all",
    )
    with open_store(tmp_path / "study.db") as store:
        run_plan(plan, store, executor=SerialExecutor())
        store.seen = list(store.observations())
    return tmp_path / "study.db"


def test_csv_has_the_promised_columns_and_gives_every_value_back(tmp_path):
    number = write_runs(OBSERVATIONS, tmp_path / "runs.csv")

    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert number == 2
    assert tuple(rows[0]) == COLUMNS
    assert ",".join(COLUMNS) == "instance,algorithm,index,attempt,round,seed,value,seconds,status,message"
    assert list(rows[0].values()) == ["i,1", 'a "b"', "0", "1", "2", "3", repr(0.1 + 0.2), "1.5", "ok", ""]
    assert list(rows[1].values()) == ["i2", "é", "1", "0", "0", "4", "", "0.25", "failed", "it broke,\nbadly"]


def test_parquet_has_the_same(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")

    write_runs(OBSERVATIONS, tmp_path / "runs.parquet")

    table = parquet.read_table(tmp_path / "runs.parquet")
    assert tuple(table.column_names) == COLUMNS
    assert table.to_pylist()[0]["value"] == 0.1 + 0.2
    assert table.to_pylist()[1]["value"] is None
    assert table.to_pylist()[1]["message"] == "it broke,\nbadly"


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet"])
def test_measures_have_columns_of_their_own(tmp_path, name):
    pd = pytest.importorskip("pandas")
    seen = [
        Observation(RunKey("i", "a", 0), 3.0, measures={"gap": 0.1 + 0.2, "value": 3.0}),
        Observation(RunKey("i", "b", 0), 4.0, measures={"Seconds": 9.0}),
        Observation(RunKey("i", "c", 0), 5.0),
    ]
    write_runs(seen, tmp_path / name, measures=measure_names(seen))
    table = (pd.read_csv if name.endswith("csv") else pd.read_parquet)(tmp_path / name)

    assert list(table.columns) == [*COLUMNS, "gap", "measure.value", "measure.Seconds"]
    assert table["gap"][0] == 0.1 + 0.2
    assert table["measure.value"][0] == 3.0
    assert table["measure.Seconds"].isna().tolist() == [True, False, True]


def test_nothing_is_a_table_too(tmp_path):
    pytest.importorskip("pyarrow")
    for name in ("runs.csv", "runs.parquet"):
        assert write_runs([], tmp_path / name) == 0
        assert (tmp_path / name).exists()


def test_a_file_is_replaced_only_by_a_complete_one(tmp_path):
    path = tmp_path / "runs.csv"
    write_runs(OBSERVATIONS, path)
    before = path.read_bytes()

    def broken():
        yield OBSERVATIONS[0]
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        write_runs(broken(), path)

    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["runs.csv"]


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet"])
def test_the_command_exports_every_run(path, shell, name):
    pytest.importorskip("pyarrow")
    answer = shell("export", path, path.with_name(name))

    assert answer.code == 0
    assert "12 runs are written to" in answer.words
    assert path.with_name(name).stat().st_size > 0


@pytest.mark.parametrize(
    ("name", "sentence"), [("runs.xlsx", "something.csv or something.parquet"), ("no/runs.csv", "no")]
)
def test_what_cannot_be_written_is_told(path, shell, name, sentence):
    answer = shell(
        "export",
        path,
        path.with_name("x").with_name(name.split("/")[0]) / name.split("/")[1] if "/" in name else path.with_name(name),
    )

    assert answer.code == 1
    assert sentence in answer.err
    assert len(answer.err.strip().splitlines()) == 1
