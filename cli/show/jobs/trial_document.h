/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_TRIAL_DOCUMENT_H
#define SMTUNE_CLI_SHOW_JOBS_TRIAL_DOCUMENT_H

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"

/* Adds all about one trial, named by an operand: its row, the list "attempts",
 * and the list "metrics" with the last value of each. 0, or -1. */
int trial_document_add(struct document *document, const struct cli *cli,
                       const struct run_view *view, const char *operand,
                       struct err *err);

/* Parts of that, which any job has: its "attempts", and its "metrics". */
int trial_document_add_attempts(struct document *document,
                                const struct run_view *view, int64_t job,
                                struct err *err);
int trial_document_add_metrics(struct document *document,
                               const struct run_view *view, int64_t job,
                               struct err *err);

#endif
