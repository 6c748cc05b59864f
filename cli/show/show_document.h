/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_SHOW_DOCUMENT_H
#define SMTUNE_CLI_SHOW_SHOW_DOCUMENT_H

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"

/* What `smtune show` and the dashboard say of a run. 0, or -1. */

/* All about the run itself, an experiment's or a workflow's, but how much each
 * parameter matters (importance_view.h), which takes longer. */
int show_document_add_run(struct document *document, const struct cli *cli,
                          const struct run_view *view, struct err *err);
/* All about one of its trials, jobs or steps, named by an operand. */
int show_document_add_part(struct document *document, const struct cli *cli,
                           const struct run_view *view, const char *operand,
                           struct err *err);

#endif
