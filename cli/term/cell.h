/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_CELL_H
#define SMTUNE_CLI_TERM_CELL_H

#include <stdbool.h>

#include "base/json.h"
#include "base/value.h"
#include "cli/term/output.h"

struct buf;

/* One value of a column as each format shows it. */

/* Appends it for people, on one line and free of control bytes. */
void cell_print_table(const struct table_column *column,
                      const struct value *cell, struct buf *out);
/* Appends it exact, quoted where CSV or a spreadsheet asks for it. */
void cell_print_csv(const struct table_column *column, const struct value *cell,
                    struct buf *out);
/* A new reference. */
json_t *cell_to_json(const struct table_column *column,
                     const struct value *cell);

/* Whether a table shows the column's cells at its right edge. */
bool column_is_right_aligned(const struct table_column *column);

/* Appends text as a CSV field: one that a spreadsheet would run as a formula,
 * which begins with = + - @, a tab or a carriage return and is no number, has
 * an apostrophe in front; so has one that begins with apostrophes and then with
 * these, so that a reader can take exactly one away. */
void csv_print_text(const char *text, struct buf *out);

#endif
