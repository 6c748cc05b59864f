/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_TABLE_H
#define SMTUNE_CLI_TERM_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/value.h"
#include "cli/term/output.h"

struct buf;

/*
 * Rows as text in columns. The first TABLE_HELD rows are kept until all of
 * them are there, and settle the columns' widths; later rows are printed at
 * once, and a cell that is wider than its column pushes the rest to the right.
 */

enum { TABLE_HELD = 200 };

struct table_style {
    size_t max_columns; /* of the terminal; 0: no limit, nothing is cut */
    bool colour;
    bool utf8;
};

struct table;

/* columns are borrowed. */
struct table *table_create(const struct table_column *columns, size_t count,
                           struct table_style style);
void table_destroy(struct table *table);
/* Appends to *out what can be printed now: nothing while rows are held. */
void table_add(struct table *table, const struct value *cells, struct buf *out);
/* Appends the rows held, and the heading, if they have not been. */
void table_flush(struct table *table, struct buf *out);

#endif
