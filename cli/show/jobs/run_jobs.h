/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_RUN_JOBS_H
#define SMTUNE_CLI_SHOW_JOBS_RUN_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/show/jobs/run_steps.h"
#include "cli/show/run/run_view.h"

struct buf;

/* The jobs of a run by the names that people give them: a trial's is its
 * number, a workflow's job has that of its step, too (job_name.h). */

struct run_job {
    int64_t id, number;
    int64_t step;   /* of a workflow */
    char *label;    /* "trial 7", "job train[3]"; the caller's */
    bool is_over;   /* of a workflow */
    bool is_reused; /* it took another one's result */
};

/* The job that an operand names; of a step that repeats, the last round where
 * none is said. ERR_USAGE where it is no name, or that of several copies, which
 * it lists; ERR_NOT_FOUND names the nearest. */
int run_jobs_find(const struct run_view *view, const char *operand,
                  struct run_job *job, struct err *err);
/* The same of a workflow whose steps are at hand; but of a step that has
 * several copies, or has not begun, the step alone: id is 0. */
int run_jobs_find_part(const struct run_view *view,
                       const struct run_steps *steps, const char *operand,
                       struct run_job *job, struct err *err);
void run_job_clear(struct run_job *job);

/* Appends the name of a workflow's job. */
void run_jobs_print_name(const struct step_list *list,
                         const struct trial_row *job, struct buf *out);

/* The step of a name; ERR_NOT_FOUND with the nearest of those there are. */
int run_jobs_find_step(const struct run_view *view,
                       const struct run_steps *steps, const char *name,
                       int64_t *step, struct err *err);

#endif
