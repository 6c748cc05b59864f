/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/models/cma.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/models/cma_impl.h"

/* Equations 49 to 58 and table 1. */
static void set_rates(struct cma *cma)
{
    double n = (double)cma->d, separable = cma->is_diagonal ? (n + 2) / 3 : 1;
    double mu = cma->mu_eff;

    cma->c_c = (4 + mu / n) / (n + 4 + 2 * mu / n);
    cma->c_1 = fmin(separable * 2 / ((n + 1.3) * (n + 1.3) + mu), 0.5);
    cma->c_mu = fmin(1 - cma->c_1, separable * 2 * (0.25 + mu + 1 / mu - 2) /
                                       ((n + 2) * (n + 2) + mu));
    cma->c_sigma = (mu + 2) / (n + mu + 5);
    cma->d_sigma = 1 + 2 * fmax(0, sqrt((mu - 1) / (n + 1)) - 1) + cma->c_sigma;
    cma->expected_norm = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
}

/* Equations 49 to 53: those of the better half sum to 1; those of the worse
 * half are negative, and as large as keeps the covariance positive. */
static void set_weights(struct cma *cma)
{
    double n = (double)cma->d, sums[2] = {0}, squares[2] = {0}, limit;

    for (size_t i = 0; i < cma->population; i++) {
        double w = log(((double)cma->population + 1) / 2) - log((double)i + 1);

        cma->weights[i] = w;
        sums[w <= 0] += fabs(w);
        squares[w <= 0] += w * w;
    }
    cma->mu_eff = sums[0] * sums[0] / squares[0];
    set_rates(cma);
    limit = 1 + 2 * sums[1] * sums[1] / squares[1] / (cma->mu_eff + 2);
    limit = fmin(limit, 1 + cma->c_1 / cma->c_mu);
    limit = fmin(limit, (1 - cma->c_1 - cma->c_mu) / (n * cma->c_mu));
    for (size_t i = 0; i < cma->population; i++)
        cma->weights[i] *= cma->weights[i] > 0 ? 1 / sums[0] : limit / sums[1];
}

struct cma *cma_create(const struct cma_options *options, const double *mean,
                       double sigma)
{
    struct cma *cma = mem_zero(sizeof(*cma));
    size_t d = options->dimension, n = options->population;

    cma->d = d;
    cma->population = n;
    cma->is_diagonal = options->diagonal_updates > 0;
    cma->diagonal_updates = options->diagonal_updates;
    cma->sigma = sigma;
    cma->mean = mem_array(d, sizeof(double));
    memcpy(cma->mean, mean, d * sizeof(double));
    cma->weights = mem_array(n, sizeof(double));
    set_weights(cma);
    cma->covariance = mem_array(cma_cell_count(cma), sizeof(double));
    cma->factor = mem_array(cma_cell_count(cma), sizeof(double));
    for (size_t i = 0; i < d; i++)
        cma->covariance[i * cma_stride(cma)] =
            cma->factor[i * cma_stride(cma)] = 1;
    cma->path_sigma = mem_array(d, sizeof(double));
    cma->path_c = mem_array(d, sizeof(double));
    cma->steps = mem_array(n * d, sizeof(double));
    cma->whitened = mem_array(n * d, sizeof(double));
    if (options->adapts_rates)
        cma_rates_init(cma);
    return cma;
}

void cma_destroy(struct cma *cma)
{
    if (cma == NULL)
        return;
    free(cma->mean);
    free(cma->weights);
    free(cma->covariance);
    free(cma->factor);
    free(cma->path_sigma);
    free(cma->path_c);
    free(cma->steps);
    free(cma->whitened);
    learning_rate_clear(&cma->mean_rate);
    learning_rate_clear(&cma->covariance_rate);
    free(cma);
}

/* y = L z, in place. */
static void multiply_factor(const struct cma *cma, double *z)
{
    for (size_t i = cma->d; i-- > 0;) {
        const double *row = cma->factor + i * cma->d;
        double sum = 0;

        if (cma->is_diagonal) {
            z[i] *= cma->factor[i];
            continue;
        }
        for (size_t k = 0; k <= i; k++)
            sum += row[k] * z[k];
        z[i] = sum;
    }
}

void cma_whiten(const struct cma *cma, double *y)
{
    for (size_t i = 0; i < cma->d; i++) {
        const double *row = cma->factor + i * cma->d;
        double sum = y[i];

        if (cma->is_diagonal) {
            y[i] /= cma->factor[i];
            continue;
        }
        for (size_t k = 0; k < i; k++)
            sum -= row[k] * y[k];
        y[i] = sum / row[i];
    }
}

