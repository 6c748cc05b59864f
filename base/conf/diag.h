/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_CONF_DIAG_H
#define SMTUNE_BASE_CONF_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/err.h"

struct buf;

/*
 * What is wrong with one file that a user wrote, found all at once: up to 20
 * messages, each at a place, shown the way a compiler shows them:
 *
 *     exp.yaml:14:7: error: unknown key 'distributon' in parameter 'lr'
 *      14 |       distributon: log_uniform
 *         |       ^~~~~~~~~~~ did you mean 'distribution'?
 *
 * The object owns a copy of the file's text, of which it shows the lines. A
 * checker may be given NULL, which keeps nothing: only its result counts then.
 */

enum { DIAG_MAX = 20 };

struct diag_place {
    int line;   /* 1-based; 0: the file as a whole */
    int column; /* 1-based, in characters */
    int length; /* characters to underline, at least 1 */
};

struct diag {
    struct diag_place place;
    char *text; /* one line, lower case, quoting the bad value */
    char *help; /* "did you mean 'x'?", or NULL */
};

struct diags;

/* path: of the file, as messages name it. Never NULL. */
struct diags *diags_create(const char *path);
void diags_destroy(struct diags *diags);
/* Its messages are shown as warnings, not as errors. */
void diags_make_warnings(struct diags *diags);
/* Gives the text whose lines are shown. */
void diags_set_source(struct diags *diags, const char *text, size_t length);

/* Adds a message; beyond DIAG_MAX only counts. The same at the same place
 * counts once. `help` NULL or printf-free
 * text. Always -1, so that a checker can return it. */
int diags_add(struct diags *diags, struct diag_place place, const char *help,
              const char *format, ...) PRINTF_LIKE(4, 5);
/* Adds with help "did you mean 'nearest'?" when a candidate is near, else
 * "one of: a, b, c" when the list is short (at most 12). */
int diags_add_unknown(struct diags *diags, struct diag_place place,
                      const char *word, const char *const *candidates,
                      size_t count, const char *format, ...) PRINTF_LIKE(6, 7);

size_t diags_count(const struct diags *diags); /* those past DIAG_MAX too */
/* Message i < min(count, DIAG_MAX), in order of line and column. */
const struct diag *diags_get(struct diags *diags, size_t i);

/* Appends all of them as above, with ANSI colour if asked, and a last line
 * "and 7 more errors" where some were not kept. */
void diags_render(struct diags *diags, bool colour, struct buf *out);

/* The first one as an error (ERR_FILE). Always -1. */
int diags_to_err(struct diags *diags, struct err *err);

#endif
