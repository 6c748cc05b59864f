/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_BENCH_REGRET_FUNCTIONS_H
#define SMTUNE_TESTS_BENCH_REGRET_FUNCTIONS_H

#include <stddef.h>

/*
 * Functions that optimisers have been tried on for decades, as collected by
 * Jamil and Yang, "A literature survey of benchmark functions for global
 * optimisation problems" (IJMMNO 4(2), 2013), on their usual domains.
 */

struct function {
    const char *name;
    double (*value)(const double *x, size_t count);
    double low, high;      /* of every coordinate */
    double from[2], to[2]; /* of the two of a plane, where from < to */
    /* A point of the smallest value, to a few digits: the first at_count
     * coordinates, all others as the last of these. */
    double at[10];
    size_t at_count;
};

extern const struct function functions[]; /* ended by one without a name */
const struct function *function_find(const char *name);

#endif
