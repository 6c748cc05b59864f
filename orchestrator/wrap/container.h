/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_WRAP_CONTAINER_H
#define SMTUNE_ORCHESTRATOR_WRAP_CONTAINER_H

#include "base/err.h"
#include "base/value.h"
#include "orchestrator/spec/experiment/job_spec.h"

/* Of one attempt. Everything is borrowed. */
struct container_order {
    const struct job_spec *task;
    const struct value *values; /* of its templates' columns */
    const struct resources *resources;
    const char *run_directory, *attempt_directory, *work_directory;
    char *const *channel_paths; /* [channel_count] of the task's */
};

/*
 * Puts words in front of argv that run it in the task's container; argv is
 * NULL-ended and stays the caller's words. Nothing where the task has no
 * container. -1 with ERR_FILE where values make no container, and ERR_FAILED
 * where smtune-shim is missing.
 */
int container_put_in_front(const struct container_order *order, char ***argv,
                           struct err *err);

#endif
