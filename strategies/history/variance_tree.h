/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_HISTORY_VARIANCE_TREE_H
#define SMTUNE_STRATEGIES_HISTORY_VARIANCE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng;

/*
 * A regression tree over results whose settings are in bins, grown to say how
 * much of a value's variance over the whole space each parameter accounts for,
 * wherever the results lie.
 *
 * A tree's variance under even weights on all bins is a sum over its splits:
 *
 *     volume p (1 - p) (mean_left - mean_right)^2
 *
 * with the share of the space that the node is, the share p of it that goes
 * left, and the means over the space (law of total variance); each term is
 * credited to the parameter split. Half of the results choose the splits, the
 * other half give the means (honest trees: S. Wager, S. Athey, "Estimation and
 * inference of heterogeneous treatment effects using random forests", JASA
 * 113(523), 2018), so that the means' own variance is known and can be taken
 * off: a parameter without effect has 0 on average.
 */

enum {
    VARIANCE_BINS = 32, /* of one parameter at most */
    VARIANCE_INACTIVE = 255
};

struct variance_table {
    size_t dimension;
    const uint8_t *bins;       /* [row][dimension], or VARIANCE_INACTIVE */
    const uint8_t *bin_counts; /* [dimension]; one with 1 is never split */
    const bool *is_unordered;  /* [dimension]: a split takes any bins */
    const double *values;      /* [row], finite */
};

/* Grows a tree on the first count of rows, which come in a random order, and
 * adds what it finds to explained[dimension]. Reorders rows. A parameter is
 * split only where it is active in all. O(count dimension depth). */
void variance_tree_add(const struct variance_table *table, size_t *rows,
                       size_t count, struct rng *rng, double *explained);

#endif
