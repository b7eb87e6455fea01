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
    SELECT session.id AS session, code.algorithm AS algorithm
    FROM code JOIN session LEFT JOIN made_with ON made_with.session = session.id
        AND made_with.algorithm = code.algorithm
    WHERE code.counts = 0 AND code.digest = coalesce(made_with.digest, '');

DROP VIEW last_run;
CREATE VIEW last_run AS
    -- The runs that count, by name: what `ampler export` writes.
    SELECT instance.name AS instance, algorithm.name AS algorithm, "index", max(attempt) AS attempt, round, run.seed,
           value, measures, seconds, status, message, cpu, started, session
    FROM run JOIN instance ON instance.id = run.instance JOIN algorithm ON algorithm.id = run.algorithm
    WHERE (run.session, run.algorithm) NOT IN superseded
    GROUP BY run.instance, run.algorithm, "index";
