/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_WHY_DOCUMENT_H
#define SMTUNE_CLI_SHOW_WHY_DOCUMENT_H

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"

/*
 * Adds why a trial was chosen: the method, its step, what it expected of the
 * trial and what that came to, where it waits, and what its schedule decided
 * about it; of a workflow why_job_add. 0, or -1.
 */
int why_document_add(struct document *document, const struct run_view *view,
                     const char *operand, struct err *err);

#endif
