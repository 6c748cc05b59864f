/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_LAUNCH_H
#define SMTUNE_ORCHESTRATOR_LAUNCH_H

#include <stdint.h>

#include "base/err.h"
#include "base/value.h"
#include "executors/executor.h"
#include "orchestrator/experiment.h"
#include "orchestrator/workspace.h"

/*
 * What one attempt of a trial is given: its folders and files (workspace.h),
 * its words, and its environment (launch_env.h).
 */

/* The same for all attempts of a run. Everything is borrowed. */
struct launch_site {
    const struct experiment *experiment;
    struct workspaces *workspaces;
    const char *run_name;
    const char *work_directory; /* where commands start */
    const char *program_path;   /* PATH with smtune's own folder first */
    char *const *environment;   /* inherited, NULL-ended */
};

struct launch_order {
    int64_t trial;
    int64_t attempt;           /* its id in the store */
    int64_t attempt_number;    /* 1, 2, 3 ... of the trial's */
    const struct value *point; /* in the order of the space's parameters */
    int64_t resource;          /* of its schedule; 0: there is none */
    const struct resources *resources;
};

struct launch; /* one attempt's spec, and the memory behind it */

/* Makes folders and files, expands the command. NULL with ERR_FILE where this
 * setting makes no command, with ERR_FAILED or ERR_SHORTAGE where folders and
 * files cannot be made, which is no trial's fault. */
struct launch *launch_create(const struct launch_site *site,
                             const struct launch_order *order, struct err *err);
/* Lives as long as the launch. */
const struct attempt_spec *launch_spec(const struct launch *launch);
void launch_destroy(struct launch *launch);

#endif
