/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_CURVE_H
#define SMTUNE_ORCHESTRATOR_JOB_CURVE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/*
 * The curve of one metric of a job: which of its points the record keeps. A
 * curve that gets longer than CURVE_MAX_POINTS is thinned to half of them, and
 * from then on takes every second point of those that it took before. It always
 * has its first, last, smallest and largest point. Embedded.
 */

enum { CURVE_MAX_POINTS = 10000 };

/* A point that is kept if no later one takes its place. */
struct held_point {
    struct metric_new point; /* its name is the curve's */
    bool is_held;
};

struct job_curve {
    char *name;
    uint32_t hash;  /* of the name */
    int64_t points; /* that came */
    int64_t kept;   /* about as many are in the record */
    int64_t stride; /* of those that come, each stride-th is kept */
    double last;
    double least, most; /* finite; NaN: none yet */
    struct held_point held_last, held_least, held_most;
};

/* Copies the name. */
void curve_init(struct job_curve *curve, const char *name);
void curve_clear(struct job_curve *curve);

/* A point that is in the record already. */
void curve_count(struct job_curve *curve, double value);
/* A new one; its name is not read. Whether it is to be recorded now; else it is
 * held as long as it may be of the kept ones. */
bool curve_take(struct job_curve *curve, const struct metric_new *point);
/* Whether the recorded points are to be thinned now (store_thin_metric), of
 * which it takes note. */
bool curve_thins(struct job_curve *curve);
/* The next point that is held, which is no more; NULL: none. Valid until the
 * next call. */
const struct metric_new *curve_release(struct job_curve *curve);

#endif
