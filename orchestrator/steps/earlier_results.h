/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_EARLIER_RESULTS_H
#define SMTUNE_ORCHESTRATOR_STEPS_EARLIER_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "orchestrator/job/states.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "store/store.h"

/* What came of an earlier run's jobs, for a run that takes it over as its
 * workflow's take_over says. */
struct earlier_results;

/* ERR_NOT_FOUND where that run is no longer there. */
struct earlier_results *earlier_results_create(struct store *store,
                                               const struct workflow *workflow,
                                               struct err *err);
void earlier_results_destroy(struct earlier_results *earlier);

/* One job of it. */
struct earlier_result {
    int64_t job;          /* in the store */
    enum job_state state; /* succeeded or failed */
    json_t *outputs;      /* the takeover's; NULL: none */
};

/* The job of a step's copy and round; false: there is none, and it has to
 * run. */
bool earlier_results_find(const struct earlier_results *earlier, size_t step,
                          int64_t copy, int64_t round,
                          struct earlier_result *found);

#endif
