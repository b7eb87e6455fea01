from __future__ import annotations

import pytest

import ampler as am
from ampler.core.errors import InvalidData
from ampler.data.tables.column_roles import ColumnRoles, column_roles
from ampler.data.tables.columns import Columns


@pytest.fixture
def written(tmp_path):
    def write(text: str, name: str = "runs.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


LONG = """solver,problem,seed,score,time,size
a,p1,1,3.5,0.1,10
b,p1,1,4.5,0.2,10
a,p2,1,5.5,0.1,20
b,p2,1,6.5,0.1,20
"""


def test_a_long_table_has_its_roles(written):
    found = column_roles(written(LONG.replace("time", "status").replace("0.1", "ok").replace("0.2", "ok")), Columns())

    roles = dict(zip(found.columns, found.roles, strict=True))
    assert roles == {
        "solver": "algorithm",
        "problem": "instance",
        "seed": "run",
        "score": "value",
        "status": "ending",
        "size": "group",
    }
    assert found.having("value") == ("score",)
    assert found.rows[0] == ("a", "p1", "1", "3.5", "ok", "10")
    assert found.total == 4


def test_a_wide_table_has_its_algorithms_side_by_side(written):
    found = column_roles(written("dataset,old,new\nd1,1.5,2.5\nd2,2.5,3.5\n"), Columns())

    assert found.roles == ("instance", "compared", "compared")


def test_what_could_be_two_things_is_told_and_what_was_said_is_kept(written):
    path = written(LONG)

    found = column_roles(path, Columns())
    assert "could each be the value" in found.problem
    said = column_roles(path, Columns(value="score", ignore=("time",)))
    assert said.problem == ""
    assert dict(zip(said.columns, said.roles, strict=True))["time"] == "ignored"
    wrong = column_roles(path, Columns(value="nothing", ignore=("size",)))
    assert wrong.having("ignored") == ("size",)
    assert isinstance(wrong, ColumnRoles)


def test_results_list_every_column_and_how_it_was_understood(written):
    results = am.read_results(written(LONG.replace("time", "note").replace("0.1", "x").replace("0.2", "y")))

    assert (
        "Columns: solver (algorithm), problem (instance), seed (numbers runs), score (value), note (not used),"
        " size (describes instances)."
    ) in results.lines()
    assert results.roles["score"] == "value"


def test_what_is_no_table_is_refused(written):
    with pytest.raises(InvalidData):
        column_roles(written("\0\1\2"), Columns())


def test_long_cells_are_cut(written):
    found = column_roles(written(f"solver,problem,score\na,{'p' * 500},1.5\nb,q,2.5\n"), Columns())

    assert len(found.rows[0][1]) < 100


def test_a_column_that_describes_instances_is_taken_for_nothing_else(written):
    table = written(LONG.replace("score", "status").replace("time", "score"))

    assert "ending" in column_roles(table, Columns()).roles
    found = column_roles(table, Columns(describing=("status", "solver")))
    assert "no column names the algorithm" in found.problem
    found = column_roles(table, Columns(describing=("status",)))
    assert found.roles == ("algorithm", "instance", "run", "group", "value", "group")
