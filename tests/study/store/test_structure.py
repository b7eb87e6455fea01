"""Files that are not built as ours are."""

import sqlite3
from contextlib import closing

import pytest

from ampler.core.errors import StoreUnusable
from ampler.study.store import open_store, read_store
from ampler.study.store.schema import MIGRATIONS
from ampler.study.store.structure import check_to_read, check_to_write, column_names


def edited(path, *statements):
    open_store(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_file_of_ours_passes(study):
    open_store(study).close()
    with closing(sqlite3.connect(study)) as connection:
        check_to_read(connection, study, len(MIGRATIONS))
        check_to_write(connection, study, len(MIGRATIONS))


@pytest.mark.parametrize("extra", ["CREATE VIEW mine AS SELECT * FROM run", "CREATE INDEX mine ON session (started)"])
def test_what_a_user_adds_to_look_at_the_runs_does_no_harm(study, extra):
    edited(study, extra)
    read_store(study).close()
    open_store(study).close()


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("CREATE TRIGGER mine AFTER INSERT ON run BEGIN DELETE FROM session; END", "trigger .*'mine'"),
        ("DROP VIEW last_run", "last_run"),
        ("DROP TRIGGER run_is_not_changed", "run_is_not_changed"),
        ("CREATE INDEX mine ON session (length(started))", "index .*'mine'"),
    ],
)
def test_what_would_act_when_we_write_is_refused_to_the_writer_alone(study, statement, told):
    edited(study, statement)
    read_store(study).close()
    with pytest.raises(StoreUnusable, match=told):
        open_store(study)


def test_a_view_or_other_columns_in_the_place_of_a_table_are_refused_to_everybody(study):
    edited(study, "DROP TABLE plan", "CREATE VIEW plan AS SELECT 1 AS id, '' AS created, '{}' AS record")
    for opening in (read_store, open_store):
        with pytest.raises(StoreUnusable, match="plan must be a table, got: view"):
            opening(study)


def test_columns_are_named_in_the_order_of_a_row():
    assert column_names("session") == ("id", "plan", "started", "environment")
    assert column_names("run", version=1) == column_names("run")[: len(column_names("run", version=1))]
