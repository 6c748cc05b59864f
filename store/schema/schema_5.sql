-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- From version 4 of the store's tables to version 5: schedules, which give
-- trials their resource (epochs, say) bit by bit.

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

-- Where the schedule had the job begin, and up to which resource; NULL:
-- without a schedule.
ALTER TABLE job ADD COLUMN bracket INTEGER;
ALTER TABLE job ADD COLUMN rung INTEGER;
ALTER TABLE job ADD COLUMN first_resource INTEGER;
-- Up to which resource it may run now; NULL: it is in no schedule, or not any
-- more.
ALTER TABLE job ADD COLUMN resource INTEGER;
-- The number of the job at whose checkpoint it began.
ALTER TABLE job ADD COLUMN parent INTEGER;

-- From which resource on, and up to which, the attempt may run, and how much
-- it used.
ALTER TABLE attempt ADD COLUMN resource_from INTEGER;
ALTER TABLE attempt ADD COLUMN resource INTEGER;
ALTER TABLE attempt ADD COLUMN resource_used INTEGER;

-- What the schedule (and the search) was told of jobs on their way, and what
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

-- For people. Nothing in smtune reads it.
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
    observation.promoted_to AS promoted_to,
    strftime('%Y-%m-%dT%H:%M:%fZ', observation.time_ms / 1000.0, 'unixepoch')
        AS time
FROM observation
JOIN job ON job.id = observation.job_id
JOIN run ON run.id = job.run_id
WHERE observation.rung IS NOT NULL;
