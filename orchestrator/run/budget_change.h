/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_BUDGET_CHANGE_H
#define SMTUNE_ORCHESTRATOR_RUN_BUDGET_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct budget;
struct run;
struct run_row;

/*
 * The user of a run that has begun gives it more trials or time, or less. What
 * was planned by the file's numbers stays as it was planned: the search, and so
 * what each suggestion follows from, and the rungs of the schedule.
 */

/* In all; 0: as many trials, as much time, as it has. */
struct budget_change {
    int64_t trials, time_ms;
};

/* All that a run was given since it began. */
struct budget_change budget_change_of(const struct run_row *row);

/* That an event "budget_changed" tells of. */
struct budget_change budget_change_of_detail(const json_t *detail);

/* What is changed by another one after it, into the first. */
void budget_change_add(struct budget_change *budget,
                       const struct budget_change *change);

/* Whether it changes anything. */
bool budget_change_is_any(const struct budget_change *change);

void budget_change_apply(const struct budget_change *change,
                         struct budget *budget);

/* ERR_USAGE where a run cannot have that of which so many trials have begun and
 * so much time was used; one that is over needs room for another trial. */
int budget_change_check(const struct budget_change *change, int64_t begun,
                        int64_t used_ms, bool is_over, struct err *err);

/*
 * The whole, for a run without an engine whose lock the caller holds: in the
 * record, committed, and in run->experiment; one that is over is running again.
 * ERR_USAGE as above, or of the trials of a workflow's run; ERR_BUSY where it
 * is over for another reason, so that it would be over with that, too.
 */
int budget_change_make(struct run *run, const struct budget_change *change,
                       struct err *err);

#endif
