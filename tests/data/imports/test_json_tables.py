from __future__ import annotations

import json

import pandas as pd
import pytest

from ampler.core.errors import InvalidData
from ampler.data.imports.json_tables import table_in
from ampler.data.imports.reader import parse_json
from ampler.data.tables import read_table

FRAME = pd.DataFrame(
    [{"solver": s, "problem": f"p{n}", "result": n + 0.5 * (s == "b")} for n in range(1, 5) for s in "ab"]
)
WRITTEN = {
    "records": FRAME.to_json(orient="records"),
    "split": FRAME.to_json(orient="split"),
    "columns": FRAME.to_json(orient="columns"),
    "table": FRAME.to_json(orient="table"),
    "lists": json.dumps(FRAME.to_dict("list")),
    "inside": json.dumps({"version": 2, "runs": FRAME.to_dict("records")}),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_table_is_read_however_it_is_written(tmp_path, kind):
    (tmp_path / "runs.json").write_text(WRITTEN[kind], encoding="utf-8")
    runs = read_table(tmp_path / "runs.json").runs

    assert (runs.algorithms, len(runs.instances), len(runs)) == (("a", "b"), 4, 8)
    assert sorted(runs.value) == sorted(FRAME["result"])


@pytest.mark.parametrize(
    "text",
    ["1", "[]", "{}", "[1, 2]", '[{"a": [1]}]', '{"a": 1, "b": 2}', '{"a": [1], "b": [1, 2]}'],
)
def test_what_is_no_table_is_told(tmp_path, text):
    (tmp_path / "runs.json").write_text(text, encoding="utf-8")

    assert table_in(parse_json(text, "runs.json")) is None
    with pytest.raises(InvalidData, match="table of records"):
        read_table(tmp_path / "runs.json")


def test_a_number_that_no_column_can_hold_is_the_nearest_that_one_can():
    found = table_in(parse_json('[{"a": 12345678901234567890123, "b": 1}, {"a": 1, "b": 2}]', "runs.json"))

    assert found is not None
    assert found["a"].tolist() == [12345678901234567890123.0, 1.0]


def test_cells_by_algorithm_and_instance_are_a_wide_table(tmp_path):
    (tmp_path / "runs.json").write_text(
        '{"tabu": {"x": 1.5, "y": 2.5}, "ants": {"x": 3.5, "y": 4.5}}', encoding="utf-8"
    )
    runs = read_table(tmp_path / "runs.json").runs

    assert (runs.algorithms, runs.instances) == (("tabu", "ants"), ("x", "y"))


@pytest.mark.parametrize(("text", "message"), [("{", "runs.json is not JSON"), ("[" * 9999, "nests too deeply|is not")])
def test_damaged_json_is_refused_in_one_sentence(tmp_path, text, message):
    (tmp_path / "runs.json").write_text(text, encoding="utf-8")

    with pytest.raises(InvalidData, match=message) as caught:
        read_table(tmp_path / "runs.json")
    assert "\n" not in str(caught.value)
