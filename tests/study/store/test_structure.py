"""Files whose tables are not those of a study file."""

import sqlite3
from contextlib import closing

import pytest

from ampler.core.errors import StoreUnusable
from ampler.study.store import open_store, read_store


def edited(path, *statements):
    open_store(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("extra", ["CREATE VIEW mine AS SELECT * FROM run", "CREATE INDEX mine ON session (started)"])
def test_what_a_user_adds_to_look_at_the_runs_does_no_harm(study, extra):
    edited(study, extra)
    read_store(study).close()
    open_store(study).close()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("CREATE VIEW plan AS SELECT 1 AS id, '' AS created, '{}' AS record", "view"),
        ("CREATE TABLE plan (id, created, record)", "columns of any type"),
        ("SELECT 1", "nothing of that name"),
    ],
)
def test_something_else_in_the_place_of_a_table_is_refused(study, statement, found):
    edited(study, "DROP TABLE plan", statement)
    for opening in (read_store, open_store):
        with pytest.raises(StoreUnusable, match=f"plan must be a table, got: {found}"):
            opening(study)
