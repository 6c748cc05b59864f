/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_SCHEDULES_RUNNING_MEDIAN_H
#define SMTUNE_STRATEGIES_SCHEDULES_RUNNING_MEDIAN_H

#include <stddef.h>

struct number_heap {
    double *items; /* [count], the least first */
    size_t count, capacity;
};

/*
 * The median of numbers that come one by one: the lower half in one heap, the
 * upper in another, so that a number takes O(log n) and the median O(1).
 * Embedded: starts from all zeroes, ends with running_median_clear.
 */
struct running_median {
    struct number_heap low;  /* negated, so that the greatest is first */
    struct number_heap high; /* as many, or one less */
};

/* NaN counts as more than all others. */
void running_median_add(struct running_median *median, double number);
size_t running_median_count(const struct running_median *median);
/* Of an even count the mean of the two in the middle; NaN of none. */
double running_median_value(const struct running_median *median);
void running_median_clear(struct running_median *median);

#endif
