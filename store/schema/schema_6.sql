-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- From version 5 of the store's tables to version 6: workflows.

-- The run and the job (of a workflow) that it was started by; NULL: by a
-- person.
ALTER TABLE run ADD COLUMN parent_id INTEGER;
ALTER TABLE run ADD COLUMN parent_job INTEGER;
CREATE INDEX run_parent ON run (parent_id) WHERE parent_id IS NOT NULL;

-- The steps of a workflow's run, in the file's order: what has become of each.
-- matrix: what its axes held when it began, {"part": [0, 1]}, JSON. first_job:
-- jobs of it with a lower number are of an earlier time that it began.
CREATE TABLE run_step (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (
        state = 'waiting' OR state = 'active' OR state = 'succeeded'
        OR state = 'failed' OR state = 'skipped'
    ),
    reason TEXT,
    copies INTEGER,
    matrix TEXT,
    first_job INTEGER,
    began_ms INTEGER,
    ended_ms INTEGER,
    PRIMARY KEY (run_id, idx)
) STRICT, WITHOUT ROWID;

-- Which step's copy a job is; NULL: a trial. round: 1, 2 ... of a step that
-- repeats. rounds: its values in this round, {"batch": 64}, JSON.
ALTER TABLE job ADD COLUMN step INTEGER;
ALTER TABLE job ADD COLUMN copy INTEGER;
ALTER TABLE job ADD COLUMN round INTEGER;
ALTER TABLE job ADD COLUMN rounds TEXT;
-- What came of it: outputs and last metrics by name, JSON. NULL: nothing yet.
ALTER TABLE job ADD COLUMN outputs TEXT;
-- What its result hangs on, SHA-256; and the job whose result it took, by id.
ALTER TABLE job ADD COLUMN cache_key TEXT;
ALTER TABLE job ADD COLUMN cached_from INTEGER;
CREATE INDEX job_cache ON job (cache_key) WHERE cache_key IS NOT NULL;

-- What was among its checkpoints when the attempt ended, as one hash; NULL:
-- nothing, or nobody looked.
ALTER TABLE attempt ADD COLUMN checkpoint TEXT;

-- Views for people. Nothing in smtune reads them.

DROP VIEW best_trial;
DROP VIEW trial;

CREATE VIEW trial AS
SELECT
    run.name AS run,
    job.number AS number,
    job.state AS state,
    (
        SELECT value FROM job_value WHERE job_id = job.id AND idx = 0
    ) AS value,
    (
        SELECT
            json_group_object(
                name,
                CASE WHEN is_bool
                    THEN json(iif(value, 'true', 'false'))
                    ELSE value
                END
            )
        FROM (
            SELECT p.name, v.value, v.is_bool
            FROM run_param AS p
            LEFT JOIN param_value AS v ON v.job_id = job.id AND v.idx = p.idx
            WHERE p.run_id = job.run_id
            ORDER BY p.idx
        )
    ) AS params,
    strftime('%Y-%m-%dT%H:%M:%fZ', job.started_ms / 1000.0, 'unixepoch')
        AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', job.ended_ms / 1000.0, 'unixepoch')
        AS ended,
    job.cause AS cause,
    (SELECT count(*) FROM attempt WHERE job_id = job.id) AS attempts,
    CASE WHEN EXISTS (SELECT 1 FROM job_value WHERE job_id = job.id)
        THEN job.violation = 0
    END AS feasible,
    (
        SELECT
            json_group_object(
                metric,
                CASE WHEN abs(value) < 9e999 THEN value END
            )
        FROM (
            SELECT o.metric, v.value
            FROM run_outcome AS o
            LEFT JOIN job_outcome AS v ON v.job_id = job.id AND v.idx = o.idx
            WHERE o.run_id = job.run_id
            ORDER BY o.idx
        )
    ) AS outcomes
FROM job
JOIN run ON run.id = job.run_id
WHERE job.step IS NULL;

CREATE VIEW best_trial AS
SELECT
    trial.run,
    o.metric,
    o.goal,
    trial.number,
    trial.value,
    trial.params,
    trial.started,
    trial.ended
FROM run
JOIN run_objective AS o ON o.run_id = run.id AND o.idx = 0
JOIN job ON job.id = iif(
    o.goal = 'minimize',
    (
        SELECT v.job_id
        FROM job_value AS v
        JOIN job AS j ON j.id = v.job_id AND j.state = 'succeeded'
        WHERE
            v.run_id = run.id AND v.idx = 0 AND j.violation = 0
            AND v.value > -9e999 AND v.value < 9e999
        ORDER BY v.value, v.job_id
        LIMIT 1
    ),
    (
        SELECT v.job_id
        FROM job_value AS v
        JOIN job AS j ON j.id = v.job_id AND j.state = 'succeeded'
        WHERE
            v.run_id = run.id AND v.idx = 0 AND j.violation = 0
            AND v.value > -9e999 AND v.value < 9e999
        ORDER BY v.value DESC, v.job_id
        LIMIT 1
    )
)
JOIN trial ON trial.run = run.name AND trial.number = job.number;

-- A step without a job yet has one row, with its own state. Jobs of an earlier
-- time that it began are left out.
CREATE VIEW step AS
SELECT
    run.name AS run,
    run_step.name AS step,
    job.copy AS copy,
    job.round AS round,
    job.number AS number,
    coalesce(job.state, run_step.state) AS state,
    coalesce(job.cause, run_step.reason) AS why,
    job.rounds AS rounds,
    job.outputs AS outputs,
    strftime('%Y-%m-%dT%H:%M:%fZ', job.started_ms / 1000.0, 'unixepoch')
        AS started,
    strftime(
        '%Y-%m-%dT%H:%M:%fZ',
        iif(job.id IS NULL, run_step.ended_ms, job.ended_ms) / 1000.0,
        'unixepoch'
    ) AS ended,
    (SELECT count(*) FROM attempt WHERE job_id = job.id) AS attempts
FROM run_step
JOIN run ON run.id = run_step.run_id
LEFT JOIN job
    ON
        job.run_id = run_step.run_id AND job.step = run_step.idx
        AND job.number >= run_step.first_job;

-- Of a check, SQLite can only be told by a change of the table's text
-- (https://sqlite.org/lang_altertable.html, at the end): an attempt may end
-- without the output that it should have made.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(
    sql,
    'cause = ''no_metric''',
    'cause = ''no_metric'' OR cause = ''no_output'''
)
WHERE type = 'table' AND (name = 'job' OR name = 'attempt');
PRAGMA writable_schema = RESET;
