"""Is a file built as ours are? Its tables are held against those that its version must have.

A stranger can put a view without an end in the place of a table, columns that are computed, and triggers that write
where we write. None of them is ever asked for anything.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ampler.study.store.damage import damaged
from ampler.study.store.schema import MIGRATIONS

OURS = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
COMPUTED = -2  # the number of a column of an index that is an expression


@dataclass(frozen=True, slots=True)
class Structure:
    """How a file is built: the kind of each thing in it, the columns of its tables, the text of its triggers."""

    kinds: dict[str, str]
    columns: dict[str, list[Any]]
    triggers: dict[str, str]


def check_to_read(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Raise StoreUnusable unless what a reader asks are tables with columns of this version; one may be missing."""
    wanted, found = _wanted(version), _found(connection)
    for name, columns in wanted.columns.items():
        if found.kinds.get(name) != "table":
            raise damaged(path, f"{name} must be a table, got: {found.kinds.get(name, 'nothing of that name')}")
        if not set(found.columns[name]) <= set(columns):
            raise damaged(path, f"the columns of {name} are not those of a study file of version {version}")


def check_to_write(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Raise StoreUnusable unless all is as in a new file of this version, and nothing else acts when we write."""
    check_to_read(connection, path, version)
    wanted, found = _wanted(version), _found(connection)
    wrong = [name for name, columns in wanted.columns.items() if found.columns[name] != columns]
    wrong += [name for name, kind in wanted.kinds.items() if found.kinds.get(name) != kind]
    if wrong:
        raise damaged(path, f"{wrong[0]} is not as in a study file of version {version}")
    strangers = {name for name, text in found.triggers.items() if wanted.triggers.get(name) != text}
    if strangers:
        raise damaged(path, f"it has a trigger that ampler did not write, {min(strangers)!r}")
    _check_indexes(connection, path)


def _check_indexes(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreUnusable when writing would compute what somebody put into an index."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
    for (name,) in connection.execute(query).fetchall():
        columns = connection.execute("SELECT cid FROM pragma_index_xinfo(?)", (name,)).fetchall()
        partial = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0]
        if (COMPUTED,) in columns or " where " in partial.lower():
            raise damaged(path, f"it has an index that computes, {name!r}, which ampler did not write")


def column_names(table: str, version: int = len(MIGRATIONS)) -> tuple[str, ...]:
    """Return the names of a table's columns, in the order in which a row has them."""
    return tuple(name for name, *more in _wanted(version).columns[table] if len(more) > 1)


@cache
def _wanted(version: int) -> Structure:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript("".join(step.sql for step in MIGRATIONS[:version]))
        return _found(connection)


def _found(connection: sqlite3.Connection) -> Structure:
    rows = connection.execute(OURS).fetchall()
    real = dict(connection.execute("SELECT name, type FROM pragma_table_list WHERE schema = 'main'"))
    kinds = {name: real.get(name, kind) for kind, name, _ in rows}
    return Structure(
        kinds,
        {name: _columns(connection, name) for name, kind in kinds.items() if kind == "table"},
        {name: " ".join(text.split()) for kind, name, text in rows if kind == "trigger"},
    )


def _columns(connection: sqlite3.Connection, table: str) -> list[Any]:
    """Name, type, whether it may be missing, place in the key and whether it is computed; and how rows are kept."""
    columns = connection.execute('SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?)', (table,))
    kept = connection.execute("SELECT wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ?", (table,))
    return [*columns.fetchall(), *kept.fetchall()]
