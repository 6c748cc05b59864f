-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- From version 8 of the store's tables to version 9: budgets that change, and the
-- commit of the code.

-- How many trials the run's user gave it after it had begun; NULL: as many as
-- its file says.
ALTER TABLE run ADD COLUMN budget_trials INTEGER;

-- The commit of git that its last engine found the code at, with "-dirty"
-- behind it where files that git keeps had changed since; NULL: none was found.
ALTER TABLE run ADD COLUMN revision TEXT;
