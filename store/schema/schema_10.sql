-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- From version 9 of the store's tables to version 10: budgets of time that change.

-- How much time the run's user gave it after it had begun; NULL: as much as its
-- file says.
ALTER TABLE run ADD COLUMN budget_time_ms INTEGER;
