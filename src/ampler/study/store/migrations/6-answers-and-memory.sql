ALTER TABLE run ADD COLUMN exit_code INTEGER;  -- of a program that ended by itself, else NULL
ALTER TABLE run ADD COLUMN answer TEXT;  -- what it answered, NULL where no answer was looked for or found
ALTER TABLE run ADD COLUMN memory INTEGER;  -- peak resident bytes of its largest process, NULL when not known

DROP VIEW last_run;
CREATE VIEW last_run AS
    -- The runs that count, by name: what `ampler export` writes.
    SELECT instance.name AS instance, algorithm.name AS algorithm, "index", max(attempt) AS attempt, round, run.seed,
           value, measures, seconds, status, message, cpu, started, cause, exit_code, answer, memory, session
    FROM run JOIN instance ON instance.id = run.instance JOIN algorithm ON algorithm.id = run.algorithm
    WHERE (run.session, run.algorithm) NOT IN superseded
    GROUP BY run.instance, run.algorithm, "index";
