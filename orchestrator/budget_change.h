/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_BUDGET_CHANGE_H
#define SMTUNE_ORCHESTRATOR_BUDGET_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct run;

/*
 * The user of a run that has begun gives it more trials, or fewer. What was
 * planned by the file's number stays as it was planned: the search, and so what
 * each suggestion follows from, and the rungs of the schedule.
 */

/* ERR_USAGE where a run of which so many trials have begun cannot have that
 * number; one that is over needs room for another. */
int budget_change_check(int64_t trials, int64_t begun, bool is_over,
                        struct err *err);

/*
 * The whole, for a run without an engine whose lock the caller holds: in the
 * record, committed, and in run->experiment; one that is over is running again.
 * ERR_USAGE as above, or of a workflow's run; ERR_BUSY where it is over for
 * another reason, so that more trials would not be tried.
 */
int budget_change_trials(struct run *run, int64_t trials, struct err *err);

#endif
