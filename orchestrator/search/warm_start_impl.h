/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_WARM_START_IMPL_H
#define SMTUNE_ORCHESTRATOR_SEARCH_WARM_START_IMPL_H

#include "orchestrator/job/states.h"
#include "orchestrator/search/warm_start.h"

/* What warm_start.c and warm_start_read.c share; nobody else includes it. */

/* A trial of an earlier run, as the strategy is told it. */
struct warm_result {
    size_t source; /* index of its run */
    int64_t number;
    enum job_state state;
    struct value *point; /* [space_count], text is the space's */
    double *values;      /* [objective_count], lower is better; NaN: none */
    double *excess;      /* [search.outcome_count]; NaN: not known */
};

struct warm_start {
    const struct experiment *experiment;
    struct warm_source *sources; /* [source_count], their names owned */
    size_t source_count, source_capacity;
    struct warm_result *results; /* [count] */
    size_t count, capacity;
};

struct warm_start *warm_start_new(const struct experiment *experiment);
/* The index of a run that may be there already. */
size_t warm_start_add_source(struct warm_start *warm, const char *run);
/* A result with room for what it holds, all of it null and NaN. */
struct warm_result *warm_start_add(struct warm_start *warm, size_t source);
/* Takes back the last one. */
void warm_start_drop(struct warm_start *warm);

#endif
