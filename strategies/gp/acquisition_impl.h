/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_ACQUISITION_IMPL_H
#define SMTUNE_STRATEGIES_GP_ACQUISITION_IMPL_H

#include "strategies/gp/acquisition.h"

/* Between acquisition.c, acquisition_goals.c and acquisition_volume.c alone. */

/* What a goal's prediction is, and then the value's derivatives by it. */
struct outlook {
    double mean, deviation;
    double by_mean, by_deviation;
};

/* The logarithm of the expected improvement of the hypervolume that leaves
 * those boxes, and its derivatives, at outlook[goals]. */
double acquisition_volume(const struct boxes *boxes, size_t goals,
                          struct outlook *outlook);

/* The goals' part of acquisition_evaluate(), added to values and gradients. */
void acquisition_add_goals(const struct acquisition *acquisition,
                           struct acquisition_room *room, const double *points,
                           size_t count, double *values, double *gradients);

/* Room for so many numbers, valid until the next call of each. */
double *acquisition_reserve_means(struct acquisition_room *room, size_t count);
double *acquisition_reserve_pulls(struct acquisition_room *room, size_t count);

#endif
