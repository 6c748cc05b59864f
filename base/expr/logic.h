/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_LOGIC_H
#define SMTUNE_BASE_EXPR_LOGIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * What SQLite accepts and nobody means, for base/expr/expr.c. A chain of
 * comparisons (a < b < c compares a truth value with c), || in place of OR
 * between comparisons, and a text in place of a condition (x = 'a' OR 'b').
 *
 * 0, or -1 with an error as of expr_compile. `text` has been translated without
 * an error.
 */
int expr_check_logic(const char *text, struct err *err);

/* What to write for a word of another language that has no meaning here; NULL:
 * nothing is known of it. */
const char *expr_word_hint(const char *word);

/* A part of a text, in bytes. */
struct expr_span {
    size_t offset, length;
};

/* Whether an expression compares a plain column with a number, as in x > 3;
 * *found is the first such comparison. */
bool expr_compares_with_number(const char *text, const char *name,
                               struct expr_span *found);

#endif
