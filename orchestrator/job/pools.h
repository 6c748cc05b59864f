/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_POOLS_H
#define SMTUNE_ORCHESTRATOR_JOB_POOLS_H

#include "base/err.h"
#include "executors/executor.h"
#include "orchestrator/spec/experiment/job_spec.h"
#include "orchestrator/spec/workflow/workflow.h"

/*
 * The pools that a run's jobs take from: those of its workflow, in the folder
 * `pools` of the run, and those of the runs that it is below, which it was told
 * of by POOLS_VARIABLE. Of one name, the outermost run's is meant: what a
 * workflow limits is limited for all that it starts.
 */

/* A JSON object, {"NAME": {"directory": PATH, "size": N}}. */
#define POOLS_VARIABLE "SMTUNE_POOLS"

struct pools;

/* workflow: NULL for an experiment, which has none of its own. inherited: the
 * variable's value; NULL: there is none. */
struct pools *pools_create(const struct workflow *workflow,
                           const char *run_directory, const char *inherited,
                           struct err *err);
void pools_destroy(struct pools *pools);

/* What the jobs' own variable is to say; NULL: there are no pools. */
const char *pools_variable(const struct pools *pools);

/* What a task takes goes to claims, which borrow from the pools; returns how
 * many that are. A pool that is not known here limits nothing: an experiment's
 * trials may name one, and it be run by itself. */
size_t pools_claim(const struct pools *pools, const struct job_spec *spec,
                   struct attempt_pool claims[ATTEMPT_POOLS_MAX]);

#endif
