-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- From version 1 of the store's tables to version 2.

-- Constraints on outcomes: a trial satisfies each of its run's when the
-- metric's value lies between min and max, NULL where there is no such bound.
CREATE TABLE run_outcome (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    metric TEXT NOT NULL,
    min REAL,
    max REAL,
    PRIMARY KEY (run_id, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_outcome (
    job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    value REAL,
    PRIMARY KEY (job_id, idx)
) STRICT, WITHOUT ROWID;

-- The sum of what the bounds are exceeded by; 0: the trial is feasible.
ALTER TABLE job ADD COLUMN violation REAL NOT NULL DEFAULT 0;

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
JOIN run ON run.id = job.run_id;

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
