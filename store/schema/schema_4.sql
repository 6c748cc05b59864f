-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- From version 3 of the store's tables to version 4: what a user may do to a
-- run that is there, and whom the run tells of what happens.

-- Since when its user has the run paused; NULL: it goes on.
ALTER TABLE run ADD COLUMN paused_ms INTEGER;

-- Which of the experiment's retry rules matched the attempt's end, from 0; as
-- many as there are stands for the one that always holds; NULL: none did.
ALTER TABLE attempt ADD COLUMN rule INTEGER;

-- Results that the search was told, in the place `told`, before their job was
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
