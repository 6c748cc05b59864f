/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_MAXIMISE_H
#define SMTUNE_STRATEGIES_GP_MAXIMISE_H

#include "base/rng.h"
#include "strategies/gp/acquisition.h"
#include "strategies/gp/domain.h"
#include "strategies/strategy_impl.h"

/*
 * The point of a search space with the largest acquisition: candidates spread
 * over the space and around the best trials; from the best of them, ascents
 * along the gradient in the numbers, in turns with steps to the best neighbour
 * in the finite parameters. All ascents go on side by side, so that the model
 * is asked for many points at once.
 */
struct maximise {
    const struct domain *domain;
    const struct acquisition *acquisition;
    const double *log_lengths;    /* a scale for each axis */
    const double *const *anchors; /* [anchor_count]: unit[] of good trials */
    size_t anchor_count;
    const double *low, *high; /* the box looked at, a number an axis */
    struct rng rng;
};

/*
 * Into ask->point a new and feasible point, its columns[] and acquisition.
 * False when none was found.
 */
bool maximise_run(struct maximise *maximise, const struct ask *ask,
                  double *columns, double *value);

#endif
