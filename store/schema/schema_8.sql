-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- From version 7 of the store's tables to version 8: what people add to a run.

-- What a person noted of it, and the tags that it was given, a sorted JSON list
-- of texts. NULL: none.
ALTER TABLE run ADD COLUMN comment TEXT;
ALTER TABLE run ADD COLUMN tags TEXT;
ALTER TABLE job ADD COLUMN comment TEXT;
ALTER TABLE job ADD COLUMN tags TEXT;
CREATE INDEX job_remark ON job (run_id, number)
    WHERE comment IS NOT NULL OR tags IS NOT NULL;

-- Settings that a person had a run try, in their order, from 1: a JSON object
-- of the parameters that they named, and the number of the trial that tried
-- it; NULL: none yet.
CREATE TABLE enqueued (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    params TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    trial INTEGER,
    PRIMARY KEY (run_id, idx)
) STRICT, WITHOUT ROWID;

-- Views for people. Nothing in smtune reads them.

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
    ) AS outcomes,
    job.tags AS tags,
    job.comment AS comment
FROM job
JOIN run ON run.id = job.run_id
WHERE job.step IS NULL;
