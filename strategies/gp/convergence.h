/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_CONVERGENCE_H
#define SMTUNE_STRATEGIES_GP_CONVERGENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "strategies/space/space.h"
#include "strategies/strategy.h"

/*
 * Whether a search of one objective has found what there is to find. A Gaussian
 * process of the results, whatever method they came by, says what the best next
 * trial would gain: the expected improvement where it is largest (in the manner
 * of A. Makarova et al., "Automatic Termination for Hyperparameter
 * Optimization", AutoML 2022, whose bound on the regret is more cautious). The
 * search has converged when that is a small part of what counts as an
 * improvement, several times in a row.
 *
 * What counts is a share of the best value's size, or of the distance from the
 * median to the best where that is larger: near a best value of 0 no share of
 * it would ever be small.
 *
 * Pure in (options, space, results in their order). Asked late, it comes to the
 * same: only the last few looks count.
 */
struct convergence;

enum { CONVERGENCE_RESULTS_MIN = 24 }; /* never before so many */

struct convergence_options {
    uint64_t seed;
    double improvement;   /* the share */
    size_t outcome_count; /* constraints on outcomes */
};

/* space is borrowed. */
struct convergence *convergence_create(
    const struct convergence_options *options, struct space *space);
void convergence_destroy(struct convergence *convergence); /* NULL is none */

/* Where a trial is that has been suggested; trials come in the order of their
 * numbers. */
void convergence_ask(struct convergence *convergence, uint64_t trial,
                     const struct value *point);
/* The next result, as strategy_tell(). A trial's second one is one more. */
void convergence_tell(struct convergence *convergence, uint64_t trial,
                      const struct trial_result *result);

/* By the results so far. Looks at a model from the 20th result on, or from 4
 * for each parameter, at each result at first, and at every twentieth part
 * later on. False also where there is no memory for a model. */
bool convergence_reached(struct convergence *convergence);

#endif
