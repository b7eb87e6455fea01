"""The tables of a study file explain themselves, and are brought up to date once."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from ampler.core.errors import StoreUnusable
from ampler.core.runs import Observation, RunKey
from ampler.study.store.access import MIGRATIONS, check_sqlite, migrate


def test_an_old_sqlite_is_named_with_the_version_that_is_needed():
    check_sqlite((3, 37, 0))
    with pytest.raises(StoreUnusable, match=r"SQLite 3\.37 or newer, this Python has 3\.31\.1"):
        check_sqlite((3, 31, 1))


def test_every_table_explains_itself_and_is_strict(study, filled):
    filled(study, 1)
    with closing(sqlite3.connect(study)) as connection:
        tables = connection.execute(
            "SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view')"
        ).fetchall()
        strict = dict(connection.execute("SELECT name, strict FROM pragma_table_list WHERE type = 'table'").fetchall())
    assert {name for name, *_ in tables} >= {"study", "algorithm", "instance", "plan", "session", "run", "finished"}
    for name, kind, sql in tables:
        assert "    -- " in sql, f"{name} has no comment"
        assert kind == "view" or strict[name] == 1, name


def test_a_recorded_run_cannot_be_changed_or_removed_by_any_program(study, filled):
    filled(study, 1)
    with closing(sqlite3.connect(study)) as connection:
        for statement in ("UPDATE run SET value = 0", "DELETE FROM run"):
            with pytest.raises(sqlite3.IntegrityError, match="a run is never"):
                connection.execute(statement)


def test_the_view_of_the_runs_that_count_names_them(study, begun):
    with begun(study) as store:
        store.add([Observation(RunKey("i1", "a", 0), None, status="failed"), Observation(RunKey("i2", "b", 3), 4.0)])
        store.add([Observation(RunKey("i1", "a", 0), 2.5, attempt=1)])
    with closing(sqlite3.connect(study)) as connection:
        rows = connection.execute(
            'SELECT instance, algorithm, "index", attempt, value, status FROM last_run'
        ).fetchall()
    assert sorted(rows) == [("i1", "a", 0, 1, 2.5, "ok"), ("i2", "b", 3, 0, 4.0, "ok")]


def test_migrations_run_once_in_their_order_and_all_or_none(study, filled):
    filled(study, 2)
    more = (*MIGRATIONS, "CREATE TABLE note (text TEXT) STRICT;")
    broken = (*more, "INSERT INTO note VALUES ('half'); CREATE TABLE run (x);")
    with closing(sqlite3.connect(study, isolation_level=None)) as connection:
        with pytest.raises(StoreUnusable, match="not of the file version"):
            migrate(connection, "study.db", broken)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        for _ in range(2):
            migrate(connection, "study.db", more)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(more),)
        assert connection.execute("SELECT count(*) FROM note").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM run").fetchone() == (2,)


@pytest.mark.parametrize("version", [-1, 3])
def test_a_file_whose_version_is_not_its_own_is_one_sentence(study, filled, version):
    filled(study, 2)
    with closing(sqlite3.connect(study)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
        with pytest.raises(StoreUnusable, match=r"file version .*; take it from a backup"):
            migrate(connection, study.name)
