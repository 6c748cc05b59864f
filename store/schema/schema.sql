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
    ended_ms INTEGER,
    -- Since when its user has the run paused; NULL: it goes on.
    paused_ms INTEGER,
    -- The run and the job (of a workflow) that started it; NULL: a person did.
    parent_id INTEGER,
    parent_job INTEGER,
    -- The last thing that the run reported for people; NULL: nothing.
    note TEXT,
    -- What people noted of it, and its tags, a sorted JSON list of texts.
    comment TEXT,
    tags TEXT,
    -- What its user gave it after it had begun; NULL: as its file has it.
    budget_trials INTEGER,
    budget_time_ms INTEGER,
    -- How many trials each setting gets; NULL: 1.
    repeats INTEGER,
    -- The commit of git that its last engine found the code at, with "-dirty"
    -- behind it where files that git keeps had changed since; NULL: none.
    revision TEXT,
    -- The text of its file since the last `smtune edit`, and its --set words;
    -- NULL: spec and overrides, by which the search is planned in any case.
    edited_spec TEXT,
    edited_overrides TEXT,
    -- From which number on attempt.rule counts the retry rules that hold now;
    -- those below belong to rules before an edit. NULL: 0.
    retry_base INTEGER
) STRICT;

CREATE INDEX run_parent ON run (parent_id) WHERE parent_id IS NOT NULL;

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

-- Constraints: a trial satisfies each of its run's when the metric's value lies
-- between min and max, NULL where there is no such bound.
CREATE TABLE run_outcome (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    metric TEXT NOT NULL,
    min REAL,
    max REAL,
    PRIMARY KEY (run_id, idx)
) STRICT, WITHOUT ROWID;

-- The rungs of a run's schedule as it was planned; trials: at most so many
-- reach it, NULL where there is no such limit.
CREATE TABLE run_rung (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    bracket INTEGER NOT NULL,
    rung INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    trials INTEGER,
    PRIMARY KEY (run_id, bracket, rung)
) STRICT, WITHOUT ROWID;

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
        OR cause = 'no_output' OR cause = 'setup_failed'
    ),
    cursor INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    started_ms INTEGER,
    ended_ms INTEGER,
    due_ms INTEGER,
    -- The sum of what the bounds are exceeded by; 0: the trial is feasible.
    violation REAL NOT NULL DEFAULT 0,
    -- In which place the search was given the job's result: 1, 2, 3 ... in its
    -- run.
    told INTEGER,
    -- How many results the search had been given when it suggested the job.
    seen INTEGER NOT NULL DEFAULT 0,
    -- Why it did, a JSON object; NULL where it has no reasons to give.
    reason TEXT,
    -- The number of the job whose values it took over.
    same_as INTEGER,
    -- Where the schedule had the job begin, and up to which resource; NULL:
    -- without a schedule.
    bracket INTEGER,
    rung INTEGER,
    first_resource INTEGER,
    -- Up to which resource it may run now; NULL: it is in no schedule, or not
    -- any more.
    resource INTEGER,
    -- The number of the job at whose checkpoint it began.
    parent INTEGER,
    -- Which step's copy it is; NULL: a trial. round: 1, 2 ... of a step that
    -- repeats. rounds: its values in this round, {"batch": 64}, JSON.
    step INTEGER,
    copy INTEGER,
    round INTEGER,
    rounds TEXT,
    -- Outputs and last metrics by name, JSON. NULL: nothing yet.
    outputs TEXT,
    -- All that its result depends on, SHA-256; and the job whose result it
    -- took, by id.
    cache_key TEXT,
    cached_from INTEGER,
    -- What people noted of it, and its tags, as in run.
    comment TEXT,
    tags TEXT,
    -- It ends alone, as soon as that can be: 1 by its user, 2 by its step, of
    -- which too many copies have failed. NULL: no.
    cancel_asked INTEGER,
    -- When its outputs with `temp: true` were removed. NULL: they were not.
    temps_removed_ms INTEGER,
    UNIQUE (run_id, number)
) STRICT;

CREATE INDEX job_state ON job (run_id, state);
CREATE INDEX job_cache ON job (cache_key) WHERE cache_key IS NOT NULL;
CREATE INDEX job_cached ON job (run_id, cached_from)
  WHERE cached_from IS NOT NULL;
CREATE INDEX job_remark ON job (run_id, number)
    WHERE comment IS NOT NULL OR tags IS NOT NULL;

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

CREATE TABLE job_outcome (
    job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    value REAL,
    PRIMARY KEY (job_id, idx)
) STRICT, WITHOUT ROWID;

-- Results of earlier runs that the search was given before the first trial.
CREATE TABLE earlier_result (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    source TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    params TEXT NOT NULL,
    "values" TEXT NOT NULL,
    outcomes TEXT NOT NULL,
    PRIMARY KEY (run_id, idx)
) STRICT, WITHOUT ROWID;

-- What the schedule (and the search) was given of jobs on their way, and what
-- was decided. told is a place among the results, as job.told is; so is
-- promoted, which is when the job was given more, up to promoted_to.
CREATE TABLE observation (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    told INTEGER NOT NULL,
    job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    resource INTEGER NOT NULL,
    attempt_id INTEGER NOT NULL,
    rung INTEGER,
    "values" TEXT NOT NULL,
    outcomes TEXT NOT NULL,
    last REAL,
    best REAL,
    decision TEXT NOT NULL CHECK (
        decision = 'continue' OR decision = 'pause' OR decision = 'stop'
    ),
    reason TEXT NOT NULL,
    promoted INTEGER,
    promoted_to INTEGER,
    time_ms INTEGER NOT NULL,
    PRIMARY KEY (run_id, told)
) STRICT, WITHOUT ROWID;

