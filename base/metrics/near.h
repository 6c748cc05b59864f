/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_NEAR_H
#define SMTUNE_BASE_METRICS_NEAR_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* So much of the end of a log is worth a look. */
enum { METRIC_NEAR_BYTES = 256 << 10 };

/* A line that has a metric in a form that no built-in pattern finds. */
struct metric_near {
    char line[61];  /* its beginning, as a terminal would show it */
    char regex[91]; /* that finds the number in it */
};

/* The line of a log that comes nearest to having the metric: with its name and
 * a number behind, or with a number of a similar name. False: none does. */
bool metric_near_find(const char *name, const char *log, size_t length,
                      struct metric_near *near);

/* Appends how an experiment file finds the metric in that line, as a part of a
 * sentence. */
void metric_near_print(const struct metric_near *near, const char *name,
                       struct buf *out);

#endif
