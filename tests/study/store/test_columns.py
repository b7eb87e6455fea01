"""A run's columns have the names of an observation's fields, in every file of every version."""

import sqlite3
from contextlib import closing
from dataclasses import fields, replace

from ampler.core.runs import Observation, RunKey
from ampler.study.store import open_store, read_store
from ampler.study.store.access import MIGRATIONS
from ampler.study.store.rows import (
    ADD_NAMED,
    NAMED,
    RUN,
    insertion,
    observations_of,
    take,
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


def test_a_file_of_an_earlier_version_has_the_defaults_of_later_fields_and_stays_as_it_is(tmp_path):
    path = tmp_path / "study.db"
    stored(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA journal_mode = DELETE; DROP VIEW last_run;")
        for column in ("exit_code", "answer", "memory"):  # what the last version added
            connection.execute(f"ALTER TABLE run DROP COLUMN {column}")
        connection.execute(f"CREATE VIEW last_run AS SELECT * FROM run /* version {len(MIGRATIONS) - 1} */")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) - 1}")
    before = path.read_bytes()
    with read_store(path) as store:
        assert [each.memory for each in store.observations()] == [None, None]
        assert [each.seed for each in store.observations()] == [99, 0]
        assert [row[:3] for row in store.attempts()] == [("i1", "a", 3), ("i1", "a", 3), ("i1", "b", 0)]
    assert path.read_bytes() == before


def test_marks_of_statements_have_no_numbers_as_python_will_not_take_sequences_for_those():
    assert ADD_NAMED.count("?") == len(NAMED)
    assert "?1" not in ADD_NAMED
