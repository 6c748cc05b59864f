/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_REOPEN_TEMPS_H
#define SMTUNE_ORCHESTRATOR_RUN_REOPEN_TEMPS_H

#include "orchestrator/run/reopen_steps.h"

/*
 * Steps that run again may need temporary outputs that are gone, of jobs that
 * do not run again. runs[step_count]: the steps that do, all or some of their
 * jobs; waits[step_count]: those that begin anew; jobs->found: jobs that run
 * again. ERR_USAGE where a file is missing; -1 also where the record cannot be
 * read.
 */
struct reopen_temps {
    const struct workflow *workflow;
    const bool *runs, *waits;
    const struct reopen_steps *jobs;
};

int reopen_temps_check(struct store *store, int64_t run,
                       const struct reopen_temps *temps, struct err *err);
/* The same of what reopen_steps_find() found. */
int reopen_temps_check_steps(struct store *store, int64_t run,
                             const struct workflow *workflow,
                             const struct reopen_steps *steps, struct err *err);

#endif
