/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_IMPORTANCE_H
#define SMTUNE_STRATEGIES_IMPORTANCE_H

#include <stddef.h>

/*
 * How much each parameter decides whether a trial is among the best ones:
 * PED-ANOVA (S. Watanabe, A. Bansal, F. Hutter, "PED-ANOVA: Efficiently
 * quantifying hyperparameter importance in arbitrary subspaces", IJCAI 2023).
 *
 * The function that is taken apart is not the objective but the indicator of
 * its best share gamma'. The variance that parameter d alone explains of it is,
 * but for a factor that all share, the Pearson divergence between the density
 * of d among the best and that among all (the paper's theorem on the local
 * marginal variance):
 *
 *     v_d = (gamma' / gamma)^2 E_{x ~ p_all} [(p_best(x) / p_all(x) - 1)^2]
 *
 * So no model is fitted, and where the search itself looked more often does
 * not count. Two things are ours. Both densities have the same kernels, and
 * what v_d would be on average were the best a random choice is taken off: a
 * useless parameter comes to nothing instead of to what chance leaves with few
 * trials. And a conditional parameter is judged among the trials in which it is
 * active, times their share.
 */

struct history;

/* With fewer results nothing can be said. */
enum { IMPORTANCE_RESULTS_MIN = 10 };

/*
 * shares[history->dimension] of one objective, which sum to 1; a parameter with
 * one value has 0. All are 0 where there are too few results, or where none
 * stands out. Returns how many results they rest on: complete trials, whether
 * feasible or not. O(count (log count + dimension)).
 */
size_t importance_of(const struct history *history, size_t objective,
                     double *shares);

#endif
