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
    TRIAL_MEAN,    /* also deviation, replicates: of the trials of a setting,
                      for cells[means] and the next one, which are null */
    TRIAL_ALL      /* also state, feasible, what its schedule gave it, times,
                      cause, attempts; and the same of its last attempt */
};

struct trial_table {
    const struct run_view *view;
    enum trial_detail detail;
    struct table_column *columns; /* [count] */
    struct value *cells;          /* [count] */
    size_t count;
    size_t means;
    size_t for_people; /* the first so many; those of the last attempt behind */
};

void trial_table_init(struct trial_table *table, const struct run_view *view,
                      enum trial_detail detail);
void trial_table_clear(struct trial_table *table);

/* The trial's cells: [table->count], the table's, until the next call. */
const struct value *trial_table_cells(struct trial_table *table,
                                      const struct trial_row *trial);

/* The record does not say which parameters are words: the cells do that were
 * made last. */
void trial_table_fit_columns(struct trial_table *table);

#endif
