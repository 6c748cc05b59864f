/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_LAUNCH_H
#define SMTUNE_ORCHESTRATOR_JOB_LAUNCH_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/value.h"
#include "executors/executor.h"
#include "orchestrator/job/hosts.h"
#include "orchestrator/job/pools.h"
#include "orchestrator/job/workspace.h"
#include "orchestrator/spec/experiment/job_spec.h"

/*
 * What one attempt of a job is given: its folders and files (workspace.h), its
 * words, and its environment (launch_env.h).
 */

/* The same for all attempts of a run. Everything is borrowed. */
struct launch_site {
    struct workspaces *workspaces;
    const struct pools *pools;
    const char *run_name;
    const char *work_directory; /* where commands start */
    const char *program_path;   /* PATH with smtune's own folder first */
    char *const *environment;   /* inherited, NULL-ended */
};

/* Where a job's files are. */
struct launch_places {
    const char *directory, *checkpoint_directory, *attempt_directory;
};

/* Everything is borrowed. */
struct launch_order {
    int64_t job;            /* its number */
    int64_t attempt;        /* its id in the store */
    int64_t attempt_number; /* 1, 2, 3 ... of the job's */
    int64_t reserve;        /* as in struct attempt_spec */
    const char *step;       /* as in struct attempt_spec */
    const char *name;       /* of the job for people; NULL: its number */
    int64_t resource;       /* up to which it runs, 0: to an end of its own */
    bool inherits;          /* as in struct workspace_order */
    bool allows_empty;      /* lists of ${{ files() }} without a path */
    struct job_copy copy;   /* of the step */
    const struct job_spec *task;
    const struct resources *resources;
    char *const *avoid; /* as in struct attempt_spec */
    int warn_signal;    /* as in struct attempt_spec */
    int64_t warn_before_ms;
    struct exit_set link_exits;
    const json_t *params; /* what it is told by name */
    json_t *strings;      /* the same, each value as text */
    /* The values of the columns that its templates know; the caller frees. */
    struct value *(*columns)(const void *user,
                             const struct launch_places *places);
    /* Its words, where they do not come from the task's command; freed with
     * words_free. NULL: they do. */
    char **(*words)(const void *user, const struct launch_places *places,
                    struct err *err);
    const void *user;
};

struct launch; /* one attempt's spec, and the memory behind it */

/* Makes folders and files, expands the command. NULL with ERR_FILE where its
 * values make no command, with ERR_FAILED or ERR_SHORTAGE where folders and
 * files cannot be made, which is no job's fault. */
struct launch *launch_create(const struct launch_site *site,
                             const struct launch_order *order, struct err *err);
/* The launch of an attempt that shall follow it by itself, which it owns from
 * now on. */
void launch_add_reserve(struct launch *launch, struct launch *reserve);
/* As in struct attempt_spec. */
void launch_set_more(struct launch *launch, int64_t more);
/* Lives as long as the launch. */
const struct attempt_spec *launch_spec(const struct launch *launch);
void launch_destroy(struct launch *launch);

#endif
