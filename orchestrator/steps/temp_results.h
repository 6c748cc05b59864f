/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_TEMP_RESULTS_H
#define SMTUNE_ORCHESTRATOR_STEPS_TEMP_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "orchestrator/spec/workflow/workflow.h"

/*
 * What the results of steps have of their temporary outputs, which may be
 * missing: the hash of what was in each, so that the cache key of a step that
 * reads it can be made without the file; and which of them were missing when
 * their job became a cache hit.
 */
struct temp_results;

/* The workflow is borrowed. NULL: no step has such outputs; then the others may
 * be called all the same. */
struct temp_results *temp_results_create(const struct workflow *workflow);
void temp_results_destroy(struct temp_results *temps);

/* Whether a job's outputs note that the temporary one of this name was missing
 * when it became a cache hit. */
bool temp_results_was_missing(const json_t *outputs, const char *name);

/* The step begins, or waits again: it has no results. */
void temp_results_forget(struct temp_results *temps, size_t step);
/* A copy's outputs, of its last round; NULL: it has none any more. */
void temp_results_set(struct temp_results *temps, size_t step, int64_t copy,
                      const json_t *outputs);

/* The hash of a temporary output, by its absolute path, of those that a step
 * may use. NULL: it is none of these, or has no hash. Valid until the next
 * change. */
const char *temp_results_hash(const struct temp_results *temps, size_t step,
                              const char *path);

/* Whether a step has made any that were not missing. */
bool temp_results_has_any(const struct temp_results *temps, size_t step);

struct temp_missing {
    size_t step;      /* that made it */
    const char *path; /* valid until the next change */
};

/* Whether one that a step may use was missing when its job became a cache hit,
 * and still is: the first. */
bool temp_results_find_missing(const struct temp_results *temps, size_t step,
                               struct temp_missing *missing);

#endif
