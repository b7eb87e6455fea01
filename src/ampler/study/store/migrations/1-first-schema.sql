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
