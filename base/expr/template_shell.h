/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_TEMPLATE_SHELL_H
#define SMTUNE_BASE_EXPR_TEMPLATE_SHELL_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * Where in a shell script one single-quoted word may be put without its bytes
 * being read as anything else; for base/expr/template.c. The script is followed
 * from its start. Where dash and bash read a construct differently, or only a
 * full parser could follow, no value is allowed behind it.
 */

enum { SHELL_NESTING_MAX = 32 };

struct shell_scan {
    const char *trouble;              /* why no value may come any more */
    char inside;                      /* of ' # ` { + for $((, ( for ((, or 0 */
    char before;                      /* the last byte */
    int parens;                       /* of $((...)) */
    int depth;                        /* of contexts */
    char contexts[SHELL_NESTING_MAX]; /* '"', '$' or '(' */
};

#define SHELL_SCAN_INIT                                                        \
    {                                                                          \
        .before = '\n'                                                         \
    }

/* Follows what begins at `at` (not at its NUL), with `behind` it; the number
 * of bytes it took, 1 or 2. */
size_t shell_scan_step(struct shell_scan *scan, const char *at);

/* A value was put here. */
void shell_scan_value(struct shell_scan *scan);

/* A `${{` that is not for us was put here. */
void shell_scan_literal(struct shell_scan *scan);

/* NULL when a value may stand here, else why not: "inside double quotes". */
const char *shell_scan_refusal(const struct shell_scan *scan);

/* Appends one single-quoted word. */
void shell_quote(const char *text, struct buf *out);

/* Appends one word for people to read and paste, quoted where it has to be. */
void shell_add_word(const char *word, struct buf *out);

#endif
