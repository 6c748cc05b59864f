/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/models/cma_impl.h"

/*
 * CMA-ES with learning rate adaptation, as learning_rate.h cites it: of each
 * update, mean and covariance (sigma^2 times what the tutorial calls C) go the
 * share of the way that their rates say.
 */

/* Of the moving averages. */
static const double beta_mean = 0.1, beta_covariance = 0.03;

void cma_rates_init(struct cma *cma)
{
    cma->adapts_rates = true;
    learning_rate_init(&cma->mean_rate, cma->d, beta_mean);
    learning_rate_init(&cma->covariance_rate, cma_cell_count(cma),
                       beta_covariance);
}

void cma_origin_init(struct cma_origin *origin, const struct cma *cma)
{
    size_t cells = cma_cell_count(cma);

    origin->mean = mem_array(cma->d, sizeof(double));
    origin->covariance = mem_array(cells, sizeof(double));
    origin->sigma = cma->sigma;
    memcpy(origin->mean, cma->mean, cma->d * sizeof(double));
    memcpy(origin->covariance, cma->covariance, cells * sizeof(double));
}

void cma_origin_clear(struct cma_origin *origin)
{
    free(origin->mean);
    free(origin->covariance);
}

static void transpose(double *cells, size_t d)
{
    for (size_t i = 0; i < d; i++)
        for (size_t k = 0; k < i; k++) {
            double cell = cells[k * d + i];

            cells[k * d + i] = cells[i * d + k];
            cells[i * d + k] = cell;
        }
}

/* A step of the covariance, its lower triangle in step[], as seen where what
 * it began with is the unit matrix, over sqrt(2). */
static void whiten_covariance(const struct cma *cma, double *step)
{
    size_t d = cma->d, cells = cma_cell_count(cma);

    for (size_t i = 0; i < d && cma->is_diagonal; i++)
        step[i] /= cma->factor[i] * cma->factor[i];
    for (size_t i = 0; i < d && !cma->is_diagonal; i++)
        for (size_t k = 0; k < i; k++)
            step[k * d + i] = step[i * d + k];
    for (int side = 0; side < 2 && !cma->is_diagonal; side++) {
        for (size_t i = 0; i < d; i++)
            cma_whiten(cma, step + i * d);
        transpose(step, d);
    }
    for (size_t i = 0; i < cells; i++)
        step[i] *= M_SQRT1_2;
}

/* The smaller the mean's rate, the larger the step size that is best. */
void cma_rates_damp(struct cma *cma, const struct cma_origin *origin,
                    const double *whitened_step)
{
    size_t cells = cma_cell_count(cma);
    double *step = mem_array(cells, sizeof(*step));
    double grown = cma->sigma / origin->sigma, before = cma->mean_rate.eta;

    for (size_t i = 0; i < cells; i++)
        step[i] = cma->covariance[i] =
            grown * grown * cma->covariance[i] - origin->covariance[i];
    whiten_covariance(cma, step);
    learning_rate_tell(&cma->mean_rate, whitened_step);
    learning_rate_tell(&cma->covariance_rate, step);
    for (size_t k = 0; k < cma->d; k++)
        cma->mean[k] = origin->mean[k] +
                       cma->mean_rate.eta * (cma->mean[k] - origin->mean[k]);
    for (size_t i = 0; i < cells; i++)
        cma->covariance[i] = origin->covariance[i] +
                             cma->covariance_rate.eta * cma->covariance[i];
    cma->sigma = origin->sigma * before / cma->mean_rate.eta;
    free(step);
}

void cma_rates_normalise(struct cma *cma)
{
    double size = 0;

    for (size_t i = 0; i < cma->d; i++)
        size += log(cma->factor[i * cma_stride(cma)]) / (double)cma->d;
    size = exp(size);
    cma->sigma *= size;
    for (size_t i = 0; i < cma_cell_count(cma); i++) {
        cma->factor[i] /= size;
        cma->covariance[i] /= size * size;
    }
}
