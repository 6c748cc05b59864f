/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_TRIAL_TABLE_H
#define SMTUNE_CLI_SHOW_RUN_TRIAL_TABLE_H

#include <stddef.h>

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "cli/term/output.h"

/*
 * Trials as rows: the columns that a run's objectives and parameters give, and
 * a trial's cells in them. Embedded; view outlives it.
 */

enum trial_detail {
    TRIAL_SETTING, /* id, value or values, outcomes, params */
    TRIAL_ALL      /* also state, feasible, what its schedule gave it, started,
                      ended, cause, attempts */
};

struct trial_table {
    const struct run_view *view;
    enum trial_detail detail;
    struct table_column *columns; /* [count] */
    struct value *cells;          /* [count] */
    size_t count;
    struct output *output; /* made for the first row */
    const struct cli *cli;
    struct err *err; /* of trial_table_row */
};

/* err, of the caller's, is where trial_table_row says what went wrong. */
void trial_table_init(struct trial_table *table, const struct cli *cli,
                      const struct run_view *view, enum trial_detail detail,
                      struct err *err);
void trial_table_clear(struct trial_table *table);

/* The trial's cells: [table->count], the table's, until the next call. */
const struct value *trial_table_cells(struct trial_table *table,
                                      const struct trial_row *trial);

/* The record does not say which parameters are words: the cells do that were
 * made last. */
void trial_table_fit_columns(struct trial_table *table);

/* Writes it as a row. For store_each_trial, with the table as user. */
int trial_table_row(void *user, const struct trial_row *trial);
/* Ends the output, also where there was no row. 0, or -1. */
int trial_table_finish(struct trial_table *table, struct err *err);

/* Trials with all that is known of them, from the first row to the last. 0, or
 * -1. */
int trial_table_print(const struct cli *cli, const struct run_view *view,
                      const struct trial_query *query, struct err *err);

#endif
