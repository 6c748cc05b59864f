/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "strategies/gp/lbfgs.h"

/* A normal density of a logarithm, and the range that is looked at. */
struct prior {
    double mean, deviation, low, high;
};

/* The lengths' mean and range get half the logarithm of their number added. */
static const struct prior length_prior = {-0.3, 1, -3.5, 4.6};
static const struct prior signal_prior = {0, 1, -5, 4};
static const struct prior noise_prior = {-8, 3, -16, 0.5};
static const struct prior strength_prior = {1, 2, -5, 9};

/* [parameter_count] lengths, then these. */
enum { SIGNAL, NOISE, STRENGTH, SCALARS };

enum { EVALUATIONS = 60, STARTS = 2 };

struct fit {
    const struct linalg *linalg;
    const struct gp_data *data;
    size_t parameters, n, pairs;
    bool warps;
    double *distances; /* [parameters][pairs]: squared, i > j, row by row */
    double *squared, *kernel, *slope; /* [pairs] */
    double *covariance, *inverse;     /* [n][n] */
    double *z, *dz;                   /* [n], and by the log of the strength */
    double *solved, *ones;            /* [n]: K^-1 (z - mean), K^-1 1 */
    struct warp warp;
};

static void fill_distances(struct fit *fit)
{
    const struct gp_shape *shape = fit->data->shape;
    size_t width = shape->column_count;

    for (size_t c = 0; c < width; c++) {
        const struct gp_column *column = &shape->columns[c];
        double *out = fit->distances + column->parameter * fit->pairs;
        const double *rows = fit->data->rows + c;

        for (size_t i = 0; i < fit->n; i++)
            for (size_t j = 0; j < i; j++) {
                double difference = rows[i * width] - rows[j * width];

                *out++ += column->is_choice ? fabs(difference) > 0.25
                                            : difference * difference;
            }
    }
}

SIMD_CLONES
static void add_scaled(size_t n, const double *restrict from, double by,
                       double *restrict to)
{
    for (size_t i = 0; i < n; i++)
        to[i] += by * from[i];
}

SIMD_CLONES
static double dot(size_t n, const double *restrict a, const double *restrict b)
{
    double sums[8] = {0}, sum = 0;
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum += a[i] * b[i];
    for (size_t k = 0; k < 8; k++)
        sum += sums[k];
    return sum;
}

/* z and dz for a strength; the logarithm of the transform's slopes, and its
 * derivative. */
static double transform(struct fit *fit, double log_strength, double *slope)
{
    struct warp *warp = &fit->warp;
    const double *t = fit->data->values;
    double sum = 0, squares = 0, log_slopes = 0, mean_dz = 0, pull = 0;
    double n = (double)fit->n;

    *slope = 0;
    warp->strength = exp(log_strength);
    for (size_t i = 0; i < fit->n; i++) {
        double at = warp->strength * t[i];

        fit->z[i] = log1p(at);
        fit->dz[i] = at / (1 + at);
        sum += fit->z[i];
        mean_dz += fit->dz[i] / n;
        log_slopes += log_strength - log1p(at);
        *slope += 1 - fit->dz[i];
    }
    warp->mean = sum / n;
    for (size_t i = 0; i < fit->n; i++)
        squares += (fit->z[i] - warp->mean) * (fit->z[i] - warp->mean);
    warp->deviation = sqrt(squares / n);
    if (!(warp->deviation > 1e-12))
        warp->deviation = 1;
    for (size_t i = 0; i < fit->n; i++) {
        fit->z[i] = (fit->z[i] - warp->mean) / warp->deviation;
        fit->dz[i] = (fit->dz[i] - mean_dz) / warp->deviation;
        pull += fit->z[i] * fit->dz[i] / n;
    }
    for (size_t i = 0; i < fit->n; i++)
        fit->dz[i] -= fit->z[i] * pull;
    *slope -= n * pull;
    return log_slopes - n * log(warp->deviation);
}

static bool fill_covariance(struct fit *fit, const double *theta)
{
    double signal = exp(theta[fit->parameters + SIGNAL]);
    double noise = exp(theta[fit->parameters + NOISE]);
    const double *kernel = fit->kernel;

    memset(fit->squared, 0, fit->pairs * sizeof(*fit->squared));
    for (size_t k = 0; k < fit->parameters; k++)
        add_scaled(fit->pairs, fit->distances + k * fit->pairs,
                   exp(-2 * theta[k]), fit->squared);
    gp_kernel(fit->pairs, fit->squared, fit->kernel, fit->slope);
    for (size_t i = 0; i < fit->n; i++) {
        double *row = fit->covariance + i * fit->n;

        for (size_t j = 0; j < i; j++)
            row[j] = signal * *kernel++;
        row[i] = signal + noise;
    }
    return linalg_factor(fit->linalg, fit->covariance, fit->n, fit->n);
}

