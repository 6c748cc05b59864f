/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_EFFICIENCY_H
#define SMTUNE_CLI_SHOW_JOBS_EFFICIENCY_H

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"

/* What the attempts of a run's jobs asked for, and what they used: a row for
 * each job, and the sums. operand: of this job alone; NULL: of all. 0, or -1.
 */
int efficiency_add(struct document *document, const struct run_view *view,
                   const char *operand, struct err *err);

#endif
