"""Every reader of tables, given whatever: an answer, or one sentence; a few examples always, many in the slow suite."""

from __future__ import annotations

import json
import lzma
import math
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ampler.core.errors import AmplerError
from ampler.data.tables import ResultsTable, read_table

FILES = Path(__file__).parents[1] / "data" / "imports" / "files"
FEW, MANY = 15, 400  # examples of each reader

NAMES = (
    "algorithm solver model instance task dataset value score time run fold seed epoch attempt status metric size mean"
)
words = st.sampled_from([*NAMES.split(), "a", "b", "RF_mean", "RF_std", "", "Unnamed: 0", "f1", "7"]) | st.text(
    max_size=8
)
cells = st.one_of(
    st.sampled_from(
        ["1", "2.5", "a", "b", "i1", "i2", "", "nan", "inf", "-inf", "1e999", "True", "3,5", "9" * 400, "'=1"]
    ),
    st.floats(-10, 10).map(str),
    st.text(max_size=6),
)
rows = st.lists(st.lists(cells, min_size=1, max_size=6), min_size=1, max_size=8)
scalars = st.none() | st.booleans() | st.integers(-(10**400), 10**400) | st.floats() | st.text(max_size=6)
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=5), max_leaves=12
)


def as_csv(header, body, mark):
    return "\n".join(mark.join(line) for line in [header, *body]).encode("utf-8", "replace")


tables = st.builds(as_csv, st.lists(words, min_size=1, max_size=6), rows, st.sampled_from(",;\t|"))
wholes = st.builds(
    lambda header, values: as_csv(header, [[str(cell) for cell in line] for line in values], ","),
    st.lists(words, min_size=3, max_size=5, unique=True),
    st.lists(st.lists(st.sampled_from(["a", "b", 1, 2.5, 3]), min_size=3, max_size=5), min_size=2, max_size=12),
)
arff = st.builds(
    lambda attributes, body: (
        ("@relation x\n" + "".join(f"@attribute {each}\n" for each in attributes) + "@data\n").encode(
            "utf-8", "replace"
        )
        + as_csv([], body, ",")
    ),
    st.lists(words | st.just("'a b' numeric") | st.just("algorithm string"), max_size=4),
    rows,
)
times = st.fixed_dictionaries(
    {"command": scalars, "times": st.lists(scalars, max_size=3) | documents}, optional={"parameters": documents}
)
hyperfine = (
    (st.fixed_dictionaries({"results": st.lists(times, max_size=3)}) | documents)
    .map(partial(json.dumps, default=str))
    .map(str.encode)
)
lines = st.lists(st.dictionaries(words, scalars, max_size=5) | documents, max_size=6).map(
    lambda each: "\n".join(map(json.dumps, each)).encode("utf-8", "replace")
)
infos = st.builds(
    lambda parts: "\n".join(parts).encode("utf-8", "replace"),
    st.lists(
        st.sampled_from(["funcId = 1, DIM = 2, algId = 'a'", "%", "d.dat, 1:60|1.2e+00", "d.dat, 1:6|x", "funcId = x"])
        | st.text(max_size=20),
        max_size=6,
    ),
)
xml = st.builds(
    lambda parts: b"<result>" + b"".join(parts) + b"</result>",
    st.lists(
        st.sampled_from(
            [
                b'<run name="x">',
                b"</run>",
                b'<column title="cputime" value="1s"/>',
                b"<run/>",
                b"&a;",
                b"\xff",
                b"<column/>",
            ]
        ),
        max_size=8,
    ),
)


def damaged(content):
    """A file with some of its bytes changed, or cut off."""
    return st.builds(
        lambda places, value, end: bytes(value if k in places else byte for k, byte in enumerate(content[:end])),
        st.sets(st.integers(0, len(content) - 1), max_size=8),
        st.integers(0, 255),
        st.integers(1, len(content)),
    )


def of(name):
    return next(FILES.glob(name)).read_bytes()