/* inverse[][] as a symmetric matrix times x. */
static void multiply_inverse(const struct fit *fit, const double *x,
                             double *out)
{
    size_t n = fit->n;

    for (size_t i = 0; i < n; i++) {
        const double *row = fit->inverse + i * n;

        out[i] = dot(i + 1, row, x);
        add_scaled(i, row, x[i], out);
    }
}

static double find_mean(struct fit *fit)
{
    double sum = 0, precision = 1;

    for (size_t i = 0; i < fit->n; i++)
        fit->squared[i] = 1; /* free until the next covariance */
    multiply_inverse(fit, fit->squared, fit->ones);
    multiply_inverse(fit, fit->z, fit->solved);
    for (size_t i = 0; i < fit->n; i++) {
        sum += fit->solved[i];
        precision += fit->ones[i];
    }
    for (size_t i = 0; i < fit->n; i++)
        fit->solved[i] -= sum / precision * fit->ones[i];
    return sum / precision;
}

/* Half the trace of (K^-1 - a a^T) dK for each hyperparameter. */
static void fill_gradient(struct fit *fit, const double *theta,
                          double *gradient)
{
    double signal = exp(theta[fit->parameters + SIGNAL]);
    double noise = exp(theta[fit->parameters + NOISE]);
    double *pull = fit->squared, diagonal = 0;
    size_t n = fit->n;

    for (size_t i = 0; i < n; i++) {
        const double *row = fit->inverse + i * n;

        for (size_t j = 0; j < i; j++)
            *pull++ = signal * (row[j] - fit->solved[i] * fit->solved[j]);
        diagonal += row[i] - fit->solved[i] * fit->solved[i];
    }
    pull = fit->squared;
    gradient[fit->parameters + SIGNAL] =
        dot(fit->pairs, pull, fit->kernel) + 0.5 * signal * diagonal;
    gradient[fit->parameters + NOISE] = 0.5 * noise * diagonal;
    for (size_t p = 0; p < fit->pairs; p++)
        pull[p] *= fit->slope[p];
    for (size_t k = 0; k < fit->parameters; k++)
        gradient[k] = -2 * exp(-2 * theta[k]) *
                      dot(fit->pairs, pull, fit->distances + k * fit->pairs);
}

static size_t dimension(const struct fit *fit)
{
    return fit->parameters + SCALARS - (fit->warps ? 0 : 1);
}

static struct prior prior_of(const struct fit *fit, size_t index)
{
    double shift = 0.5 * log((double)fit->parameters);
    struct prior prior = length_prior;

    if (index == fit->parameters + SIGNAL)
        return signal_prior;
    if (index == fit->parameters + NOISE)
        return noise_prior;
    if (index == fit->parameters + STRENGTH)
        return strength_prior;
    prior.mean += shift;
    prior.high += shift;
    return prior;
}

/* The negative log posterior but for constants; infinity where the covariance
 * is not positive definite. gradient may be NULL. */
static double evaluate(struct fit *fit, const double *theta, double *gradient)
{
    double strength_slope = 0, value = 0, mean;
    size_t n = fit->n;

    if (!fill_covariance(fit, theta))
        return (double)INFINITY;
    if (fit->warps)
        value -=
            transform(fit, theta[fit->parameters + STRENGTH], &strength_slope);
    linalg_invert(fit->linalg, fit->covariance, n, n, fit->inverse);
    mean = find_mean(fit);
    value += 0.5 * mean * mean;
    for (size_t i = 0; i < n; i++)
        value += 0.5 * (fit->z[i] - mean) * fit->solved[i] +
                 log(fit->covariance[i * n + i]);
    if (gradient != NULL) {
        fill_gradient(fit, theta, gradient);
        if (fit->warps)
            gradient[fit->parameters + STRENGTH] =
                dot(n, fit->solved, fit->dz) - strength_slope;
    }
    for (size_t k = 0; k < dimension(fit); k++) {
        struct prior prior = prior_of(fit, k);
        double off = (theta[k] - prior.mean) / prior.deviation;

        value += 0.5 * off * off;
        if (gradient != NULL)
            gradient[k] += off / prior.deviation;
    }
    return isfinite(value) ? value : (double)INFINITY;
}

/* Starting points: length scales of three sizes, with and without a warp. */
static const struct {
    double log_length, log_noise, log_strength;
} starts[] = {
    {-0.5, -7, 0}, {-0.5, -7, 4}, {0.7, -7, 0}, {0.7, -7, 4}, {-1.5, -4, 0},
};

