/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_RUN_JOBS_H
#define SMTUNE_CLI_RUN_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/run_steps.h"
#include "cli/run_view.h"

struct buf;

/* The jobs of a run by the names that people give them: a trial's is its
 * number, a workflow's job has that of its step, too (job_name.h). */

struct run_job {
    int64_t id, number;
    char *label;    /* "trial 7", "job train[3]"; the caller's */
    bool is_over;   /* of a workflow */
    bool is_cached; /* it took another one's result */
};

/* The job that an operand names; of a step that repeats, the last round where
 * none is said. ERR_USAGE where it is no name, or that of several copies, which
 * it lists; ERR_NOT_FOUND names the nearest. */
int run_jobs_find(const struct run_view *view, const char *operand,
                  struct run_job *job, struct err *err);
void run_job_clear(struct run_job *job);

/* Appends the name of a workflow's job. */
void run_jobs_print_name(const struct step_list *list,
                         const struct trial_row *job, struct buf *out);

/* ERR_NOT_FOUND, with the nearest of the steps there are. Always -1. */
int run_jobs_no_step(const struct run_view *view, const struct step_list *list,
                     const char *name, struct err *err);

#endif
