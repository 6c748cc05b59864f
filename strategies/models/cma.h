/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_MODELS_CMA_H
#define SMTUNE_STRATEGIES_MODELS_CMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A normal distribution that adapts to a ranking of points: the core of CMA-ES
 * with active update, after N. Hansen, "The CMA evolution strategy: a
 * tutorial", 2016 (arXiv 1604.00772; equations are numbered as there). It knows
 * no bounds and no kinds of parameters: strategies/models/cmaes_model.c does.
 *
 * The covariance is kept with its Cholesky factor in place of an
 * eigendecomposition (O. Krause, C. Igel, "A more efficient rank-one covariance
 * matrix update for evolution strategies", FOGA 2015): any root of it serves
 * for drawing and for the step-size path, and this one costs a thirtieth. X *
 * (R. Ros, N. Hansen, "A simple modification in CMA-ES achieving linear time
 * and space complexity", PPSN 2008).
 *
 * A draw costs O(d^2), an update O(d^2 population + d^3); diagonal, O(d) and
 * O(d population).
 *
 * With learning rate adaptation (strategies/models/learning_rate.h) it goes the
 * share of the way that the tutorial's update proposes that the last updates'
 * noise allows, in mean and covariance each.
 */

struct cma_options {
    size_t dimension;        /* > 0 */
    size_t population;       /* points to an update, at least 2 */
    size_t diagonal_updates; /* before it learns covariances */
    bool adapts_rates;
};

struct cma;
struct rng;

/* mean[dimension], of which sigma is the deviation in every coordinate. */
struct cma *cma_create(const struct cma_options *options, const double *mean,
                       double sigma);
void cma_destroy(struct cma *cma); /* NULL is none */

/* x[dimension] from the distribution with deviations `stretch` times as wide.
 */
void cma_draw(const struct cma *cma, struct rng *rng, double stretch,
              double *x);

/*
 * Moves towards points[population][dimension], best first. ties[i] is the first
 * of the points that are as good as i: equals share their weights. Points that
 * are farther from the mean than the distribution draws count as if they were
 * nearer (N. Hansen, "Injecting external solutions into CMA-ES", 2011).
 */
void cma_update(struct cma *cma, const double *points, const size_t *ties);

/* [dimension]: valid until the next update. */
const double *cma_mean(const struct cma *cma);
/* Of a coordinate. */
double cma_deviation(const struct cma *cma, size_t axis);
/* The largest of them. */
double cma_largest_deviation(const struct cma *cma);
/* Multiplies a coordinate's deviation, as if its unit were another one. */
void cma_stretch(struct cma *cma, size_t axis, double factor);
void cma_move(struct cma *cma, size_t axis, double mean);

/* How much of the proposed step the mean goes, 1 unless rates are adapted. */
double cma_learning_rate(const struct cma *cma);

/* Whether numbers are at their end: a condition above 10^14, or not finite. */
bool cma_is_degenerate(const struct cma *cma);

#endif
