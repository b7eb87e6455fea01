ALTER TABLE run ADD COLUMN cpu REAL;  -- seconds of processor time, NULL when not measured
ALTER TABLE run ADD COLUMN started REAL;  -- when the run began, seconds since 1970, NULL when not measured

DROP VIEW last_run;
CREATE VIEW last_run AS
    -- The runs that count, by name: what `ampler export` writes.
    SELECT instance.name AS instance, algorithm.name AS algorithm, "index", max(attempt) AS attempt, round, run.seed,
           value, measures, seconds, status, message, cpu, started, session
    FROM run JOIN instance ON instance.id = run.instance JOIN algorithm ON algorithm.id = run.algorithm
    GROUP BY run.instance, run.algorithm, "index";
