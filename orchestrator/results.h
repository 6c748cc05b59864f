/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RESULTS_H
#define SMTUNE_ORCHESTRATOR_RESULTS_H

#include <stdint.h>

#include "base/json.h"
#include "base/value.h"
#include "orchestrator/workflow.h"

/*
 * What came of a workflow's steps so far, as far as expressions may ask: in
 * memory, in the engine, and in whoever looks at a run. Where a step has one
 * copy and no matrix, an output is the copy's own; else it is a JSON list, in
 * the order of the copies, with null for those that have none.
 */
struct results;

struct results *results_create(const struct workflow *workflow);
void results_destroy(struct results *results);

/* The step begins, with so many copies, none of which has a result. */
void results_begin(struct results *results, size_t step, int64_t copies);
/* A copy's values by name, outputs and metrics: text, numbers, booleans. Those
 * that it had before go. values is borrowed. */
void results_set(struct results *results, size_t step, int64_t copy,
                 const json_t *values);
void results_set_state(struct results *results, size_t step,
                       enum flow_state state, int64_t succeeded,
                       int64_t failed);

/* What is not known (yet) is null. Text lives until the step's next change. */
struct value results_get(struct results *results, size_t step, size_t column);

/* What one job is, besides: for scope_fill(). */
struct job_site {
    size_t step;
    int64_t copy, copies, round;
    const struct value *axes;   /* [axis_count] */
    const struct value *rounds; /* [repeat.value_count] */
    const char *run_name, *directory, *checkpoint_directory; /* NULL: none */
};

/* values[scope->count], for the step's expressions and templates. */
void scope_fill(const struct workflow *workflow, struct results *results,
                const struct job_site *site, struct value *values);

#endif
