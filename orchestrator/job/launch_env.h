/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_LAUNCH_ENV_H
#define SMTUNE_ORCHESTRATOR_JOB_LAUNCH_ENV_H

#include <stdint.h>

#include "base/json.h"
#include "orchestrator/job/env_list.h"
#include "orchestrator/job/hosts.h"
#include "orchestrator/spec/experiment/job_spec.h"

/*
 * The names a job finds in its environment: smtune's own, and SageMaker's, so
 * that a script written for that runs unchanged.
 */
struct launch_env {
    const char *run_name;
    const char *program_path; /* PATH with smtune's own folder first */
    const char *job_directory, *attempt_directory, *ml_directory;
    int64_t job, attempt, attempt_number;
    int64_t resource; /* of the schedule; 0: there is none */
    struct job_copy copy;
    const struct job_spec *task;
    const struct resources *resources;
    char *const *channel_paths; /* of the task's, as channels_paths() */
    const json_t *params;       /* what it is told by name */
    json_t *strings;            /* the same, each value as text */
};

/* Adds or replaces them all. */
void launch_env_set(struct env_list *env, const struct launch_env *names);

#endif
