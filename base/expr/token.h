/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_TOKEN_H
#define SMTUNE_BASE_EXPR_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The tokens of an expression, as SQLite would part them; for
 * base/expr/. They are pieces of the text and end with it. */

enum expr_token_type {
    EXPR_END,
    EXPR_WORD,     /* a keyword, or a name without quotes */
    EXPR_NAME,     /* a name in double quotes, which are part of it */
    EXPR_TEXT,     /* a text in single quotes, which are part of it */
    EXPR_NUMBER,   /* 1, 1.5e-3, .5, 0x10 */
    EXPR_OPERATOR, /* but for . */
    EXPR_DOT,
    EXPR_OPEN,
    EXPR_CLOSE,
    EXPR_COMMA
};

struct expr_token {
    enum expr_token_type type;
    const char *start;
    size_t length;
};

/* The token at or behind `at`. A comment, a parameter, a semicolon, a literal
 * without an end and the like are errors at a place in `text`. */
int expr_token_next(const char *text, const char *at, struct expr_token *token,
                    struct err *err);

/* Whether the token is this word, in any case. */
bool expr_token_is(const struct expr_token *token, const char *word);
/* Whether it is one of these words. */
bool expr_token_is_among(const struct expr_token *token,
                         const char *const *words, size_t count);

/* ERR_FILE with the column of `at` in text; bytes that cannot be shown are
 * escaped. Always -1. */
int expr_token_error(const char *text, const char *at, struct err *err,
                     const char *format, ...) PRINTF_LIKE(4, 5);

#endif
