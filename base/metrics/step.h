/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_STEP_H
#define SMTUNE_BASE_METRICS_STEP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/metrics/scan.h"

/*
 * Which number of a line is the step of its metrics. The resource of a schedule
 * decides first: epochs is also epoch, num_epochs, trainer/epoch; then step,
 * epoch, iteration, iter, round come in this order; then a number in brackets
 * at the line's beginning.
 */

enum metric_step_rank {
    STEP_OWN,   /* the resource's name, singular */
    STEP_TOTAL, /* its plural, as some programs print it */
    STEP_OTHER, /* a common name of steps, in an order of its own */
    STEP_BRACKET = 16,
    STEP_NONE
};

/* The name of a resource, as it is compared. */
struct metric_resource {
    char core[64];   /* epoch; "": there is none */
    char plural[64]; /* epochs */
    char whole[64];  /* numepochs */
};

void metric_resource_set(struct metric_resource *resource, const char *name);

struct metric_step {
    int rank; /* enum metric_step_rank; the lower one counts */
    double value;
    size_t pair; /* that has it; pairs->count: none */
};

/* The step that the line names; rank STEP_NONE: it names none. */
struct metric_step metric_step_find(const struct metric_resource *resource,
                                    const char *line, size_t length,
                                    const struct metric_pairs *pairs);

/* The rank of a column or member with that name. */
int metric_step_rank(const struct metric_resource *resource, const char *name,
                     size_t length);

/* Whether the number may be a step: finite and not negative. */
bool metric_is_step(double value);

#endif
