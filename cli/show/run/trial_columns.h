/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_TRIAL_COLUMNS_H
#define SMTUNE_CLI_SHOW_RUN_TRIAL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/show/run/trial_table.h"

/*
 * All columns that a run's trials have: those of a trial_table, and the last
 * value of each metric that is not among them. A column's name is its key, with
 * its group in front ("metrics.lr") where an earlier column has the same; that
 * of the only objective is `value` or the metric's. Embedded.
 */
struct trial_columns {
    struct trial_table table;
    struct table_column *columns; /* [count] */
    char **names;                 /* [count], as users write them */
    struct value *cells;          /* [count + 1]: of the trial filled in last;
                                     the last is the only objective's again */
    size_t count;
    char **metrics; /* [metric_count], in the order of their columns */
    size_t metric_count, metric_capacity;
    const struct run_view *view;
    struct err *err;
};

/* The metrics are left out where nobody needs them: to find their names takes a
 * look at each job. view and err outlive it. -1 with *err; to be cleared
 * in any case. */
int trial_columns_init(struct trial_columns *columns,
                       const struct run_view *view, enum trial_detail detail,
                       bool with_metrics, struct err *err);
void trial_columns_clear(struct trial_columns *columns);

/* -1 (ERR_USAGE): there is no such column; the nearest is named. */
int trial_columns_find(const struct trial_columns *columns, const char *name,
                       size_t *place);
/* The second name of the only objective's column, of which the cell is
 * cells[count]; NULL: it has none. */
const char *trial_columns_alias(const struct trial_columns *columns);

/*
 * Which columns are shown, in their order, as places: those of `wanted`, names
 * with commas between; or (NULL) all, and to people the first alone. The caller
 * frees *places. -1 (ERR_USAGE): there is no such column.
 */
int trial_columns_choose(const struct trial_columns *columns,
                         const char *wanted, bool for_people, size_t **places,
                         size_t *count);

/* Fills the cells. -1 where the record cannot be read. */
int trial_columns_fill(struct trial_columns *columns,
                       const struct trial_row *trial);

#endif
