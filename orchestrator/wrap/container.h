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
    char *const *channel_paths; /* [channel_count] of the task's; or NULL */
    /* NULL-ended names of the variables that the task's file sets; or NULL */
    char *const *variables;
};

/*
 * Puts words in front of argv that run it in the task's container; argv is
 * NULL-ended and stays the caller's words. Nothing where the task has no
 * container. -1 with ERR_FILE where values make no container, and ERR_FAILED
 * where smtune-shim is missing.
 */
int container_put_in_front(const struct container_order *order, char ***argv,
                           struct err *err);

/*
 * The same for a person who starts it: the words of the runtime itself, the one
 * of this machine, or by its name where none is here. The environment is that
 * of the command, as far as it is set before it: NULL-ended. *prefix begins the
 * name of each of these variables that shall go before the image's own one;
 * NULL: none needs it.
 */
int container_put_by_hand(const struct container_order *order,
                          char *const *environment, char ***argv,
                          const char **prefix, struct err *err);

#endif
