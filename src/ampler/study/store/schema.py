"""The tables of a study file, and how files of earlier versions are brought up to date.

A comment inside a CREATE statement is kept in the file: `sqlite3 study.db .schema` explains the study to a stranger.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from ampler.core.errors import StoreUnusable

APPLICATION_ID = 0x616D7072  # "ampr": tells a study file from any other SQLite file
OLDEST_SQLITE = (3, 37, 0)  # STRICT tables

FIRST = """
CREATE TABLE study (
    -- One row: the seed that the seed of every run is derived from.
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seed INTEGER NOT NULL,
    created TEXT NOT NULL  -- ISO 8601, UTC, as all dates here
) STRICT;

CREATE TABLE algorithm (
    -- Every algorithm that a plan had, in the order of appearance.
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL  -- JSON: what its values hang on (command or function, parameters, value pattern)
) STRICT;

CREATE TABLE instance (
    -- Every instance that a plan used, in the order of appearance.
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL  -- of the file's content; empty when the instance is no file
) STRICT;

CREATE TABLE plan (
    -- Every plan the study had; the last one is in force.
    id INTEGER PRIMARY KEY,
    created TEXT NOT NULL,
    record TEXT NOT NULL  -- JSON: question, rule, limits, policy, algorithms and instances in their order
) STRICT;

CREATE TABLE session (
    -- Every carrying-out of the study: when, under which plan, in which environment.
    id INTEGER PRIMARY KEY,
    plan INTEGER NOT NULL REFERENCES plan,
    started TEXT NOT NULL,
    environment TEXT NOT NULL  -- JSON
) STRICT;

