/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_REGEX_H
#define SMTUNE_BASE_METRICS_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A metric's regular expression (base/regex.h), for base/metrics/metrics.c. */

struct metric_match {
    double value;
    bool has_step;
    double step; /* -1 where its group is no number */
};

struct metric_regex;

/* ERR_FILE with err->column when it does not compile or has no group. */
struct metric_regex *metric_regex_create(const char *pattern, struct err *err);
void metric_regex_destroy(struct metric_regex *regex);

/* 1 when the line's first match has a number; 0 when not; -1 when the match
 * hit a limit. */
int metric_regex_match(struct metric_regex *regex, const char *line,
                       size_t length, struct metric_match *match);

#endif
