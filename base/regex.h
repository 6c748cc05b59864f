/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_REGEX_H
#define SMTUNE_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * A user's regular expression (PCRE2), searched in bytes of any kind with JIT
 * where there is one. Both its length and the work of a search are bounded.
 */

enum regex_scope {
    REGEX_LINE,   /* what is searched is one line */
    REGEX_SEARCH, /* the same, of very many while somebody waits: less work */
    REGEX_TEXT    /* many lines, ended by LF, CR or both: ^ and $ hold at each,
                     and . stays in its own */
};

struct regex;

/* ERR_FILE with err->column when it does not compile or is too long,
 * ERR_FAILED without memory. */
struct regex *regex_create(const char *pattern, enum regex_scope scope,
                           struct err *err);
void regex_destroy(struct regex *regex);

/* How many groups it has, and the number of a named one; 0: none. */
uint32_t regex_group_count(const struct regex *regex);
uint32_t regex_named_group(const struct regex *regex, const char *name);

/* 1 when it is found; 0 when not; -1 when the search hit its limits. */
int regex_find(struct regex *regex, const char *text, size_t length);
/* The same in a part of a line, where ^ and $ hold only at the line's own
 * beginning and end. */
int regex_find_part(struct regex *regex, const char *text, size_t length,
                    bool has_beginning, bool has_end);
/* After a find: where group i (0: the whole) is in the text. Whether it took
 * part and is not empty. */
bool regex_group(const struct regex *regex, uint32_t group, size_t *start,
                 size_t *end);

#endif
