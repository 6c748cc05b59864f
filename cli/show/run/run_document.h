/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_RUN_DOCUMENT_H
#define SMTUNE_CLI_SHOW_RUN_RUN_DOCUMENT_H

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"

/* Parts of a run's document that more than one command shows. 0, or -1. */

/* "objectives": each metric and its goal. */
int run_document_objectives(struct document *document,
                            const struct run_view *view, struct err *err);
/* "budget_ms": how much time its user gave it after it had begun, if so. */
int run_document_time(struct document *document, const struct run_view *view,
                      struct err *err);
/* "trials": how many there are in each state, and how many its user gave its
 * budget after it had begun. */
int run_document_counts(struct document *document, const struct run_view *view,
                        struct err *err);
/* "outcomes": the bounds on metrics, where there are any. */
int run_document_outcomes(struct document *document,
                          const struct run_view *view, struct err *err);
/* "best": the best trial, where there is one; with several objectives the
 * Pareto front (front_view_add). */
int run_document_best(struct document *document, const struct cli *cli,
                      const struct run_view *view, struct err *err);
/* What to do about a run in this state, to stderr, unless quiet. */
void run_document_hint(const struct cli *cli, const struct run_view *view);

#endif
