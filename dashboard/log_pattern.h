/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_LOG_PATTERN_H
#define SMTUNE_DASHBOARD_LOG_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct buf;

/* What is looked for in a log: a text, or a regular expression. */

enum { LOG_PATTERN_MAX_BYTES = 1024 };

struct log_pattern_options {
    bool is_regex;
    bool ignores_case; /* of the letters A to Z */
};

struct log_pattern;

/* ERR_USAGE where it is empty, too long, or no regular expression. */
struct log_pattern *log_pattern_create(
    const char *text, const struct log_pattern_options *options,
    struct err *err);
void log_pattern_destroy(struct log_pattern *pattern);
bool log_pattern_is_regex(const struct log_pattern *pattern);

/* Where it was found, in bytes. */
struct log_match {
    size_t start, end;
};

/* Bytes as log_pattern_find_text wants them: the same where case counts, else
 * in *folded, in place of what that held. */
const char *log_pattern_fold(const struct log_pattern *pattern,
                             const char *bytes, size_t length,
                             struct buf *folded);
/* The first place of a text, in folded bytes of any number of lines. */
bool log_pattern_find_text(const struct log_pattern *pattern,
                           const char *folded, size_t length,
                           struct log_match *match);
/*
 * The first place of a text, or a place of a regular expression, in one line. A
 * regular expression is matched within pieces of 1 KiB of a line, because its
 * time may grow with the length times the length, and for REGEX_SEARCH_MAX_MS
 * at most. 1: found; 0: not; -1: a match would have taken too long.
 */
int log_pattern_find(struct log_pattern *pattern, const char *line,
                     size_t length, struct log_match *match);

#endif
