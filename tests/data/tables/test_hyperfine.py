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


def test_hyperfine_without_parameters_has_one_instance_only_and_says_what_to_do(write):
    document = {"results": [{"command": "a", "times": [1.0]}, {"command": "b", "times": [2.0]}]}
    with pytest.raises(InvalidData, match="-L instance"):
        read_table(write(json.dumps(document), "times.json"))


@pytest.mark.parametrize("text", ["{}", "[1, 2]", "no json", '{"results": [{"command": "a"}]}'])
def test_other_json_is_refused(write, text):
    with pytest.raises(InvalidData, match="hyperfine --export-json"):
        read_table(write(text, "x.json"))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"results":' + "[" * 50_000 + "]" * 50_000 + "}",
        '{"results": [{"command": "a", "parameters": {"i": "1"}, "times": [' + "9" * 400 + "]}]}",
        '{"results": [{"command": "a", "parameters": {"i": "1"}, "times": [' + "9" * 5000 + "]}]}",
        '{"results": [{"command": "a", "parameters": {"i": "1"}, "times": [null, {}]}]}',
        '{"results": [{"command": "a", "parameters": {"i": "1"}, "times": [[1]]}]}',
    ],
    ids=["deep", "deep inside", "huge number", "number of 5000 digits", "nothing", "a list"],
)
def test_json_that_is_not_hyperfines_is_refused_in_one_sentence(write, text):
    with pytest.raises(InvalidData, match="must be what hyperfine --export-json writes"):
        read_table(write(text, "x.json"))
