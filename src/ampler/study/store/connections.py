"""Connections to a study file: made sure of before they are used, and SQLite's errors in our words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ampler.core.errors import StoreBusy, StoreError, StoreUnusable
from ampler.study.store.damage import damaged
from ampler.study.store.filesystem import on_network
from ampler.study.store.patience import Patience, size_of
from ampler.study.store.schema import check_version, migrate
from ampler.study.store.structure import check_to_read, check_to_write
from ampler.study.store.tidying import TidyReader, nobody_writes, nothing_pending

# What a stranger wrote into the schema calls no functions, and cells that reach beyond their page are noticed.
DISTRUST = ("PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON", "PRAGMA mmap_size = 0")
READ_ONLY = "PRAGMA query_only = ON"
SHORTEST = 1_000_000  # bytes that a text may have in any file
NO_PLACE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL)
WAIT = 10.0  # seconds a writer waits for readers, or a reader for a checkpoint


def connection_to_write(path: Path) -> sqlite3.Connection:
    """Connect to a study file, new or old, after making sure that it is one and whole; for who holds its lock."""
    connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
    try:
        _distrust(connection)
        Patience(connection, path)
        network = on_network(path)
        if network:  # no shared memory there, so no readers beside the writer
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        version = check_version(connection, path.name)  # before anything is written into a foreign file
        if version:
            check_to_write(connection, path, version)
        connection.execute(f"PRAGMA journal_mode = {'DELETE' if network else 'WAL'}")  # WAL: readers never block
        connection.execute("PRAGMA synchronous = FULL")
        migrate(connection, path.name)
        Patience(connection, path)
        problems = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if problems != "ok":
            raise damaged(path, problems.splitlines()[-1])
        connection.set_progress_handler(None, 0)  # the file is sound, and what is written now is ours
    except BaseException:
        connection.close()
        raise
    return connection


def connection_to_read(path: Path) -> sqlite3.Connection:
    """Connect to a study file that is there, to read it only; nothing is left beside it when it is closed."""
    if nobody_writes(path):
        return _checked_reader(path, "mode=ro&immutable=1")
    try:
        return _checked_reader(path, "mode=ro")
    except sqlite3.OperationalError as problem:
        # A folder that cannot be written, or is full, has no place for WAL's shared memory; a file nobody can change
        # needs none.
        wal = path.with_name(path.name + "-wal")
        barred = _kind(problem) in NO_PLACE
        if not barred or (wal.exists() and wal.stat().st_size > 0):
            raise
        return _checked_reader(path, "mode=ro&immutable=1")


def _checked_reader(path: Path, mode: str) -> sqlite3.Connection:
    where = f"file:{quote(str(path))}?{mode}"
    tidy = path if nothing_pending(path) else None
    options: dict[str, Any] = {"uri": True, "timeout": WAIT, "isolation_level": None, "check_same_thread": False}
    connection = sqlite3.connect(where, factory=TidyReader, **options)
    connection.tidy = tidy
    try:
        _distrust(connection)
        connection.execute(READ_ONLY)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(SHORTEST, size_of(path)))  # no text outgrows its file
        Patience(connection, path)
        version = check_version(connection, path.name)
        if version == 0:
            raise StoreUnusable(f"{path.name} has no study in it yet; `ampler run` begins it")
        check_to_read(connection, path, version)
    except BaseException:
        connection.close()
        raise
    return connection


def _distrust(connection: sqlite3.Connection) -> None:
    for setting in DISTRUST:
        connection.execute(setting)


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Say what SQLite's errors mean for the study."""
    try:
        yield
    except sqlite3.Error as problem:
        raise _sentence(path, problem) from problem
    except UnicodeDecodeError as problem:  # in what SQLite says, or in a text
        raise damaged(path, f"it holds what is no text: {problem.reason}") from None


def _sentence(path: Path, problem: sqlite3.Error) -> StoreError:
    kept = "what was recorded is kept"
    match _kind(problem):
        case sqlite3.SQLITE_NOTADB:
            return StoreUnusable(
                f"{path.name} is no SQLite file, so no study file; choose another name, or, if it was one, save what"
                f" can be read: ampler rescue {path.name} -o rescued.db"
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_TOOBIG | sqlite3.SQLITE_MISMATCH:
            return damaged(path, problem)
        case sqlite3.SQLITE_INTERRUPT:
            return damaged(path, "reading it does not come to an end")
        case sqlite3.SQLITE_FULL:
            return StoreUnusable(f"{path.name} cannot be written: the disk is full; {kept}, free space and run again")
        case sqlite3.SQLITE_IOERR:
            return StoreUnusable(f"{path.name} cannot be read or written ({problem}): disk or quota full?; {kept}")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StoreUnusable(f"{path} cannot be opened ({problem}); check its rights and those of its folder")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"{path.name} is in use by another program; try again when it is done")
        case _ if "decode" in str(problem):  # a text that is not UTF-8
            return damaged(path, problem)
        case _:
            return StoreUnusable(f"{path.name} cannot be used as asked: {problem}")


def _kind(problem: sqlite3.Error) -> int:
    """The kind of an error; the higher bits of SQLite's codes are detail."""
    return int(getattr(problem, "sqlite_errorcode", 0)) & 0xFF
