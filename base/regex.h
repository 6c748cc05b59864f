/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_REGEX_H
#define SMTUNE_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * A user's regular expression (PCRE2), searched in bytes of any kind with JIT
 * where there is one. Both its length and the work of a search are bounded: by
 * how often it goes back, for each place where a match may begin, which is
 * enough for a pattern of a user's own file. A pattern of a stranger can do
 * much between two such steps, and is bounded in time.
 */

enum regex_scope {
    REGEX_LINE,   /* what is searched is one line */
    REGEX_SEARCH, /* the same, of very many, for anybody: at most
                     REGEX_SEARCH_MAX_MS of the processor for each */
    REGEX_TEXT    /* many lines, ended by LF, CR or both: ^ and $ hold at each,
                     and . stays in its own */
};

enum { REGEX_SEARCH_MAX_MS = 200 };

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
 * beginning and end. Its parts, from the first one on, share their limits. */
int regex_find_part(struct regex *regex, const char *text, size_t length,
                    bool has_beginning, bool has_end);
/* After a find: where group i (0: the whole) is in the text. Whether it took
 * part and is not empty. */
bool regex_group(const struct regex *regex, uint32_t group, size_t *start,
                 size_t *end);

#endif
