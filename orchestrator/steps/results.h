/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_RESULTS_H
#define SMTUNE_ORCHESTRATOR_STEPS_RESULTS_H

#include <stdint.h>

#include "base/json.h"
#include "base/value.h"
#include "orchestrator/spec/workflow/workflow.h"

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
 * that it had before go; NULL: it has none. values is borrowed. */
void results_set(struct results *results, size_t step, int64_t copy,
                 const json_t *values);
void results_set_state(struct results *results, size_t step,
                       enum flow_state state, int64_t succeeded,
                       int64_t failed);

/*
 * A column of steps[step].results. What is not known (yet) is null: the state
 * before the step is over, counts before it begins. Text lives until the step's
 * next change. Lists, and what is counted over all copies, are made when they
 * are asked for first after a change.
 */
struct value results_get(struct results *results, size_t step, size_t column);
/* The same as one copy sees its own step: its own value, and no list. */
struct value results_get_own(const struct results *results, size_t step,
                             int64_t copy, size_t column);

#endif
