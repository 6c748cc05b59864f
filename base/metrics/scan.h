/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_SCAN_H
#define SMTUNE_BASE_METRICS_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* The built-in patterns of base/metrics/metrics.h, for one line; no state. */

enum { METRIC_LINE_MAX_PAIRS = 4096 };

struct metric_pair {
    const char *name; /* in the line or in pairs->names, `length` bytes */
    size_t length;
    size_t lead; /* how many of these are in front of the bare name */
    double value;
};

/* Zeroed at first; its owner calls metric_pairs_clear(). */
struct metric_pairs {
    struct metric_pair *items;
    size_t count, capacity;
    struct buf names; /* of members of nested objects */
    bool is_json;     /* the line was one JSON object */
};

void metric_pairs_clear(struct metric_pairs *pairs);

/* Replaces *pairs by those of the line, in order. */
void metric_scan_line(const char *line, size_t length,
                      struct metric_pairs *pairs);

/*
 * The number that the line has for a name of any form: behind the name come
 * blanks, = : | or a line of a table, and then the number. Returns where the
 * name is in the line, or NULL; *is_mentioned is set where the name is there at
 * all. The match ignores case and what parts words.
 */
const char *metric_scan_for(const char *line, size_t length, const char *name,
                            double *value, bool *is_mentioned);

/* For scan.c and json.c: adds one, unless there are too many. */
void metric_pairs_add(struct metric_pairs *pairs,
                      const struct metric_pair *pair);
/* Whether the line is one JSON object; its numbers, if so. */
bool metric_scan_json(const char *line, const char *end,
                      struct metric_pairs *pairs);

#endif
