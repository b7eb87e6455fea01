"""What is on disk: text in every encoding, archives, Parquet, and files that are no tables."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ampler.core.errors import InvalidData, MissingDependency
from ampler.data.tables import read_table

LONG = """Algorithm,Instance,Observation
a,i1,1.5
b,i1,2.5
a,i2,3
b,i2,4
"""
EXPECTED = {("i1", "a"): [1.5], ("i1", "b"): [2.5], ("i2", "a"): [3.0], ("i2", "b"): [4.0]}


def test_a_data_frame_a_parquet_file_and_a_compressed_file_give_the_same_runs(write, tmp_path, cells):
    frame = pd.DataFrame({"algorithm": ["a", "b"] * 2, "instance": ["i1", "i1", "i2", "i2"], "value": [1.5, 2.5, 3, 4]})
    frame.to_parquet(tmp_path / "runs.parquet")
    wide = frame.pivot(index="instance", columns="algorithm", values="value")
    assert cells(read_table(frame)) == EXPECTED
    assert cells(read_table(wide)) == EXPECTED
    assert cells(read_table(wide.rename_axis(index=None))) == EXPECTED
    assert cells(read_table(tmp_path / "runs.parquet")) == EXPECTED
    if sys.platform == "linux":  # elsewhere every name of a folder is a text
        (foreign := Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))).mkdir()
        copied = shutil.copy(tmp_path / "runs.parquet", foreign)
        assert cells(read_table(copied)) == EXPECTED
    assert cells(read_table(write(gzip.compress(LONG.encode()), "runs.csv.gz"))) == EXPECTED
    assert cells(read_table(str(write(gzip.compress(LONG.encode()), "runs")))) == EXPECTED


def test_a_wrong_encoding_names_the_line_and_the_option(write):
    text = "algorithm,instance,value\na,i1,1\nGrün,i1,2\n"
    path = write(text, encoding="cp1252")
    with pytest.raises(InvalidData, match=r'line 3 of runs.csv is not UTF-8.*encoding="cp1252"'):
        read_table(path)
    assert read_table(path, encoding="cp1252").runs.algorithms == ("a", "Grün")
    assert read_table(write(text, encoding="utf-16")).runs.algorithms == ("a", "Grün")
    with pytest.raises(InvalidData, match="not a text encoding"):
        read_table(path, encoding="klingon")


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"\x80\x04\x95", b"\x89HDF", b"\x7fELF\0\0"])
def test_files_that_are_no_tables_are_refused(write, start):
    with pytest.raises(InvalidData, match=r"save|unpack"):
        read_table(write(start + bytes(range(1, 200)) + b"\n"))


def test_a_broken_archive_and_a_missing_file_are_refused(write, tmp_path):
    whole = gzip.compress(LONG.encode() * 100)
    with pytest.raises(InvalidData, match="cannot be read"):
        read_table(write(whole[:-12], "x.csv.gz"))
    with pytest.raises(InvalidData, match="cannot be read"):
        read_table(write(whole[:30] + bytes(20) + whole[50:], "y.csv.gz"))
    with pytest.raises(InvalidData, match="does not exist"):
        read_table(tmp_path / "nothing.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidData, match="is a folder"):
        read_table(tmp_path / "empty")
    with pytest.raises(InvalidData, match="as Parquet"):
        read_table(write(b"PAR1 not really", "x.parquet"))


def test_a_small_file_that_unpacks_to_two_gigabytes_is_refused_without_filling_the_memory(tmp_path):
    import tracemalloc

    path = tmp_path / "bomb.csv.gz"
    header, block = b"algorithm,instance,value\n", gzip.compress(b"a,i1,0.000000\n" * 2**22)
    path.write_bytes(gzip.compress(header) + block * (2**31 // (14 * 2**22) + 1))
    tracemalloc.start()
    with pytest.raises(InvalidData, match="unpacks to more than 512 MB"):
        read_table(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size < 5e6
    assert peak < 32 * 2**20


def test_a_line_without_end_is_refused(write):
    with pytest.raises(InvalidData, match="line of over a megabyte"):
        read_table(write(gzip.compress(b"x" * 2**22), "x.csv.gz"))


def test_a_parquet_file_too_large_for_the_memory_is_refused_by_its_footer(tmp_path):
    pd.DataFrame({"algorithm": "a", "instance": "i", "value": np.zeros(10_000)}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(InvalidData, match="unpacks to more than"):
        read_table(tmp_path / "x.parquet", limit=50_000)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    pd.DataFrame({"algorithm": ["a"], "instance": ["i"], "value": [1.0]}).to_parquet(path)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match=r"ampler\[parquet\]"):
        read_table(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation x\n@attribute\n@data\n1\n", "line 2 of x.arff must name an attribute"),
        ("@relation x\n@attribute a numeric\n@attribute a numeric\n@data\n1,2\n", "more than one column called 'a'"),
        ("@relation x\n@attribute 'a numeric\n@data\n'" + "x" * 200_000 + "\n", "is not a table of results"),
        ("@relation x\n@data\n1,2\n", "must hold 0 cells"),
    ],
    ids=["no name", "one name twice", "an endless cell", "no attributes"],
)
def test_junk_in_an_arff_file_is_refused_with_its_line(write, text, message):
    with pytest.raises(InvalidData, match=message):
        read_table(write(text, "x.arff"))


def test_a_cell_that_never_ends_is_refused_and_no_error_shows_it_whole(write):
    with pytest.raises(InvalidData, match="is not a table of results"):
        read_table(write('algorithm,instance,value\n"' + "x" * 200_000 + '",i,1\n'))
    with pytest.raises(InvalidData, match="must hold a number") as caught:
        read_table(write("algorithm,instance,value\na,i,1\na,i,1\nb,i," + "9x" * 50_000 + "\n"))
    assert len(str(caught.value)) < 300


def test_a_parquet_bomb_is_refused_with_its_size(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rows = 3_000_000
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"value": pa.array(np.zeros(rows))}), path, compression="zstd")
    assert path.stat().st_size < 100_000
    with pytest.raises(InvalidData, match=r"unpacks to more than 10 MB, .*24 MB \(3,000,000 rows of 1 column\)"):
        read_table(path, limit=10_000_000)


@pytest.mark.parametrize("how", ["dictionary", "prefix", "list"])
def test_a_parquet_file_whose_texts_repeat_is_refused_before_they_fill_the_memory(tmp_path, how):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path, rows, text = tmp_path / "bomb.parquet", 400, "x" * 10**6
    column = {
        "dictionary": pa.DictionaryArray.from_arrays(pa.array([0] * rows), pa.array([text])),
        "prefix": pa.array([f"{text}{row}" for row in range(rows)]),
        "list": pa.array([[text] * rows]),
    }[how]
    encoding = {"use_dictionary": False, "column_encoding": {"algorithm": "DELTA_BYTE_ARRAY"}}
    pq.write_table(
        pa.table({"algorithm": column}),
        path,
        store_schema=False,
        compression="zstd",
        **(encoding if how == "prefix" else {}),
    )
    assert path.stat().st_size < 1000
    with pytest.raises(InvalidData, match="unpacks to more than 50 MB"):
        read_table(path, limit=50_000_000)


def test_a_parquet_file_with_stale_metadata_of_pandas_is_read_by_its_columns(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    frame = pd.DataFrame({"algorithm": ["a", "b"], "instance": ["i", "i"], "value": [1.0, 2.0]})
    table = pa.Table.from_pandas(frame)
    note = json.loads(table.schema.metadata[b"pandas"])
    note["columns"] = [each | {"numpy_type": "nonsense", "pandas_type": "categorical"} for each in note["columns"]]
    for stale in (note, note | {"index_columns": ["gone"]}, note | {"column_indexes": 7}, {}):
        pq.write_table(table.replace_schema_metadata({b"pandas": json.dumps(stale).encode()}), tmp_path / "x.parquet")

        assert read_table(tmp_path / "x.parquet").runs.value.tolist() == [1.0, 2.0]


def test_many_columns_are_read_as_they_are(write):
    names = [f"a{k}" for k in range(1500)]
    body = "\n".join(",".join([f"i{i}", *(str((7 * k + i) % 97 / 10) for k in range(1500))]) for i in range(3))
    table = read_table(write(f"instance,{','.join(names)}\n{body}\n"))
    assert table.runs.algorithms == tuple(names)
