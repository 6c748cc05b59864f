/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_COLUMNS_COLUMN_H
#define SMTUNE_DASHBOARD_COLUMNS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/value.h"

struct blob;
struct word_list;

/*
 * A column of a table in the form of columns.h. A cell is put and read as a
 * real, which holds each of the types; NaN is "none" in all of them.
 */

/* X(symbol, name, bytes of a cell, largest number; 0: a real) */
#define COLUMN_TYPES(X)                                                        \
    X(COLUMN_U8, "u8", 1, UINT8_MAX)                                           \
    X(COLUMN_U16, "u16", 2, UINT16_MAX)                                        \
    X(COLUMN_U32, "u32", 4, UINT32_MAX)                                        \
    X(COLUMN_F64, "f64", 8, 0)

enum column_type {
#define X(symbol, name, bytes, max) symbol,
    COLUMN_TYPES(X)
#undef X
};

struct column {
    char *name;
    enum column_type type;
    struct word_list *words; /* NULL: its cells are numbers */
    void *cells;             /* NULL: none yet */
    size_t capacity;         /* rows */
    bool is_hidden;          /* until a row has something */
};

/* Words to begin with, NULL-ended, so that they have the same places in all
 * tables: why an attempt, or the job, ended; and none. */
extern const char *const column_causes[];
extern const char *const column_no_words[];

/* Embedded. words (NULL-ended) are the first ones of a column whose cells are
 * words, of type COLUMN_U8 or COLUMN_U16; NULL: they are numbers. */
void column_init(struct column *column, const char *name, enum column_type type,
                 const char *const *words);
void column_clear(struct column *column);

/* Room for so many rows; what is new holds nothing. */
int column_reserve(struct column *column, size_t rows, struct err *err);

/* The row is one of those that there is room for. */
void column_put(struct column *column, size_t row, double number);
double column_get(const struct column *column, size_t row);
/* The word, or (NULL) none. */
void column_put_word(struct column *column, size_t row, const char *word);
/*
 * Any value. Where the column's cells are numbers and the value is a text or a
 * bool, the numbers of all rows before become words at first.
 */
void column_put_value(struct column *column, size_t row,
                      const struct value *value);

size_t column_bytes(const struct column *column); /* of memory */

/* A table that grows row by row. Embedded. */
struct column_table {
    struct column *columns;
    size_t count, rows;
};

/* With one more row at its end, which holds nothing. */
int column_table_add_row(struct column_table *table, struct err *err);

/*
 * The first `rows` rows of these columns, or (which other than NULL) those
 * rows, in the form of columns.h. The header, which this takes over, gets
 * "rows" and "columns". Hidden columns are left out.
 */
struct column_rows {
    const uint32_t *which; /* NULL: the first */
    size_t count;
};

struct blob *column_encode(json_t *header, const struct column *columns,
                           size_t count, const struct column_rows *rows);

#endif
