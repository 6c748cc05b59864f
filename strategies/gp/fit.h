/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_FIT_H
#define SMTUNE_STRATEGIES_GP_FIT_H

#include "strategies/gp/gp.h"
#include "strategies/gp/warp.h"

/*
 * The most probable hyperparameters of a Gaussian process for some data
 * (Rasmussen and Williams, equations 5.8 and 5.9, plus log priors), found from
 * a few fixed starting points. Length scales have the prior of C. Hvarfner, E.
 * Hellsten and L. Nardi, "Vanilla Bayesian optimization performs great in high
 * dimensions" (ICML 2024), section 5: its median grows with the square root of
 * the number of parameters.
 */

struct gp_data {
    const struct gp_shape *shape;
    size_t count;
    const double *rows;   /* [count][column_count] */
    const double *values; /* [count]: with a warp, stretched (warp_stretch) */
};

/*
 * Into *hyper, whose log_lengths has room. With a warp, which is not NULL, also
 * its strength, mean and deviation; without, values are taken as they are.
 * hyper comes out as a plain guess where nothing can be learnt.
 */
void gp_fit(const struct linalg *linalg, const struct gp_data *data,
            struct gp_hyper *hyper, struct warp *warp);

#endif
