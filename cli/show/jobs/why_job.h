/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_WHY_JOB_H
#define SMTUNE_CLI_SHOW_JOBS_WHY_JOB_H

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"

/*
 * Adds why a step of a workflow, or one of its jobs, is in the state that it
 * is: one sentence; the steps that it needs, and their states; the rules of its
 * file that had a say, with their lines; and of a job each attempt's end and
 * what followed from it. 0, or -1.
 */
int why_job_add(struct document *document, const struct run_view *view,
                const char *operand, struct err *err);

#endif
