/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_SCHEDULE_VIEW_H
#define SMTUNE_CLI_SHOW_RUN_SCHEDULE_VIEW_H

#include <stdint.h>

#include "base/err.h"

struct document;
struct run_view;

/*
 * What a run's schedule has made of its trials. Nothing for a run without one;
 * where the run's file no longer passes the checks, what the record alone says.
 * 0, or -1.
 */

/* The part "schedule": its method and options, how much of the resource was
 * used, and how much the budget has. */
int schedule_view_add(struct document *document, const struct run_view *view,
                      struct err *err);

/* The list "rungs": how many trials the plan has at each, how many came to it
 * and what became of them, and the worst value with which one was promoted. */
int schedule_view_add_rungs(struct document *document,
                            const struct run_view *view, struct err *err);

#endif