static void fill_start(const struct fit *fit, size_t which, double *theta)
{
    double shift = 0.5 * log((double)fit->parameters);

    for (size_t k = 0; k < fit->parameters; k++)
        theta[k] = starts[which].log_length + shift;
    theta[fit->parameters + SIGNAL] = 0;
    theta[fit->parameters + NOISE] = starts[which].log_noise;
    if (fit->warps)
        theta[fit->parameters + STRENGTH] = starts[which].log_strength;
}

/* The value at the optimum, which is left in theta. */
static double descend(struct fit *fit, double *theta)
{
    static const struct lbfgs_options options = {
        .evaluations = EVALUATIONS,
        .gradient = 1e-2,
        .decrease = 1e-4,
        .first_step = 0.5,
    };
    size_t n = dimension(fit);
    double *cells = mem_array(3 * n, sizeof(*cells));
    double *low = cells, *high = cells + n, *gradient = cells + 2 * n;
    struct lbfgs *lbfgs;
    const double *at;
    double value;

    for (size_t k = 0; k < n; k++) {
        low[k] = prior_of(fit, k).low;
        high[k] = prior_of(fit, k).high;
    }
    lbfgs = lbfgs_create(n, low, high, theta, &options);
    while ((at = lbfgs_next(lbfgs)) != NULL) {
        value = evaluate(fit, at, gradient);
        lbfgs_tell(lbfgs, value, gradient);
    }
    memcpy(theta, lbfgs_best(lbfgs, &value), n * sizeof(*theta));
    lbfgs_destroy(lbfgs);
    free(cells);
    return value;
}

/* Runs from the best few of the starting points; the best end into best[]. */
static void search(struct fit *fit, double *best)
{
    size_t n = dimension(fit);
    double *theta = mem_array(n, sizeof(*theta));
    double values[ARRAY_LEN(starts)], least = (double)INFINITY;

    fill_start(fit, 0, best);
    for (size_t s = 0; s < ARRAY_LEN(starts); s++) {
        fill_start(fit, s, theta);
        values[s] = evaluate(fit, theta, NULL);
    }
    for (int run = 0; run < STARTS; run++) {
        size_t pick = 0;
        double end;

        for (size_t s = 1; s < ARRAY_LEN(starts); s++)
            if (values[s] < values[pick])
                pick = s;
        if (!isfinite(values[pick]))
            break;
        values[pick] = (double)INFINITY;
        fill_start(fit, pick, theta);
        end = descend(fit, theta);
        if (end < least) {
            least = end;
            memcpy(best, theta, n * sizeof(*best));
        }
    }
    free(theta);
}

static void fit_init(struct fit *fit)
{
    size_t n = fit->n;

    fit->pairs = n * (n - 1) / 2;
    fit->distances =
        mem_array(fit->parameters * fit->pairs + 1, sizeof(double));
    fit->squared = mem_array(fit->pairs + n, sizeof(double));
    fit->kernel = mem_array(fit->pairs + 1, sizeof(double));
    fit->slope = mem_array(fit->pairs + 1, sizeof(double));
    fit->covariance = mem_array(n * n, sizeof(double));
    fit->inverse = mem_array(n * n, sizeof(double));
    fit->z = mem_array(n, sizeof(double));
    fit->dz = mem_array(n, sizeof(double));
    fit->solved = mem_array(n, sizeof(double));
    fit->ones = mem_array(n, sizeof(double));
    memcpy(fit->z, fit->data->values, n * sizeof(double));
    fill_distances(fit);
}

static void fit_clear(struct fit *fit)
{
    free(fit->distances);
    free(fit->squared);
    free(fit->kernel);
    free(fit->slope);
    free(fit->covariance);
    free(fit->inverse);
    free(fit->z);
    free(fit->dz);
    free(fit->solved);
    free(fit->ones);
}

void gp_fit(const struct linalg *linalg, const struct gp_data *data,
            struct gp_hyper *hyper, struct warp *warp)
{
    struct fit fit = {
        .linalg = linalg,
        .data = data,
        .parameters = data->shape->parameter_count,
        .n = data->count,
        .warps = warp != NULL,
    };
    size_t scalars = fit.parameters;
    double *theta = mem_array(scalars + SCALARS, sizeof(*theta)), unused;

    fit_init(&fit);
    search(&fit, theta);
    memcpy(hyper->log_lengths, theta, scalars * sizeof(*theta));
    hyper->log_signal = theta[scalars + SIGNAL];
    hyper->log_noise = theta[scalars + NOISE];
    if (warp != NULL) {
        transform(&fit, theta[scalars + STRENGTH], &unused);
        warp->strength = fit.warp.strength;
        warp->mean = fit.warp.mean;
        warp->deviation = fit.warp.deviation;
    }
    fit_clear(&fit);
    free(theta);
}
