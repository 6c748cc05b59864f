/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_SCHEDULE_DECISIONS_H
#define SMTUNE_CLI_SHOW_RUN_SCHEDULE_DECISIONS_H

#include <stdint.h>

#include "base/err.h"

struct document;
struct run_view;

/* The list "rungs" of one job: each time that its schedule looked at it, what
 * it had reached, what was decided and why; and where it paused, what came of
 * that. Nothing for a run without a schedule. 0, or -1. */
int schedule_decisions_add(struct document *document,
                           const struct run_view *view, int64_t job,
                           struct err *err);

#endif
