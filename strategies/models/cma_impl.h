/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_MODELS_CMA_IMPL_H
#define SMTUNE_STRATEGIES_MODELS_CMA_IMPL_H

#include "strategies/models/cma.h"
#include "strategies/models/learning_rate.h"

/* Between cma.c and cma_rates.c alone. Symbols are those of the tutorial. */
struct cma {
    size_t d, population;
    bool is_diagonal, is_degenerate, adapts_rates;
    uint64_t generation, diagonal_updates;
    double *weights; /* [population], equation 53 */
    double mu_eff, c_c, c_1, c_mu, c_sigma, d_sigma, expected_norm;
    double *mean; /* [d] */
    double sigma;
    double *covariance;          /* lower triangle of [d][d]; diagonal: [d] */
    double *factor;              /* likewise: its Cholesky factor */
    double *path_sigma, *path_c; /* [d] */
    double *steps;               /* [population][d]: y of the last update */
    double *whitened;            /* [population][d]: factor^-1 y */
    struct learning_rate mean_rate, covariance_rate; /* where adapts_rates */
};

static inline size_t cma_cell_count(const struct cma *cma)
{
    return cma->is_diagonal ? cma->d : cma->d * cma->d;
}

/* From one cell of the diagonal to the next. */
static inline size_t cma_stride(const struct cma *cma)
{
    return cma->is_diagonal ? 1 : cma->d + 1;
}

/* y[d] = factor^-1 y, in place. */
void cma_whiten(const struct cma *cma, double *y);

/* What an update began with; embedded: cma_origin_init, cma_origin_clear. */
struct cma_origin {
    double *mean, *covariance; /* [d], [cma_cell_count] */
    double sigma;
};

void cma_origin_init(struct cma_origin *origin, const struct cma *cma);
void cma_origin_clear(struct cma_origin *origin);

/* From now on rates are adapted; the distribution is to be there. */
void cma_rates_init(struct cma *cma);
/* Goes back a part of the way that an update went, the factor excepted;
 * whitened_step[d] is the mean's. */
void cma_rates_damp(struct cma *cma, const struct cma_origin *origin,
                    const double *whitened_step);
/* Gives the covariance, and its factor, a determinant of 1, and sigma what it
 * had. */
void cma_rates_normalise(struct cma *cma);

#endif
