/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_MODELS_PARZEN_H
#define SMTUNE_STRATEGIES_MODELS_PARZEN_H

#include <stddef.h>

#include "base/rng.h"
#include "strategies/models/axes.h"

/*
 * A density over the unit cube: a mixture of kernels, each a product over the
 * axes (Parzen, "On estimation of a probability density function and mode",
 * Annals of Mathematical Statistics 33, 1962). A kernel stands around a point:
 *
 *   continuum  a normal density, cut off at 0 and 1
 *   steps      the same at the middles of the shares, constant within each
 *   choices    1 - h on the point's value, h spread evenly over all
 *
 * and is even along an axis where the point is inactive (NaN). So the kernel
 * of a point without any active axis is the even density, and the density of a
 * point with inactive axes is the mixture's marginal over the others. A kernel
 * of any kind integrates to one.
 *
 * Use: parzen_begin, parzen_add for each kernel, parzen_end; then draws and
 * densities.
 */

struct parzen;

/* axes are borrowed. */
struct parzen *parzen_create(const struct axes *axes);
void parzen_destroy(struct parzen *parzen); /* NULL is none */

/* An empty mixture with these bandwidths, copied: [axes->count], standard
 * deviations above 0, and for choices h in (0, 1]. */
void parzen_begin(struct parzen *parzen, const double *bandwidths);
/* coordinates[axes->count], or NULL: none is active. weight > 0. */
void parzen_add(struct parzen *parzen, const float *coordinates, double weight);
/* At least one kernel was added. Weights are divided by their sum. */
void parzen_end(struct parzen *parzen);

/* A point of the mixture into coordinates[axes->count], all of them active,
 * those of finite axes the middles of shares. */
void parzen_draw(const struct parzen *parzen, struct rng *rng,
                 float *coordinates);

/* The logarithm of the density at points[count][axes->count] into
 * logs[count]. */
void parzen_log_densities(const struct parzen *parzen, const float *points,
                          size_t count, float *logs);

#endif
