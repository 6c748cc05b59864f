/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_FUNCTION_H
#define SMTUNE_BASE_EXPR_FUNCTION_H

#include <stddef.h>

/* The functions of SQLite that an expression may call, pure ones alone, flag()
 * of base/expr/expr.c, and those of base/expr/text_functions.h. */

struct expr_function {
    const char *name;
    int min_args, max_args;
};

/* By name, in any case; NULL: none such. */
const struct expr_function *expr_function_find(const char *name, size_t length);

/* The one that `name` may have meant, or NULL. */
const char *expr_function_nearest(const char *name);

/* 0 when the function takes `count` arguments; else -1 and why not. */
int expr_function_check(const struct expr_function *function, int count,
                        char *message, size_t size);

#endif
