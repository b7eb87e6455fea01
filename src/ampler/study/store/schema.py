"""The versions of the tables of a results file, in `migrations`, and how files are brought up to date.

A comment inside a CREATE statement is kept in the file: `sqlite3 study.db .schema` explains the study to a stranger.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from importlib.resources import files

from ampler.core.errors import StoreUnusable

APPLICATION_ID = 0x616D7072  # "ampr": tells a results file from any other SQLite file
OLDEST_SQLITE = (3, 37, 0)  # STRICT tables

MIGRATIONS = tuple(
    file.read_text(encoding="utf-8")
    for file in sorted((files("ampler.study.store") / "migrations").iterdir(), key=lambda file: file.name)
)  # the steps from one version to the next; user_version counts the steps taken
TABLES = [re.findall(r"CREATE TABLE (\w+)", step) for step in MIGRATIONS]  # that each step adds


def check_sqlite(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """Raise StoreUnusable when this Python's SQLite is too old."""
    if version < OLDEST_SQLITE:
        least, present = (".".join(map(str, numbers)) for numbers in (OLDEST_SQLITE[:2], version))
        raise StoreUnusable(f"study files need SQLite {least} or newer, this Python has {present}; use a newer Python")


def check_version(connection: sqlite3.Connection, name: str, migrations: Sequence[str] = MIGRATIONS) -> int:
    """Return how many migrations the file has seen; StoreUnusable when it is foreign or of a later version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    empty = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    if empty and not application and not version:
        return 0
    if application != APPLICATION_ID:
        raise StoreUnusable(f"{name} is an SQLite file of another program, not a study file; choose another name")
    if version < 0:
        raise StoreUnusable(f"{name} has the impossible file version {version}; take it from a backup")
    if version > len(migrations):
        raise StoreUnusable(
            f"{name} was written by a newer ampler (file version {version}, this ampler knows {len(migrations)});"
            " upgrade ampler to open it"
        )
    return int(version)


def check_tables(connection: sqlite3.Connection, version: int) -> str | None:
    """Return what is wrong if something else than a strict table has the name of a table of this version."""
    query = "SELECT name, type, strict FROM pragma_table_list WHERE schema = 'main'"
    kinds = connection.execute(query)
    present = {name: kind if kind != "table" or strict else "columns of any type" for name, kind, strict in kinds}
    for name in (name for names in TABLES[:version] for name in names):
        if present.get(name) != "table":
            return f"{name} must be a table, got: {present.get(name, 'nothing of that name')}"
    return None


def migrate(connection: sqlite3.Connection, name: str, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring a file up to date, all steps or none."""
    version = check_version(connection, name, migrations)
    if version == len(migrations):
        return
    steps = "".join(migrations[version:])
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE; {steps} PRAGMA application_id = {APPLICATION_ID};"
            f" PRAGMA user_version = {len(migrations)}; COMMIT;"
        )
    except sqlite3.Error as problem:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if problem.sqlite_errorcode != sqlite3.SQLITE_ERROR:  # of the disk, or of the file as a whole
            raise
        raise StoreUnusable(f"{name} is not of the file version {version} that it has; take it from a backup") from None