PARQUET = "runs.parquet"
KINDS = {
    "a table": ("t.csv", tables),
    "a table of few values": ("t.csv", wholes),
    "an ARFF file": ("t.arff", arff),
    "hyperfine's JSON": ("t.json", hyperfine),
    "a log": ("t.jsonl", lines),
    "any bytes as CSV": ("t.csv", st.binary(max_size=200)),
    "any bytes as JSON": ("t.json", st.binary(max_size=200)),
    "any bytes as Parquet": ("t.parquet", st.binary(max_size=200)),
    "any bytes packed": ("t.csv.gz", st.binary(max_size=200).map(lambda each: b"\x1f\x8b" + each)),
    "XML": ("t.xml", xml),
    "damaged XML of BenchExec": ("t.xml.bz2", damaged(of("benchexec/*quick*"))),
    "a damaged journal of Optuna": ("t.log", damaged(of("optuna.log"))),
    "a damaged database of Optuna": ("t.db", damaged(lzma.decompress(of("optuna.db.xz"))[:40_000])),
    "a damaged file of pytest-benchmark": ("t.json", damaged(of("pytest-benchmark/base.json"))),
    "a damaged file of JMH": ("t.json", damaged(of("jmh/result.json"))),
    "a damaged output of Go": ("t.txt", damaged(of("go/base.txt"))),
    "a damaged log of Inspect": ("t.eval", damaged(of("inspect/*.eval"))),
    "a damaged file of benchopt": ("t.parquet", damaged(of("benchopt/run.parquet"))),
    "a damaged database of MLflow": ("t.db", damaged(lzma.decompress(of("mlflow/mlflow.db.xz"))[:40_000])),
    "damaged samples": ("samples_x.jsonl", damaged(of("lm-eval/dummy1/*.jsonl"))),
    "an .info file": ("folder/a.info", infos),
    "a damaged .info file": ("folder/a.info", damaged(of("coco/rs/bbobexp_f1.info"))),
    "a damaged file of IOH": ("folder/IOHprofiler_f1.json", damaged(of("ioh/RS/*f1*.json"))),
    "documents as a file of IOH": ("folder/IOHprofiler_f1.json", documents.map(json.dumps).map(str.encode)),
}


def answers(source):
    """Read it: an answer, or an error of ours in one line."""
    refused: AmplerError | None = None
    try:
        table = read_table(source)
    except AmplerError as problem:
        refused = problem
    if refused is None:
        assert isinstance(table, ResultsTable)
        assert len(table.runs) > 0
    else:
        assert 0 < len(str(refused).strip()) < 4000


def fuzz(kind, folder, examples):
    name, contents = KINDS[kind]
    path = folder / name
    path.parent.mkdir(exist_ok=True)

    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(contents)
    def read(content):
        path.write_bytes(content)
        answers(path.parent if path.parent != folder else path)

    read()


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_a_file_holds_there_is_an_answer_or_a_sentence(kind, tmp_path):
    fuzz(kind, tmp_path, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_many_files_hold_there_is_an_answer_or_a_sentence(kind, tmp_path):
    fuzz(kind, tmp_path, MANY)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    pytest.importorskip("pyarrow")
    path = tmp_path_factory.mktemp("parquet") / PARQUET
    pd.DataFrame({"algorithm": ["a", "b"] * 4, "instance": [1, 1, 2, 2] * 2, "value": np.arange(8.0)}).to_parquet(path)
    return path.read_bytes()


@pytest.mark.parametrize("examples", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_a_damaged_parquet_file_is_an_answer_or_a_sentence(parquet, tmp_path, examples):
    path = tmp_path / PARQUET

    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(damaged(parquet))
    def read(content):
        path.write_bytes(content)
        answers(path)

    read()


columns = st.one_of(
    st.lists(st.sampled_from(["a", "b", "i1"]), min_size=6, max_size=6),
    st.lists(st.floats() | st.integers(-3, 3), min_size=6, max_size=6),
    st.lists(scalars | st.just([1]) | st.just({"x": 1}) | st.just(1j), min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6),
)


@pytest.mark.parametrize("examples", [2 * FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_whatever_a_data_frame_holds_there_is_an_answer_or_a_sentence(examples):
    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.dictionaries(words, columns, min_size=1, max_size=5))
    def read(content):
        answers(pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in content.items()}))
        answers(
            pd.DataFrame(
                {
                    name: values
                    for name, values in content.items()
                    if not any(isinstance(v, list | dict) for v in values)
                }
            )
        )

    read()


def test_whole_numbers_that_no_double_holds_are_no_values():
    frame = pd.DataFrame({"algorithm": ["a", "b"], "instance": ["i", "i"], "value": [10**400, 1]})
    answers(frame)
    assert math.isinf(float("1e999"))
