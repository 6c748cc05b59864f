/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_DRY_RUN_H
#define SMTUNE_ORCHESTRATOR_SEARCH_DRY_RUN_H

#include <stdint.h>

#include "base/err.h"
#include "orchestrator/spec/experiment/experiment.h"

/*
 * What a run of an experiment would do, found out without starting or writing
 * anything: the search it would use, the space it would search, and its trials
 * one after the other.
 */
struct dry_run;
struct warm_start;

/* The experiment is borrowed; earlier results (NULL: none) are not. */
struct dry_run *dry_run_create(const struct experiment *experiment,
                               const struct warm_start *warm, struct err *err);
void dry_run_destroy(struct dry_run *dry_run);

const char *dry_run_method(const struct dry_run *dry_run);
const char *dry_run_reason(const struct dry_run *dry_run);
const struct space_volume *dry_run_volume(const struct dry_run *dry_run);

/* How many trials reach which rung; NULL where there is no schedule, or trials
 * run to ends of their own. */
const struct schedule_plan *dry_run_rungs(const struct dry_run *dry_run);
/* What they use of the resource, at most. Those that keep no checkpoints begin
 * at nothing each time. */
uint64_t dry_run_resource(const struct dry_run *dry_run);

struct dry_run_trial {
    int64_t number;
    const struct value *point; /* in the order of the space's parameters */
    const char *command;       /* as it could be typed into a shell */
};

/* The next trial; what it points to lives until the next call. 1: here it is,
 * 0: there are no more, -1: error. A search that learns is shown as if no
 * trial had ended yet. */
int dry_run_next(struct dry_run *dry_run, struct dry_run_trial *trial,
                 struct err *err);

#endif