/* Equations 38 to 40. */
void cma_draw(const struct cma *cma, struct rng *rng, double stretch, double *x)
{
    for (size_t i = 0; i < cma->d; i++)
        x[i] = gsl_cdf_ugaussian_Pinv(rng_uniform(rng) + 0x1p-54);
    multiply_factor(cma, x);
    for (size_t i = 0; i < cma->d; i++)
        x[i] = cma->mean[i] + stretch * cma->sigma * x[i];
}

static double squared_norm(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sum;
}

/* y and z = L^-1 y of each point, with |z| bounded. */
static void take_steps(struct cma *cma, const double *points)
{
    double bound = sqrt((double)cma->d) + 2;

    for (size_t i = 0; i < cma->population; i++) {
        double *y = cma->steps + i * cma->d, *z = cma->whitened + i * cma->d;
        double shrink;

        for (size_t k = 0; k < cma->d; k++)
            y[k] = (points[i * cma->d + k] - cma->mean[k]) / cma->sigma;
        memcpy(z, y, cma->d * sizeof(*z));
        cma_whiten(cma, z);
        shrink = bound / sqrt(squared_norm(z, cma->d));
        for (size_t k = 0; k < cma->d && shrink < 1; k++) {
            y[k] *= shrink;
            z[k] *= shrink;
        }
    }
}

/* Each rank's weight, equals' weights averaged: mean_weights are positive only
 * and sum to 1. Returns their mu_eff. */
static double share_weights(const struct cma *cma, const size_t *ties,
                            double *weights, double *mean_weights)
{
    double squares = 0;
    size_t end;

    for (size_t start = 0; start < cma->population; start = end) {
        double sum = 0, positive = 0, count;

        for (end = start; end < cma->population && ties[end] == start; end++) {
            sum += cma->weights[end];
            positive += fmax(cma->weights[end], 0);
        }
        count = (double)(end - start);
        for (size_t i = start; i < end; i++) {
            weights[i] = sum / count;
            mean_weights[i] = positive / count;
            squares += mean_weights[i] * mean_weights[i];
        }
    }
    return 1 / squares;
}

/* out[d] = sum of weights times rows. */
static void combine(const struct cma *cma, const double *rows,
                    const double *weights, double *out)
{
    memset(out, 0, cma->d * sizeof(*out));
    for (size_t i = 0; i < cma->population; i++)
        for (size_t k = 0; k < cma->d; k++)
            out[k] += weights[i] * rows[i * cma->d + k];
}

/* Adds weight v v^T to the lower triangle. */
static void add_outer(struct cma *cma, const double *v, double weight)
{
    for (size_t i = 0; i < cma->d; i++) {
        double *row = cma->covariance + i * cma->d, scaled = weight * v[i];

        if (cma->is_diagonal) {
            cma->covariance[i] += scaled * v[i];
            continue;
        }
        for (size_t k = 0; k <= i; k++)
            row[k] += scaled * v[k];
    }
}

/* Equations 43 and 44; true when the path is not cut short. */
static bool follow_path(struct cma *cma, const double *whitened_step,
                        double mu_eff)
{
    double c = cma->c_sigma, n = (double)cma->d, norm;
    double faded = 1 - pow(1 - c, 2 * ((double)cma->generation + 1));

    for (size_t k = 0; k < cma->d; k++)
        cma->path_sigma[k] = (1 - c) * cma->path_sigma[k] +
                             sqrt(c * (2 - c) * mu_eff) * whitened_step[k];
    norm = sqrt(squared_norm(cma->path_sigma, cma->d));
    cma->sigma *=
        exp(fmin(c / cma->d_sigma * (norm / cma->expected_norm - 1), 1));
    return norm / sqrt(faded) < (1.4 + 2 / (n + 1)) * cma->expected_norm;
}

/* Equations 45 to 47. */
static void adapt_covariance(struct cma *cma, const double *step,
                             const double *weights, double mu_eff, bool follows)
{
    double c = cma->c_c, sum = 0, keep;

    for (size_t k = 0; k < cma->d; k++)
        cma->path_c[k] = (1 - c) * cma->path_c[k] +
                         (follows ? sqrt(c * (2 - c) * mu_eff) : 0) * step[k];
    for (size_t i = 0; i < cma->population; i++)
        sum += weights[i];
    keep =
        1 + (follows ? 0 : cma->c_1 * c * (2 - c)) - cma->c_1 - cma->c_mu * sum;
    for (size_t i = 0; i < cma_cell_count(cma); i++)
        cma->covariance[i] *= keep;
    add_outer(cma, cma->path_c, cma->c_1);
    for (size_t i = 0; i < cma->population; i++) {
        double norm = squared_norm(cma->whitened + i * cma->d, cma->d);
        double scale = weights[i] < 0 ? (double)cma->d / fmax(norm, 1e-300) : 1;

        add_outer(cma, cma->steps + i * cma->d, cma->c_mu * weights[i] * scale);
    }
}

