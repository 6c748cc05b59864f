/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_PLAN_H
#define SMTUNE_ORCHESTRATOR_SEARCH_PLAN_H

#include <stdint.h>

#include "base/err.h"
#include "orchestrator/spec/experiment.h"

/*
 * What a run of an experiment would do, found out without starting or writing
 * anything: the search it would use, the space it would search, and its trials
 * one after the other.
 */
struct plan;
struct warm_start;

/* The experiment is borrowed; earlier results (NULL: none) are not. */
struct plan *plan_create(const struct experiment *experiment,
                         const struct warm_start *warm, struct err *err);
void plan_destroy(struct plan *plan);

const char *plan_method(const struct plan *plan);
const char *plan_reason(const struct plan *plan);
const struct space_volume *plan_volume(const struct plan *plan);

/* How many trials reach which rung; NULL where there is no schedule, or trials
 * run to ends of their own. */
const struct schedule_plan *plan_rungs(const struct plan *plan);
/* What they use of the resource, at most. Those that keep no checkpoints begin
 * at nothing each time. */
uint64_t plan_resource(const struct plan *plan);

struct plan_trial {
    int64_t number;
    const struct value *point; /* in the order of the space's parameters */
    const char *command;       /* as it could be typed into a shell */
};

/* The next trial; what it points to lives until the next call. 1: here it is,
 * 0: there are no more, -1: error. A search that learns is shown as if no
 * trial had ended yet. */
int plan_next(struct plan *plan, struct plan_trial *trial, struct err *err);

#endif
