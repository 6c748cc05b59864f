/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_RESULTS_LOAD_H
#define SMTUNE_ORCHESTRATOR_STEPS_RESULTS_LOAD_H

#include <stdint.h>

#include "orchestrator/steps/results.h"
#include "store/store.h"

/* What came of a workflow's steps as the record of a run has it, into results
 * that are empty. 0, or -1. */
int results_load(struct results *results, const struct workflow *workflow,
                 struct store *store, int64_t run, struct err *err);

#endif
