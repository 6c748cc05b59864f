/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_STEPS_DOCUMENT_H
#define SMTUNE_CLI_SHOW_JOBS_STEPS_DOCUMENT_H

#include "base/err.h"
#include "cli/show/jobs/run_steps.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"

/* Parts of a workflow's run in a document. 0, or -1. */

/*
 * "step_counts": how many there are in each state; and "steps", the list of
 * them, in the order of the graph. People get at most rows_max of them, those
 * that matter now, and then what the others do; 0: all.
 */
int steps_document_add(struct document *document, const struct cli *cli,
                       const struct run_view *view,
                       const struct run_steps *steps, size_t rows_max,
                       struct err *err);

/* "running_jobs": the attempts that run now. */
int steps_document_add_running(struct document *document,
                               const struct run_view *view,
                               const struct run_steps *steps, struct err *err);

#endif
