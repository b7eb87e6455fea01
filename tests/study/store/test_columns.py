"""A run's columns have the names of an observation's fields, in every file of every version."""

import sqlite3
from contextlib import closing
from dataclasses import fields, replace

from ampler.core.runs import Observation, RunKey
from ampler.study.store import open_store, read_store
from ampler.study.store.rows import (
    ADD_NAMED,
    NAMED,
    RUN,
    every_attempt,
    insertion,
    last_attempts,
    named_attempts,
    observations_of,
    take,
    with_session,
)
from ampler.testing import contract_plan

KEY = RunKey("i1", "a", 3)
SEEN = Observation(KEY, 2.5, 0.25, "ok", "", 99, 1, 4, {"gap": 0.5})


def test_the_columns_are_the_fields_of_an_observation():
    assert ("instance", "algorithm", "index", *(each.name for each in fields(Observation) if each.name != "key")) == RUN
    assert (*RUN, "session") == NAMED


NAMES = ({7: "i1"}, {8: "a"})


def row_of(run):
    statement, rows = insertion([run], [7], [8], 9)
    columns = statement.split("(")[1].split(")")[0].replace('"', "").split(", ")
    row = dict(zip(columns, next(rows), strict=True))
    return tuple(row.get(name) for name in NAMED)


def test_a_row_is_the_observation_again():
    for run in (SEEN, replace(SEEN, measures=None), replace(SEEN, value=None, status="failed", message="no")):
        row = row_of(run)
        assert (row[0], row[-1]) == (7, 9)
        assert list(observations_of([row[:-1]], *NAMES)) == [run]


def test_columns_are_taken_out_by_name():
    row = row_of(SEEN)

    assert take("status", "value", "session")(row) == ("ok", 2.5, 9)
    assert take("session")(with_session(row, 11)) == 11
    assert with_session(row, 11)[:-1] == row[:-1]


def stored(path):
    with open_store(path) as store:
        store.begin(contract_plan(), {})
        store.add([replace(SEEN, attempt=0), SEEN, Observation(RunKey("i1", "b", 0), 1.0)])


def test_the_table_has_a_column_for_every_field(tmp_path):
    stored(tmp_path / "study.db")
    with closing(sqlite3.connect(tmp_path / "study.db")) as connection:
        names = {name for _, name, *_ in connection.execute("PRAGMA table_info(run)")}
        view = {name for _, name, *_ in connection.execute("PRAGMA table_info(last_run)")}

    assert names == view == set(NAMED)


def test_a_file_that_lacks_a_column_has_what_the_field_is_without_being_said(tmp_path):
    stored(tmp_path / "study.db")
    present = set(NAMED) - {"round", "measures", "message"}
    with closing(sqlite3.connect(tmp_path / "study.db")) as connection:
        names = [
            dict(connection.execute(f"SELECT id, name FROM {table}").fetchall()) for table in ("instance", "algorithm")
        ]
        every = list(observations_of(connection.execute(every_attempt(present)).fetchall(), *names))
        last = list(observations_of(connection.execute(last_attempts(present)).fetchall(), *names))
        named = connection.execute(named_attempts(present)).fetchall()

    assert [(each.attempt, each.round, each.measures, each.message) for each in every] == [
        (0, 0, None, ""),
        (1, 0, None, ""),
        (0, 0, None, ""),
    ]
    assert [(each.attempt, each.value) for each in last] == [(1, 2.5), (0, 1.0)]
    assert [row[:3] for row in named] == [("i1", "a", 3), ("i1", "a", 3), ("i1", "b", 0)]


def test_a_study_file_without_a_later_column_can_be_read(tmp_path):
    """As it would be if the field had come later: the file is only read, nothing is added to it."""
    stored(tmp_path / "study.db")
    with closing(sqlite3.connect(tmp_path / "study.db")) as connection:
        connection.executescript("DROP VIEW last_run; ALTER TABLE run DROP COLUMN measures;")
    with read_store(tmp_path / "study.db") as store:
        assert [each.measures for each in store.observations()] == [None, None]
        assert [each.seed for each in store.observations()] == [99, 0]


def test_marks_of_statements_have_no_numbers_as_python_will_not_take_sequences_for_those():
    assert ADD_NAMED.count("?") == len(NAMED)
    assert "?1" not in ADD_NAMED
