-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- From version 2 of the store's tables to version 3: what each suggestion of
-- the search was based on.

-- In which place the search was told the job's result: 1, 2, 3 ... in its run.
ALTER TABLE job ADD COLUMN told INTEGER;
-- How many results it had been told when it suggested the job.
ALTER TABLE job ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
-- Why it did, a JSON object; NULL where it has no reasons to give.
ALTER TABLE job ADD COLUMN reason TEXT;
-- The number of the job whose values it took over.
ALTER TABLE job ADD COLUMN same_as INTEGER;

UPDATE job
SET told = ended.place
FROM (
    SELECT
        id,
        row_number() OVER (PARTITION BY run_id ORDER BY ended_ms, number)
            AS place
    FROM job
    WHERE
        state = 'succeeded' OR state = 'failed' OR state = 'stopped'
        OR state = 'cancelled'
) AS ended
WHERE ended.id = job.id;

-- Results of earlier runs that the search was told before the first trial.
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
