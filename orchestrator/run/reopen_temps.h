/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_REOPEN_TEMPS_H
#define SMTUNE_ORCHESTRATOR_RUN_REOPEN_TEMPS_H

#include "orchestrator/run/reopen_steps.h"

/*
 * Steps that run again may need temporary outputs that are gone, of jobs that
 * do not run again. `steps` is what reopen_steps_find() found;
 * waits_too[step_count]: more steps that begin anew, or NULL. ERR_USAGE where a
 * file is missing; -1 also where the record cannot be read.
 */
int reopen_temps_check(struct store *store, int64_t run,
                       const struct workflow *workflow,
                       const struct reopen_steps *steps, const bool *waits_too,
                       struct err *err);

#endif
