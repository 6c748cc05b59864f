/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_HELD_POINTS_H
#define SMTUNE_ORCHESTRATOR_JOB_HELD_POINTS_H

#include <stddef.h>

#include "base/metrics/metrics.h"

/* Points of an attempt that wait until it is known which steps they have, see
 * orchestrator/engine/source/restart.c. Zeroed at first. */
struct held_points {
    struct metric_point *points; /* names are its own */
    size_t count, capacity;
    double last; /* step of the metric that the schedule compares */
};

struct held_points *held_points_create(void);
void held_points_destroy(struct held_points *held);
void held_points_add(struct held_points *held,
                     const struct metric_point *point);

#endif
