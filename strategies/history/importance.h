/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_HISTORY_IMPORTANCE_H
#define SMTUNE_STRATEGIES_HISTORY_IMPORTANCE_H

#include <stddef.h>

/*
 * How much of an objective's variance over the whole search space each
 * parameter accounts for, in the manner of functional ANOVA on a forest (F.
 * Hutter, H. Hoos, K. Leyton-Brown, "An efficient approach for assessing
 * hyperparameter importance", ICML 2014): a model of the results is taken
 * apart, not the results, so that it matters little where a search looked more
 * often. What several parameters do only together is credited to the one that
 * the tree splits last. See variance_tree.h.
 *
 * Measures that compare where the best results lie with where all lie, such as
 * PED-ANOVA (Watanabe et al., IJCAI 2023), need no model, but find nothing in a
 * parameter that a search has settled: then both lie in the same place.
 *
 * Values count on the scale asinh((value - median) / s), s three times the way
 * from the best to the upper quartile: even near the good ones, and outliers by
 * their magnitude. A conditional parameter is split only where it is active, so
 * that it counts by the share of the space where it is.
 */

struct history;

/* With fewer results nothing can be said. */
enum { IMPORTANCE_RESULTS_MIN = 10 };

/*
 * shares[history->dimension] of one objective, which sum to 1; a parameter with
 * one value has 0. All are 0 where there are too few results, or where none
 * stands out. Returns how many results they rest on: complete trials, whether
 * feasible or not. Each tree takes at most 1,000 of them.
 */
size_t importance_of(const struct history *history, size_t objective,
                     double *shares);

#endif
