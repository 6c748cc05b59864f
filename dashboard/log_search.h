/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_LOG_SEARCH_H
#define SMTUNE_DASHBOARD_LOG_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dashboard/log_pattern.h"

/*
 * Looks for the lines of logs in which a pattern is, as far as bytes and time
 * allow, and says where to go on. A line is searched without the escape
 * sequences of terminals; what a carriage return wrote over counts. In any
 * thread.
 */

/* How far it is in a log. */
struct log_place {
    int64_t byte;      /* the next one to be searched */
    int64_t line;      /* in which that is, from 1 */
    int64_t line_byte; /* where that line begins */
    bool is_found;     /* the line was found already */
};

/* The beginning of a log. */
#define LOG_PLACE_FIRST ((struct log_place){.line = 1})

struct log_line {
    int64_t line, byte; /* its number, and where it begins */
    /* Its text without escape sequences and its end; or, of one over
     * LOG_LINE_MAX_BYTES, a part of it. Borrowed. */
    const char *text;
    size_t length;
    struct log_match match; /* in the text */
};

enum {
    LOG_LINE_MAX_BYTES = 1 << 20, /* a longer line is searched in parts */
    LOG_SEARCH_MAX_MS = 300,
    LOG_SEARCH_MAX_BYTES = 256 << 20
};

struct log_search {
    struct log_pattern *pattern; /* borrowed */
    int64_t from;                /* lines that begin there or behind it */
    int64_t until;               /* as if the log ended there; 0: all of it */
    int64_t bytes_left;
    int64_t deadline_ms; /* of clock_monotonic_ms */
    /* A line that was found; 1: no more. */
    int (*found)(void *user, const struct log_line *line);
    void *user;
    int64_t undecided; /* lines whose match would have taken too long */
};

/* Whether a bound was met. */
bool log_search_is_over(const struct log_search *search);

/*
 * Searches a log from a place on, up to its present end, at least one line of
 * it, and moves the place. 1: the end was met; 0: a bound was, or `found` wants
 * no more; -1: it cannot be read.
 */
int log_search_file(struct log_search *search, int fd, struct log_place *place,
                    struct err *err);

#endif
