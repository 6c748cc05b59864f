/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_JOB_DOCUMENT_H
#define SMTUNE_CLI_SHOW_JOBS_JOB_DOCUMENT_H

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"

/*
 * Adds all about one job of a workflow's run, named by an operand: its row, its
 * "matrix" and "rounds" values, its "outputs", its "attempts" with what became
 * of the checkpoints, its child runs, and its "metrics". Where a step is
 * named that has several copies, or none yet: all about the step, with its
 * "jobs". 0, or -1.
 */
int job_document_add(struct document *document, const struct cli *cli,
                     const struct run_view *view, const char *operand,
                     struct err *err);

/* The job whose result this one took from the cache, "job 3 of run one", for
 * the caller to free; NULL: it ran itself, or took it over without the cache.
 */
char *job_document_source(struct store *store, const struct trial_row *job);

/* What a job made, without what is noted beside that, or NULL. *written becomes
 * its numbers as they were written, as json_fields_add() takes them; written
 * may be NULL. Both are the caller's. */
json_t *job_outputs(const struct trial_row *job, json_t **written);

#endif
