-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- From version 6 of the store's tables to version 7: clusters.

-- Where it ran, and what it is called there (a job's id); since when its place
-- in a queue is known; 1 where what it ran in was taken away, so that it starts
-- again and that is no retry. NULL: none of that.
ALTER TABLE attempt ADD COLUMN node TEXT;
ALTER TABLE attempt ADD COLUMN handle TEXT;
ALTER TABLE attempt ADD COLUMN queued_ms INTEGER;
ALTER TABLE attempt ADD COLUMN displaced INTEGER;

-- What was last said of the run for people; NULL: nothing.
ALTER TABLE run ADD COLUMN note TEXT;

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
