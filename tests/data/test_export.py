"""Runs as a table: what is written is what was recorded."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from ampler.core.errors import InvalidData
from ampler.core.runs import Observation, RunKey
from ampler.data.export import COLUMNS, column, measure_names, write_runs, writer_for
from ampler.data.tables import read_table

OBSERVATIONS = [
    Observation(RunKey("i,1", 'a "b"', 0), 0.1 + 0.2, 1.5, seed=3, attempt=1, round=2),
    Observation(RunKey("i2", "é", 1), None, 0.25, "failed", "it broke,\nbadly", seed=4),
]


def test_csv_has_the_promised_columns_and_gives_every_value_back(tmp_path):
    number = write_runs(OBSERVATIONS, tmp_path / "runs.csv")

    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert number == 2
    assert tuple(rows[0]) == COLUMNS
    assert (
        ",".join(COLUMNS)
        == "instance,algorithm,index,attempt,round,seed,value,seconds,status,message,cpu,started,cause"
        ",exit_code,answer,memory"
    )
    assert list(rows[0].values()) == ["i,1", 'a "b"', "0", "1", "2", "3", repr(0.1 + 0.2), "1.5", "ok", *7 * [""]]
    assert list(rows[1].values()) == [
        "i2",
        "é",
        "1",
        "0",
        "0",
        "4",
        "",
        "0.25",
        "failed",
        "it broke,\nbadly",
        *6 * [""],
    ]


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
    if name.endswith("csv"):
        table = pd.read_csv(
            tmp_path / name, dtype={"gap": str}
        )  # older pandas reads the last digits of numbers wrongly
    else:
        table = pd.read_parquet(tmp_path / name)

    assert list(table.columns) == [*COLUMNS, "gap", "measure.value", "measure.Seconds"]
    assert float(table["gap"][0]) == 0.1 + 0.2
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


def test_measures_keep_the_order_in_which_they_first_appear():
    seen = [
        Observation(RunKey("i", "a", k), 1.0, measures=each) for k, each in enumerate([{"b": 1.0}, None, {"a": 2.0}])
    ]

    assert measure_names(seen) == ("b", "a")


@pytest.mark.parametrize("name", COLUMNS)
def test_no_measure_takes_the_place_of_a_column(name):
    assert column(name.upper()) == f"measure.{name.upper()}"


@pytest.mark.parametrize("name", ["runs", "runs.xlsx", "runs.csv.gz"])
def test_a_table_of_another_kind_is_refused(name):
    with pytest.raises(InvalidData, match=r"must be called something\.csv or something\.parquet"):
        writer_for(Path(name))


def test_names_that_would_be_formulas_are_defused_and_read_back_as_they_were(tmp_path):
    names = ["=cmd|' /C calc'!A0", "-inf", "@sum", "plain"]
    runs = [Observation(RunKey(i, a, 0), 1.0 + k) for i in ("+1", "i2") for k, a in enumerate(names)]

    write_runs(runs, tmp_path / "runs.csv")

    written = (tmp_path / "runs.csv").read_text(encoding="utf-8")
    cells = [cell for row in csv.reader(written.splitlines()) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    table = read_table(tmp_path / "runs.csv")
    assert table.runs.algorithms == tuple(names)
    assert table.runs.instances == ("+1", "i2")


def test_what_is_infinite_or_unknown_is_an_empty_cell_of_a_csv(tmp_path):
    failed = Observation(
        RunKey("i", "a", 0), -math.inf, 1.0, status="failed", measures={"gap": -math.inf, "f": math.nan}
    )
    write_runs([failed], tmp_path / "runs.csv", measures=("gap", "f"))
    text = (tmp_path / "runs.csv").read_text()
    assert "inf" not in text
    assert "nan" not in text