CREATE TABLE run (
    -- One row per attempt at a run, never changed or removed. The last attempt counts: see the view last_run.
    instance INTEGER NOT NULL REFERENCES instance,
    algorithm INTEGER NOT NULL REFERENCES algorithm,
    "index" INTEGER NOT NULL CHECK ("index" >= 0),
    attempt INTEGER NOT NULL CHECK (attempt >= 0),
    round INTEGER NOT NULL,  -- the round of decisions that asked for it
    seed INTEGER NOT NULL,
    value REAL,  -- NULL when the run gave none
    measures TEXT,  -- JSON, when the algorithm reports several numbers
    seconds REAL NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('ok', 'failed', 'timeout', 'lost')),
    message TEXT NOT NULL,  -- why a run gave no value
    session INTEGER NOT NULL REFERENCES session,
    PRIMARY KEY (instance, algorithm, "index", attempt),
    CHECK ((status = 'ok') = (value IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE finished (
    -- Instances that are done, so that resuming needs no replay. Derived: the runs and the plan give it again.
    instance INTEGER NOT NULL REFERENCES instance,
    decisions TEXT NOT NULL,  -- digest of all that decisions hang on besides the runs
    reason TEXT NOT NULL,
    rounds INTEGER NOT NULL,
    error REAL,  -- the largest standard error at the stop, NULL when not known
    counts TEXT NOT NULL,  -- JSON: the runs asked for, by algorithm
    PRIMARY KEY (instance, decisions)
) STRICT, WITHOUT ROWID;

CREATE VIEW last_run AS
    -- The runs that count, by name: what `ampler export` writes.
    SELECT instance.name AS instance, algorithm.name AS algorithm, "index", max(attempt) AS attempt, round, run.seed,
           value, measures, seconds, status, message, session
    FROM run JOIN instance ON instance.id = run.instance JOIN algorithm ON algorithm.id = run.algorithm
    GROUP BY run.instance, run.algorithm, "index";

CREATE TRIGGER run_is_not_changed BEFORE UPDATE ON run BEGIN SELECT raise(ABORT, 'a run is never changed'); END;
CREATE TRIGGER run_is_not_removed BEFORE DELETE ON run BEGIN SELECT raise(ABORT, 'a run is never removed'); END;
"""

OVER_INSTANCES = """
CREATE TABLE decision (
    -- Decisions over instances: how the study went on after so many finished groups. A row makes those of its plan with
    -- the same or a higher number void that were written before it.
    id INTEGER PRIMARY KEY,
    plan INTEGER NOT NULL REFERENCES plan,
    number INTEGER NOT NULL CHECK (number >= 0),  -- of the groups that were finished
    decision TEXT NOT NULL,  -- JSON: algorithms and instances that go on, or that the study is done; and why
    digest TEXT NOT NULL,  -- of the decision
    taken TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES session
) STRICT;

CREATE TABLE progress (
    -- One row: where the study stood when runs were last written, for those who watch from another process.
    id INTEGER PRIMARY KEY CHECK (id = 1),
    written TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES session,
    progress TEXT NOT NULL  -- JSON: instances and runs done and planned, runs per second, seconds left
) STRICT;
"""

TIMED_RUNS = """
DROP VIEW last_run;
CREATE VIEW last_run AS
    -- The runs that count, by name: what `ampler export` writes.
    SELECT instance.name AS instance, algorithm.name AS algorithm, "index", max(attempt) AS attempt, round, run.seed,
           value, measures, seconds, status, message, cpu, started, session
    FROM run JOIN instance ON instance.id = run.instance JOIN algorithm ON algorithm.id = run.algorithm
"""

CLOCKS = f"""
ALTER TABLE run ADD COLUMN cpu REAL;  -- seconds of processor time, NULL when not measured
ALTER TABLE run ADD COLUMN started REAL;  -- when the run began, seconds since 1970, NULL when not measured

{TIMED_RUNS}    GROUP BY run.instance, run.algorithm, "index";
"""

SUPERSEDED = """SELECT session.id AS session, code.algorithm AS algorithm
    FROM code JOIN session LEFT JOIN made_with ON made_with.session = session.id
        AND made_with.algorithm = code.algorithm
    WHERE code.counts = 0 AND code.digest = coalesce(made_with.digest, '')"""

CODE = f"""
CREATE TABLE code (
    -- The code that algorithms were run with. Runs of code that does not count are superseded: kept, and not analysed.
    algorithm INTEGER NOT NULL REFERENCES algorithm,
    digest TEXT NOT NULL,  -- of the files; empty: of sessions from before code was recorded
    files TEXT,  -- JSON: the SHA-256 of each file; NULL where the digest is empty
    counts INTEGER NOT NULL CHECK (counts IN (0, 1)),
    PRIMARY KEY (algorithm, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE made_with (
    -- Which code the runs of a session were made with.
    session INTEGER NOT NULL REFERENCES session,
    algorithm INTEGER NOT NULL REFERENCES algorithm,
    digest TEXT NOT NULL,
    PRIMARY KEY (session, algorithm)
) STRICT, WITHOUT ROWID;

CREATE VIEW superseded AS
    -- The sessions whose runs of an algorithm count no longer.
    {SUPERSEDED};

{TIMED_RUNS}    WHERE (run.session, run.algorithm) NOT IN superseded
    GROUP BY run.instance, run.algorithm, "index";
"""

CAUSE = f"""
ALTER TABLE run ADD COLUMN cause TEXT NOT NULL DEFAULT '';  -- why a run gave no value, in a word; empty where it did

{TIMED_RUNS.replace("started, session", "started, cause, session")}
    WHERE (run.session, run.algorithm) NOT IN superseded
    GROUP BY run.instance, run.algorithm, "index";
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """A named step from one version of the schema to the next; user_version counts the steps taken."""

    name: str
    sql: str


MIGRATIONS = (
    Migration("first schema", FIRST),
    Migration("decisions over instances, and progress", OVER_INSTANCES),
    Migration("processor time and start of runs", CLOCKS),
    Migration("the code that runs were made with", CODE),
    Migration("why runs gave no value, as data", CAUSE),
)


def check_sqlite(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """Raise StoreUnusable when this Python's SQLite is too old."""
    if version < OLDEST_SQLITE:
        wanted, found = (".".join(map(str, each)) for each in (OLDEST_SQLITE[:2], version))
        raise StoreUnusable(f"study files need SQLite {wanted} or newer, this Python has {found}; use a newer Python")


def check_version(connection: sqlite3.Connection, name: str, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """Return how many migrations the file has seen; StoreUnusable when it is foreign or of a later version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    empty = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    if empty and not application and not version:
        return 0
    if application != APPLICATION_ID:
        raise StoreUnusable(f"{name} is an SQLite file of another program, not a study file; choose another name")
    if version > len(migrations):
        raise StoreUnusable(
            f"{name} was written by a newer ampler (file version {version}, this ampler knows {len(migrations)});"
            " upgrade ampler to open it"
        )
    return int(version)


def migrate(connection: sqlite3.Connection, name: str, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a file up to date, all steps or none."""
    version = check_version(connection, name, migrations)
    if version == len(migrations):
        return
    steps = "".join(migration.sql for migration in migrations[version:])
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE; {steps} PRAGMA application_id = {APPLICATION_ID};"
            f" PRAGMA user_version = {len(migrations)}; COMMIT;"
        )
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
