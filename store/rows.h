/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_ROWS_H
#define SMTUNE_STORE_ROWS_H

#include <sqlite3.h>

#include "store/schema/columns.h"
#include "store/statements.h"

/*
 * SQL and readers made of the lists in store/schema/columns.h: a column is read
 * by its constant place among those that were selected. A SELECT of a table
 * names its columns first, in the list's order, and behind them what it adds
 * from the place TABLE_COLUMN_COUNT on.
 */

/* "id", "name", ... */
#define COLUMN_NAME_KEY(cell, column, kind, member) "\"" #column "\""
#define COLUMN_NAME(cell, column, kind, member)     ", \"" #column "\""
#define COLUMN_NAMES(COLUMNS)                       COLUMNS(COLUMN_NAME_KEY, COLUMN_NAME)

/* [RUN_CELL_ID] = "id", ... */
#define COLUMN_ENTRY(cell, column, kind, member) [cell] = #column,
#define COLUMN_ENTRIES(COLUMNS)                  COLUMNS(COLUMN_ENTRY, COLUMN_ENTRY)

/* Of all columns, to be bound in the list's order; the second one with run_id
 * behind them. An id of NULL becomes the next one. */
#define COLUMN_MARK_KEY(cell, column, kind, member) "?"
#define COLUMN_MARK(cell, column, kind, member)     ", ?"
#define INSERT_ROW(table, COLUMNS)                                             \
    "INSERT INTO " table " (" COLUMN_NAMES(COLUMNS) ") VALUES (" COLUMNS(      \
        COLUMN_MARK_KEY, COLUMN_MARK) ")"
#define INSERT_ROW_OF_RUN(table, COLUMNS)                                      \
    "INSERT INTO " table                                                       \
    " (" COLUMN_NAMES(COLUMNS) ", run_id) VALUES (" COLUMNS(                   \
        COLUMN_MARK_KEY, COLUMN_MARK) ", ?)"

/* row->id = ...; row->name = ...; of `statement`, which stands on a row. */
#define COLUMN_READ(cell, column, kind, member)                                \
    row->member = READ_##kind(statement, cell);
#define COLUMN_READS(COLUMNS) COLUMNS(COLUMN_READ, COLUMN_READ)

#define READ_INT   sqlite3_column_int64
#define READ_INDEX store_column_index
#define READ_BITS(statement, cell)                                             \
    ((uint64_t)sqlite3_column_int64(statement, cell))
#define READ_REAL                  store_column_real
#define READ_FLAG(statement, cell) (sqlite3_column_int(statement, cell) != 0)
#define READ_TEXT                  store_column_text
#define READ_TEXT_OR_NULL          store_column_text_or_null
#define READ_REALS                 store_column_text

/* In SQL: whether a value is a number (NULL is NaN), and whether those of all
 * objectives of the job are. */
#define IS_FINITE(v) v ".value > -9e999 AND " v ".value < 9e999"
#define HAS_FINITE_VALUES                                                      \
    "NOT EXISTS (SELECT 1 FROM job_value AS w WHERE w.job_id = job.id"         \
    " AND NOT ifnull(" IS_FINITE("w") ", 0))"

#endif
