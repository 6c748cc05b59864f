/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_JOB_NUMBERS_H
#define SMTUNE_CLI_SHOW_JOBS_JOB_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/show/run/run_view.h"

/* Jobs of a run that a user names, to do something with them. */
struct job_numbers {
    int64_t *items; /* [count] */
    size_t count, capacity;
};

void job_numbers_add(struct job_numbers *numbers, int64_t number);
void job_numbers_clear(struct job_numbers *numbers);

/*
 * Adds what each of the operands names of a workflow's run (run_jobs_find). A
 * step that has several copies stands for those that failed or were stopped,
 * with even_succeeded for all that are over; ERR_USAGE where there is none.
 */
int job_numbers_find(const struct run_view *view, char **operands, int count,
                     bool even_succeeded, struct job_numbers *numbers,
                     struct err *err);

#endif
