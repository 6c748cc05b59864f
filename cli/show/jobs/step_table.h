/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_STEP_TABLE_H
#define SMTUNE_CLI_SHOW_JOBS_STEP_TABLE_H

#include "cli/show/jobs/step_list.h"
#include "cli/term/output.h"

/* The steps of a workflow for people: a row each, in the order of the graph. */

enum { STEP_TABLE_COLUMNS = 5 };

extern const struct table_column step_table_columns[STEP_TABLE_COLUMNS];

/*
 * Hands out at most rows_max of the steps, those that matter now, and then a
 * row on what the others do; rows_max 0: all of them. now_ms as that of
 * step_line_duration_ms. Ends with what `row` returned if that is not 0.
 */
int step_table_each(const struct step_list *list, size_t rows_max,
                    int64_t now_ms,
                    int (*row)(void *user, const struct value *cells),
                    void *user);

#endif
