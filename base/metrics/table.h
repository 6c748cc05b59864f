/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_TABLE_H
#define SMTUNE_BASE_METRICS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/metrics/step.h"

/*
 * Tables that grow by a row at a time: a line with the names of columns, then
 * lines with a number in the first one. Columns are parted by two blanks, tabs
 * or lines of a table.
 */

enum { METRIC_COLUMNS_MAX = 64 };

struct metric_cell {
    size_t start, end; /* bytes of the line */
};

/* The table that is read now; zeroed: none. */
struct metric_table {
    struct metric_cell columns[METRIC_COLUMNS_MAX];
    size_t rules[METRIC_COLUMNS_MAX]; /* that ask for it; SIZE_MAX: none */
    size_t count;                     /* 0: there is no table */
    size_t step;                      /* column; count: none */
};

/* Which rule asks for a column's name; SIZE_MAX: none. */
typedef size_t (*metric_rule_fn)(const void *user, const char *name,
                                 size_t length);

/* Takes the line for the names of a new table if one of them is asked for. */
bool metric_table_begin(struct metric_table *table,
                        const struct metric_resource *resource,
                        const char *line, size_t length, metric_rule_fn rule_of,
                        const void *user);

/* Whether the line is a row of the table; its cells by column then, empty ones
 * with end = start. */
bool metric_table_row(const struct metric_table *table, const char *line,
                      size_t length,
                      struct metric_cell cells[METRIC_COLUMNS_MAX]);

#endif