CREATE INDEX observation_job ON observation (job_id, told);

-- Results that the search was given, in the place `told`, before their job was
-- put back to be run again; it had had so many attempts by then.
CREATE TABLE superseded_result (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    told INTEGER NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    "values" TEXT NOT NULL,
    outcomes TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    PRIMARY KEY (run_id, told)
) STRICT, WITHOUT ROWID;

CREATE INDEX superseded_number ON superseded_result (run_id, number);

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

-- Messages on their way to those whom the run's file names. One that is
-- neither delivered nor given up is sent (again) when due_ms has come.
CREATE TABLE notification (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    delivery TEXT NOT NULL UNIQUE,
    receiver INTEGER NOT NULL,
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    due_ms INTEGER NOT NULL,
    delivered_ms INTEGER,
    given_up_ms INTEGER,
    error TEXT
) STRICT;

CREATE INDEX notification_due ON notification (run_id, due_ms)
WHERE delivered_ms IS NULL AND given_up_ms IS NULL;

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
        OR cause = 'no_output' OR cause = 'setup_failed'
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
    -- How long its GPUs together were busy, and the most memory in use of one
    -- of them; NULL: it had none, or that is not known.
    gpu_ms INTEGER,
    gpu_memory_bytes INTEGER,
    text TEXT,
    -- Which of the file's retry rules matched its end, from run.retry_base of
    -- its time; as many as there are stands for the one that always holds; NULL:
    -- none did.
    rule INTEGER,
    -- From which resource on, and up to which, it may run, and how much it
    -- used.
    resource_from INTEGER,
    resource INTEGER,
    resource_used INTEGER,
    -- What was among its checkpoints when it ended, as one hash; NULL: nothing,
    -- or nobody looked.
    checkpoint TEXT,
    -- Where it ran, and what it is called there (a job's id); since when its
    -- place in a queue is known; 1 where what it ran in was taken away, so that
    -- it starts again and that is no retry; 1 where others than smtune cancelled
    -- it; 1 where the machine had no room for it. NULL: none of that.
    node TEXT,
    handle TEXT,
    queued_ms INTEGER,
    displaced INTEGER,
    outside INTEGER,
    shortage INTEGER,
    UNIQUE (job_id, number),
    CHECK ((state = 'ended') = (cause IS NOT NULL))
) STRICT;

-- A job is never run twice at the same time.
CREATE UNIQUE INDEX attempt_active ON attempt (job_id) WHERE state <> 'ended';

-- Nodes of clusters that were trouble, for all runs. run_id and attempt_id are
-- those of the last trouble, and may be gone. until_ms: avoided no longer than
-- that; NULL: until a person says otherwise.
CREATE TABLE node (
    name TEXT NOT NULL PRIMARY KEY,
    trouble TEXT CHECK (
        trouble = 'died' OR trouble = 'unhealthy' OR trouble = 'refused'
    ),
    text TEXT,
    run_id INTEGER,
    attempt_id INTEGER,
    first_ms INTEGER,
    last_ms INTEGER,
    count INTEGER NOT NULL,
    avoided INTEGER NOT NULL CHECK (avoided = 0 OR avoided = 1),
    until_ms INTEGER,
    "by" TEXT NOT NULL CHECK ("by" = 'engine' OR "by" = 'user')
) STRICT;

CREATE TABLE metric_name (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE metric (
    job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    name_id INTEGER NOT NULL REFERENCES metric_name,
    -- A whole number, or one with a fraction.
    step ANY NOT NULL,
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
CREATE INDEX event_origin ON event (run_id) WHERE event = 'origin';

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
    (
        SELECT
            strftime(
                '%Y-%m-%dT%H:%M:%fZ', min(started_ms) / 1000.0, 'unixepoch'
            )
        FROM attempt
        WHERE job_id = job.id
    ) AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', job.ended_ms / 1000.0, 'unixepoch')
        AS ended,
    (SELECT sum(ended_ms - started_ms) FROM attempt WHERE job_id = job.id)
        AS duration_ms,
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

-- promoted_to: also of a trial that went on to the next rung without a pause.
CREATE VIEW rung AS
SELECT
    run.name AS run,
    job.bracket AS bracket,
    observation.rung AS rung,
    observation.resource AS resource,
    job.number AS number,
    observation.last AS last,
    observation.best AS best,
    observation.decision AS decision,
    observation.reason AS reason,
    coalesce(
        observation.promoted_to,
        CASE WHEN observation.decision = 'continue' THEN (
            SELECT next.resource
            FROM run_rung AS next
            WHERE next.run_id = observation.run_id
                AND next.bracket = job.bracket
                AND next.rung = observation.rung + 1
        ) END
    ) AS promoted_to,
    strftime('%Y-%m-%dT%H:%M:%fZ', observation.time_ms / 1000.0, 'unixepoch')
        AS time
FROM observation
JOIN job ON job.id = observation.job_id
JOIN run ON run.id = job.run_id
WHERE observation.rung IS NOT NULL;

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
    (
        SELECT
            strftime(
                '%Y-%m-%dT%H:%M:%fZ', min(started_ms) / 1000.0, 'unixepoch'
            )
        FROM attempt
        WHERE job_id = job.id
    ) AS started,
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
