-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Version 1 of the store's tables. docs/database.md explains each column.
-- Times are milliseconds since 1970 UTC, NULL where it has not happened yet.
-- A number that is not a number (NaN) is stored as NULL. The checks spell out
-- OR, because SQLite builds a table in memory each time it comes by an IN.

CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'running' CHECK (
        state = 'running' OR state = 'succeeded' OR state = 'failed'
        OR state = 'stopped'
    ),
    reason TEXT NOT NULL DEFAULT '',
    spec TEXT NOT NULL,
    overrides TEXT NOT NULL,
    spec_path TEXT NOT NULL,
    work_directory TEXT NOT NULL,
    seed INTEGER NOT NULL,
    engine_pid INTEGER NOT NULL DEFAULT 0,
    boot_id TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    started_ms INTEGER,
    ended_ms INTEGER
) STRICT;

CREATE TABLE run_objective (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    metric TEXT NOT NULL,
    goal TEXT NOT NULL CHECK (goal = 'minimize' OR goal = 'maximize'),
    PRIMARY KEY (run_id, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_param (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (run_id, idx),
    UNIQUE (run_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number > 0),
    state TEXT NOT NULL CHECK (
        state = 'waiting' OR state = 'ready' OR state = 'running'
        OR state = 'paused' OR state = 'succeeded' OR state = 'failed'
        OR state = 'stopped' OR state = 'skipped' OR state = 'cancelled'
    ),
    cause TEXT CHECK (
        cause = 'ok' OR cause = 'exit' OR cause = 'signal'
        OR cause = 'timeout' OR cause = 'oom' OR cause = 'node_fail'
        OR cause = 'preempted' OR cause = 'launch_error' OR cause = 'lost'
        OR cause = 'cancelled' OR cause = 'no_metric'
    ),
    cursor INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    started_ms INTEGER,
    ended_ms INTEGER,
    due_ms INTEGER,
    UNIQUE (run_id, number)
) STRICT;

CREATE INDEX job_state ON job (run_id, state);

CREATE TABLE param_value (
    job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    value ANY NOT NULL,
    is_bool INTEGER NOT NULL DEFAULT 0 CHECK (
        is_bool = 0 OR is_bool = 1
    ),
    PRIMARY KEY (job_id, idx)
) STRICT, WITHOUT ROWID;

-- run_id stands here too, so that one index gives each run's best at once.
CREATE TABLE job_value (
    job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    value REAL,
    PRIMARY KEY (job_id, idx)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_value_order ON job_value (run_id, idx, value);

CREATE TABLE attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number > 0),
    state TEXT NOT NULL DEFAULT 'starting' CHECK (
        state = 'starting' OR state = 'running' OR state = 'ended'
    ),
    cause TEXT CHECK (
        cause = 'ok' OR cause = 'exit' OR cause = 'signal'
        OR cause = 'timeout' OR cause = 'oom' OR cause = 'node_fail'
        OR cause = 'preempted' OR cause = 'launch_error' OR cause = 'lost'
        OR cause = 'cancelled' OR cause = 'no_metric'
    ),
    directory TEXT NOT NULL,
    pid INTEGER,
    exit_code INTEGER,
    signal INTEGER,
    created_ms INTEGER NOT NULL,
    started_ms INTEGER,
    ended_ms INTEGER,
    cpu_ms INTEGER,
    max_rss_bytes INTEGER,
    text TEXT,
    UNIQUE (job_id, number),
    CHECK ((state = 'ended') = (cause IS NOT NULL))
) STRICT;

-- A job is never run twice at the same time.
CREATE UNIQUE INDEX attempt_active ON attempt (job_id) WHERE state <> 'ended';

CREATE TABLE metric_name (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE metric (
    job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    name_id INTEGER NOT NULL REFERENCES metric_name,
    step INTEGER NOT NULL,
    value REAL,
    attempt_id INTEGER NOT NULL,
    time_ms INTEGER NOT NULL,
    PRIMARY KEY (job_id, name_id, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    job_id INTEGER,
    attempt_id INTEGER,
    time_ms INTEGER NOT NULL,
    event TEXT NOT NULL,
    detail TEXT
) STRICT;

CREATE INDEX event_run ON event (run_id);

CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
BEGIN
    SELECT raise(ABORT, 'events are never changed');
END;

CREATE TRIGGER event_goes_with_its_run BEFORE DELETE ON event
WHEN EXISTS (SELECT 1 FROM run WHERE id = OLD.run_id)
BEGIN
    SELECT raise(ABORT, 'events go only with their run');
END;

-- Views for people. Nothing in smtune reads them.

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
    (SELECT count(*) FROM attempt WHERE job_id = job.id) AS attempts
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
            v.run_id = run.id AND v.idx = 0
            AND v.value > -9e999 AND v.value < 9e999
        ORDER BY v.value, v.job_id
        LIMIT 1
    ),
    (
        SELECT v.job_id
        FROM job_value AS v
        JOIN job AS j ON j.id = v.job_id AND j.state = 'succeeded'
        WHERE
            v.run_id = run.id AND v.idx = 0
            AND v.value > -9e999 AND v.value < 9e999
        ORDER BY v.value DESC, v.job_id
        LIMIT 1
    )
)
JOIN trial ON trial.run = run.name AND trial.number = job.number;

CREATE VIEW learning_curve AS
SELECT
    run.name AS run,
    job.number AS number,
    metric_name.name AS metric,
    metric.step AS step,
    metric.value AS value,
    attempt.number AS attempt,
    strftime('%Y-%m-%dT%H:%M:%fZ', metric.time_ms / 1000.0, 'unixepoch')
        AS time
FROM metric
JOIN metric_name ON metric_name.id = metric.name_id
JOIN job ON job.id = metric.job_id
JOIN run ON run.id = job.run_id
LEFT JOIN attempt ON attempt.id = metric.attempt_id;
