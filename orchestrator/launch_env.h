/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_LAUNCH_ENV_H
#define SMTUNE_ORCHESTRATOR_LAUNCH_ENV_H

#include <stdint.h>

#include "base/json.h"
#include "base/value.h"
#include "orchestrator/env_list.h"
#include "orchestrator/experiment.h"

/*
 * The names a trial finds in its environment: smtune's own, and SageMaker's,
 * so that a script written for that runs unchanged.
 */
struct launch_env {
    const char *run_name;
    const char *program_path; /* PATH with smtune's own folder first */
    const char *trial_directory, *attempt_directory, *ml_directory;
    int64_t trial, attempt, attempt_number;
    int64_t resource; /* of the schedule; 0: there is none */
    const struct resources *resources;
};

/* Adds or replaces them all. params: the point's active ones, as JSON. */
void launch_env_set(struct env_list *env, const struct launch_env *names,
                    const struct experiment *experiment,
                    const struct value *point, const json_t *params);

#endif
