/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_SQL_H
#define SMTUNE_BASE_EXPR_SQL_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/expr/expr.h"

/*
 * From an expression as a user wrote it to the SQL that SQLite compiles; only
 * base/expr/expr.c uses it. The text is taken apart into tokens, each of which
 * must be known: an operator, a literal, a word of an expression, a function of
 * the list, or a column, which becomes a bound parameter. Nothing else is ever
 * written, parentheses are balanced, and a comma only parts arguments; so no
 * text can leave the place that it is given.
 */

/* Where a token of the SQL came from. */
struct expr_place {
    size_t sql;    /* offset in `sql` */
    size_t source; /* offset in the text */
};

struct expr_sql {
    struct buf sql; /* "SELECT (...)" */
    char **names;   /* of all columns: "lr", "train.val_loss" */
    size_t name_count;
    size_t *columns; /* parameter ?i+1 is this column of expr_eval */
    size_t column_count, column_capacity;
    struct expr_place *places; /* in the order of both offsets */
    size_t place_count, place_capacity;
};

#define EXPR_SQL_INIT                                                          \
    {                                                                          \
        .sql = BUF_INIT                                                        \
    }

/* Errors as those of expr_compile. *out is the caller's to clear, always. */
int expr_sql_translate(const char *text, const struct expr_table *tables,
                       size_t table_count, struct expr_sql *out,
                       struct err *err);
void expr_sql_clear(struct expr_sql *sql);

/* What SQLite did not like at an offset of the SQL (-1: unknown), told in
 * terms of the text. Always -1. */
int expr_sql_explain(const struct expr_sql *sql, const char *text,
                     const char *message, int sql_offset, struct err *err);

#endif
