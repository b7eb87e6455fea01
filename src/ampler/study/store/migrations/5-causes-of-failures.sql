ALTER TABLE run ADD COLUMN cause TEXT NOT NULL DEFAULT '';  -- why a run gave no value, in a word; empty where it did

DROP VIEW last_run;
CREATE VIEW last_run AS
    -- The runs that count, by name: what `ampler export` writes.
    SELECT instance.name AS instance, algorithm.name AS algorithm, "index", max(attempt) AS attempt, round, run.seed,
           value, measures, seconds, status, message, cpu, started, cause, session
    FROM run JOIN instance ON instance.id = run.instance JOIN algorithm ON algorithm.id = run.algorithm
    WHERE (run.session, run.algorithm) NOT IN superseded
    GROUP BY run.instance, run.algorithm, "index";