/* The covariance's factor; false when it is not positive definite. */
static bool factorise(struct cma *cma)
{
    size_t d = cma->d;

    for (size_t i = 0; i < d && cma->is_diagonal; i++) {
        if (!(cma->covariance[i] > 0))
            return false;
        cma->factor[i] = sqrt(cma->covariance[i]);
    }
    for (size_t i = 0; i < d && !cma->is_diagonal; i++) {
        const double *from = cma->covariance + i * d;
        double *row = cma->factor + i * d;

        for (size_t j = 0; j <= i; j++) {
            const double *other = cma->factor + j * d;
            double sum = from[j];

            for (size_t k = 0; k < j; k++)
                sum -= row[k] * other[k];
            if (i == j && !(sum > 0))
                return false;
            row[j] = i == j ? sqrt(sum) : sum / other[j];
        }
    }
    return true;
}

/* From here on it learns covariances. */
static void fill_matrix(struct cma *cma)
{
    size_t d = cma->d;
    double *covariance = mem_array(d * d, sizeof(*covariance));

    for (size_t i = 0; i < d; i++)
        covariance[i * (d + 1)] = cma->covariance[i];
    free(cma->covariance);
    free(cma->factor);
    cma->covariance = covariance;
    cma->factor = mem_array(d * d, sizeof(double));
    cma->is_diagonal = false;
    set_weights(cma);
    if (cma->adapts_rates)
        learning_rate_widen(&cma->covariance_rate);
}

void cma_update(struct cma *cma, const double *points, const size_t *ties)
{
    double *weights = mem_array(2 * cma->population, sizeof(*weights));
    double *mean_weights = weights + cma->population;
    double *step = mem_array(2 * cma->d, sizeof(*step));
    double *whitened_step = step + cma->d, mu_eff;
    struct cma_origin origin;
    bool follows;

    cma_origin_init(&origin, cma);
    take_steps(cma, points);
    mu_eff = share_weights(cma, ties, weights, mean_weights);
    combine(cma, cma->steps, mean_weights, step);
    combine(cma, cma->whitened, mean_weights, whitened_step);
    for (size_t k = 0; k < cma->d; k++)
        cma->mean[k] += origin.sigma * step[k];
    follows = follow_path(cma, whitened_step, mu_eff);
    adapt_covariance(cma, step, weights, mu_eff, follows);
    if (cma->adapts_rates)
        cma_rates_damp(cma, &origin, whitened_step);
    if (++cma->generation == cma->diagonal_updates)
        fill_matrix(cma);
    cma->is_degenerate |= !factorise(cma);
    if (cma->adapts_rates && !cma->is_degenerate)
        cma_rates_normalise(cma);
    cma_origin_clear(&origin);
    free(weights);
    free(step);
}

const double *cma_mean(const struct cma *cma)
{
    return cma->mean;
}

double cma_deviation(const struct cma *cma, size_t axis)
{
    return cma->sigma * sqrt(cma->covariance[axis * cma_stride(cma)]);
}

double cma_largest_deviation(const struct cma *cma)
{
    double largest = 0;

    for (size_t i = 0; i < cma->d; i++)
        largest = fmax(largest, cma_deviation(cma, i));
    return largest;
}

void cma_stretch(struct cma *cma, size_t axis, double factor)
{
    size_t d = cma->d;

    cma->path_c[axis] *= factor;
    if (cma->is_diagonal) {
        cma->covariance[axis] *= factor * factor;
        cma->factor[axis] *= factor;
        return;
    }
    for (size_t k = 0; k <= axis; k++) {
        cma->covariance[axis * d + k] *= factor;
        cma->factor[axis * d + k] *= factor;
    }
    for (size_t i = axis; i < d; i++)
        cma->covariance[i * d + axis] *= factor;
}

void cma_move(struct cma *cma, size_t axis, double mean)
{
    cma->mean[axis] = mean;
}

double cma_learning_rate(const struct cma *cma)
{
    return cma->adapts_rates ? cma->mean_rate.eta : 1;
}

/* The factor's diagonal bounds the condition from below. */
bool cma_is_degenerate(const struct cma *cma)
{
    double least = (double)INFINITY, most = 0;

    for (size_t i = 0; i < cma->d; i++) {
        least = fmin(least, cma->factor[i * cma_stride(cma)]);
        most = fmax(most, cma->factor[i * cma_stride(cma)]);
    }
    return cma->is_degenerate || !isfinite(cma->sigma) || !(cma->sigma > 0) ||
           !(most < 1e7 * least);
}
