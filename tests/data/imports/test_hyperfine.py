"""What hyperfine writes."""

from __future__ import annotations

import json

import pytest

from ampler.core.errors import InvalidData
from ampler.data.tables import read_table

HYPERFINE = {
    "results": [
        {"command": f"{s} {f}", "times": [1.0, 2.0], "exit_codes": [0, 0], "parameters": {"file": f}}
        for s in ("./old", "./new")
        for f in ("x.txt", "y.txt")
    ]
}


def test_hyperfine_commands_are_algorithms_and_their_parameters_instances(write):
    table = read_table(write(json.dumps(HYPERFINE), "times.json"))
    assert table.runs.algorithms == ("./old {file}", "./new {file}")
    assert table.runs.instances == ("x.txt", "y.txt")
    assert len(table.runs) == 8


def test_a_hyperfine_parameter_called_solver_names_the_algorithm(write):
    results = [
        {"command": "c", "times": [1.0], "parameters": {"solver": s, "n": n}}
        for s in ("old", "new")
        for n in ("1", "2")
    ]
    table = read_table(write(json.dumps({"results": results}), "times.json"))
    assert (table.runs.algorithms, table.runs.instances) == (("old", "new"), ("1", "2"))


def test_version_2_of_hyperfine_is_read_with_its_primary_metric_and_exit_codes(write):
    def result(solver, file):
        runs = [{"time_wall_clock": {"value": 9.0}, "time_user": {"value": 2.0}, "exit_code": code} for code in (0, 1)]
        return {"command": f"{solver} {file}", "measurements": runs, "parameters": {"file": {"value": file}}}

    document = {"schema_version": 2, "primary_metric": "time_user"}
    document["results"] = [result(solver, file) for solver in ("old", "new") for file in ("x", "y")]
    runs = read_table(write(json.dumps(document), "times.json")).runs
    assert set(runs.value.tolist()) == {2.0}
    assert runs.status.tolist() == [0, 1] * 4 or sorted(runs.status.tolist()) == [0] * 4 + [1] * 4
    assert runs.algorithms == ("old {file}", "new {file}")


def test_commands_without_parameters_are_compared_on_one_instance(write):
    document = {"results": [{"command": "a", "times": [1.0, 1.5]}, {"command": "b", "times": [2.0, 2.5]}]}
    runs = read_table(write(json.dumps(document), "times.json")).runs
    assert (runs.algorithms, len(runs.instances), runs.value.tolist()) == (("a", "b"), 1, [1.0, 2.0, 1.5, 2.5])


@pytest.mark.parametrize("text", ["{}", "[1, 2]", '{"results": [{"time": 1.0}]}'])
def test_other_json_is_not_called_hyperfines(write, text):
    with pytest.raises(InvalidData, match="unknown format") as caught:
        read_table(write(text, "x.json"))
    assert "hyperfine" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"results": [{"command": "a"}]}',
        '{"results": [{"command": "a", "parameters": {"i": "1"}, "times": [null, {}]}]}',
        '{"results": [{"command": "a", "parameters": {"i": "1"}, "times": [[1]]}]}',
    ],
    ids=["no times", "nothing", "a list"],
)
def test_a_damaged_file_of_hyperfine_is_refused_in_one_sentence(write, text):
    with pytest.raises(InvalidData, match="is not a valid hyperfine --export-json file") as caught:
        read_table(write(text, "x.json"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["no json", "[" * 100_000, '{"results":' + "[" * 50_000 + "]" * 50_000 + "}"])
def test_what_is_no_json_is_refused_in_one_sentence(write, text):
    with pytest.raises(InvalidData, match=r"x\.json is not JSON|x\.json nests too deeply"):
        read_table(write(text, "x.json"))


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_beyond_all_floats_is_a_failed_run(write, digits):
    text = '{"results": [{"command": "a", "parameters": {"i": "1"}, "times": [1.0, %s]}]}' % ("9" * digits)
    assert read_table(write(text, "x.json")).runs.failures() == {("a", "failed"): 1}
