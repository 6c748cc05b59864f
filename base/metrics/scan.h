/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_SCAN_H
#define SMTUNE_BASE_METRICS_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* The built-in patterns of base/metrics/metrics.h, for one line; no state. */

enum { METRIC_NAME_MAX = 128, METRIC_LINE_MAX_PAIRS = 4096 };

struct metric_pair {
    const char *name; /* in the line, `length` bytes */
    size_t length;
    double value;
};

/* Zeroed at first; whoever owns it frees `items`. */
struct metric_pairs {
    struct metric_pair *items;
    size_t count, capacity;
};

/* Replaces *pairs by those of the line, in order. */
void metric_scan_line(const char *line, size_t length,
                      struct metric_pairs *pairs);

/*
 * The number that starts at `text`, before `end`: how many bytes it takes, 0
 * when none is there. After it comes no letter, digit or '_' (so 0x10, 12ms
 * and 1_000 are none), nor more of a date, a time or a version.
 */
size_t metric_scan_number(const char *text, const char *end, double *value);

/* Whether it is [A-Za-z_][A-Za-z0-9_./-]*, of METRIC_NAME_MAX at most. */
bool metric_is_name(const char *text, size_t length);

#endif
