/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_FAILED_JOBS_H
#define SMTUNE_CLI_DRIVE_FAILED_JOBS_H

#include <stdint.h>

#include "base/err.h"
#include "cli/show/jobs/step_list.h"
#include "cli/show/run/run_view.h"

/*
 * Says on stderr which jobs of a run have failed, at most `limit`: why, and
 * what they wrote last. list: a workflow's steps; NULL for an experiment.
 * *first is the name of the first of them, which the caller frees, or NULL. 0,
 * or -1 when the store cannot be read.
 */
int failed_jobs_print(const struct run_view *view, const struct step_list *list,
                      int64_t limit, char **first, struct err *err);

/* The last line that a job's last attempt wrote, at most 300 bytes of it; NULL
 * where there is none. The caller's to free. */
char *failed_job_last_words(struct store *store, int64_t run, int64_t number);

/* Why the first of the trials that failed did, in a line: its cause, and what
 * it said last. NULL where none failed. The caller's to free. */
char *failed_jobs_first_words(struct store *store, int64_t run);

#endif
