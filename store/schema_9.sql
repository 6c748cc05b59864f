-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- From version 8 of the store's tables to version 9: budgets that change.

-- How many trials the run's user gave it after it had begun; NULL: as many as
-- its file says.
ALTER TABLE run ADD COLUMN budget_trials INTEGER;
