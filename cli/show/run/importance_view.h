/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_IMPORTANCE_VIEW_H
#define SMTUNE_CLI_SHOW_RUN_IMPORTANCE_VIEW_H

#include "base/err.h"

struct cli;
struct document;
struct run_view;

/*
 * How much each parameter matters to each objective, the most important one
 * first: for programs the list "importance" of a document, for people bars, of
 * which they see the largest, or why there are none. Nothing where the run's
 * file no longer passes the checks. 0, or -1.
 */
int importance_view_add(struct document *document, const struct cli *cli,
                        const struct run_view *view, struct err *err);
/* The same, behind "results": how many there are; "needed": how many have to be
 * there; and "problem": why the file does not pass, or null. */
int importance_view_add_whole(struct document *document, const struct cli *cli,
                              const struct run_view *view, struct err *err);

#endif
