/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_EXPR_H
#define SMTUNE_BASE_EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/value.h"

/*
 * Expressions are SQLite expressions on a private in-memory connection that
 * can read nothing but the columns it is given: an authorizer allows pure
 * functions alone, limits bound length, depth and running time, and only one
 * expression is accepted (no second column, no sub-select, no statement).
 * Names are exact in case; one that is no plain word ("val-error"), or is a
 * word of expressions ("in", "case", ...), stands in double quotes; texts
 * stand in single ones. Results are at most 16 KiB.
 * Not for threads: an expr_env and its expressions belong to one thread.
 */

struct expr_env;
struct expr;

/* The names an expression may use: `table` NULL for plain columns ("lr"),
 * or a step's name ("train.val_loss"). Borrowed during the call only. */
struct expr_table {
    const char *table;
    const char *const *columns;
    size_t column_count;
    /* [argument_count] columns that ${{ args }} and ${{ overrides }} of a
     * template list, in this order; NULL: it has no such words. */
    const size_t *arguments;
    size_t argument_count;
    /* Of the first table: 1 + the column with the folder for the lists of
     * ${{ files(...) }}; 0: its templates have none. */
    size_t directory;
};

/* NULL with ERR_FAILED: no memory for the evaluator. */
struct expr_env *expr_env_create(struct err *err);
void expr_env_destroy(struct expr_env *env); /* after all its expressions */

/* The characters that functions have compared in all evaluations so far: a
 * measure of the time, and the same on every machine. */
int64_t expr_env_work(const struct expr_env *env);

/*
 * Compiles text. The values given to expr_eval are those of all tables'
 * columns, in the order of `tables`. On error ERR_FILE, with err->column the
 * 1-based character of `text` where it went wrong (or 1), and for an unknown
 * name the nearest known one in the text. The caller destroys the result.
 */
struct expr *expr_compile(struct expr_env *env, const char *text,
                          const struct expr_table *tables, size_t table_count,
                          struct err *err);
void expr_destroy(struct expr *expr);

/* A name with its table in front, in an expression: train.val_loss. */
struct expr_reference {
    const char *table; /* without quotes */
    size_t table_length;
    size_t offset, end; /* of the whole, in bytes of the text */
};

/* The first such name at or behind `from`; false: none, or from there on the
 * text is no expression. */
bool expr_find_reference(const char *text, size_t from,
                         struct expr_reference *found);

/* Whether the expression reads column `index` (in the order of expr_eval). */
bool expr_uses(const struct expr *expr, size_t index);
/* Whether it is one name and nothing else. */
bool expr_is_name(const struct expr *expr);

/*
 * Evaluates. values[] has as many entries as there are columns. A name alone
 * gives its value as it is; within a larger expression a bool is 0 or 1, a
 * NaN is null, and comparing with null gives null. A text result
 * lives until the next evaluation of this expression or its destruction.
 * Errors (overflow, a runaway) are ERR_FAILED.
 */
int expr_eval(struct expr *expr, const struct value *values,
              struct value *result, struct err *err);

#endif
