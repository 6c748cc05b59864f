/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/gp.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"

/* Of the constant mean, whose prior is around 0 as values are standardised. */
static const double mean_precision = 1;
/* A pivot is no smaller than this share of a row's own variance. */
static const double least_pivot = 1e-9;

struct gp {
    const struct linalg *linalg;
    const struct gp_shape *shape;
    size_t count, capacity;
    double *weights_of_columns; /* [column_count]: 1 / length^2 */
    double signal, noise, mean;
    double *columns; /* [column_count][capacity] */
    double *factor;  /* [capacity][capacity] */
    double *ones;    /* [capacity]: L^-1 1 */
    double *weights; /* [capacity]: L^-1 (values - mean) */
    double *scratch; /* [2][capacity] */
};

/* exp(-x) for x in 0 .. 700, in a form that compilers make vectors of: by
 * 2^k e^r with |r| <= ln 2 / 2 and the Taylor polynomial, to 2e-16. */
static inline double exp_minus(double x)
{
    static const double shifter = 0x1.8p52;
    double y = -x * 1.4426950408889634, whole, r, p;
    union {
        double real;
        uint64_t bits;
    } shifted, power;

    shifted.real = y + shifter;
    whole = shifted.real - shifter;
    r = (-x - whole * 0x1.62e42feep-1) - whole * 0x1.a39ef35793c76p-33;
    p = 1 / 6227020800.0;
    p = p * r + 1 / 479001600.0;
    p = p * r + 1 / 39916800.0;
    p = p * r + 1 / 3628800.0;
    p = p * r + 1 / 362880.0;
    p = p * r + 1 / 40320.0;
    p = p * r + 1 / 5040.0;
    p = p * r + 1 / 720.0;
    p = p * r + 1 / 120.0;
    p = p * r + 1 / 24.0;
    p = p * r + 1 / 6.0;
    p = p * r + 1 / 2.0;
    p = p * r + 1;
    p = p * r + 1;
    power.bits = (shifted.bits << 52) + UINT64_C(0x3ff0000000000000);
    return p * power.real;
}

SIMD_CLONES
void gp_kernel(size_t n, const double *restrict squared,
               double *restrict kernel, double *restrict slope)
{
    for (size_t i = 0; i < n; i++) {
        double r = sqrt(5 * squared[i]);
        double e = exp_minus(r < 700 ? r : 700);

        kernel[i] = (1 + r + r * r / 3) * e;
        slope[i] = -(5.0 / 6) * (1 + r) * e;
    }
}

SIMD_CLONES
static void add_squares(size_t n, const double *restrict column, double at,
                        double weight, double *restrict squared)
{
    for (size_t i = 0; i < n; i++) {
        double difference = column[i] - at;

        squared[i] += weight * difference * difference;
    }
}

SIMD_CLONES
static void add_differing(size_t n, const double *restrict column, double at,
                          double weight, double *restrict squared)
{
    for (size_t i = 0; i < n; i++) {
        double difference = fabs(column[i] - at);

        squared[i] += difference > 0.25 ? weight : 0;
    }
}

SIMD_CLONES
static double sum_differences(size_t n, const double *restrict pull,
                              const double *restrict column, double at)
{
    double sums[8] = {0}, sum = 0;
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++)
            sums[k] += pull[i + k] * (at - column[i + k]);
    for (; i < n; i++)
        sum += pull[i] * (at - column[i]);
    for (size_t k = 0; k < 8; k++)
        sum += sums[k];
    return sum;
}

SIMD_CLONES
static void multiply(size_t n, const double *restrict factor,
                     double *restrict product)
{
    for (size_t i = 0; i < n; i++)
        product[i] *= factor[i];
}

struct gp *gp_create(const struct linalg *linalg, const struct gp_shape *shape,
                     size_t capacity)
{
    struct gp *gp = mem_zero(sizeof(*gp));

    gp->linalg = linalg;
    gp->shape = shape;
    gp->capacity = capacity;
    gp->weights_of_columns =
        mem_array(shape->column_count, sizeof(*gp->weights_of_columns));
    gp->columns =
        calloc(shape->column_count * capacity + 1, sizeof(*gp->columns));
    gp->factor = calloc(capacity * capacity + 1, sizeof(*gp->factor));
    gp->ones = mem_array(capacity, sizeof(*gp->ones));
    gp->weights = mem_array(capacity, sizeof(*gp->weights));
    gp->scratch = mem_array(2 * capacity, sizeof(*gp->scratch));
    if (gp->columns != NULL && gp->factor != NULL)
        return gp;
    gp_destroy(gp);
    return NULL;
}

void gp_destroy(struct gp *gp)
{
    if (gp == NULL)
        return;
    free(gp->weights_of_columns);
    free(gp->columns);
    free(gp->factor);
    free(gp->ones);
    free(gp->weights);
    free(gp->scratch);
    free(gp);
}

void gp_reset(struct gp *gp, const struct gp_hyper *hyper)
{
    gp->count = 0;
    gp->signal = exp(hyper->log_signal);
    gp->noise = exp(hyper->log_noise);
    gp->mean = 0;
    for (size_t c = 0; c < gp->shape->column_count; c++)
        gp->weights_of_columns[c] =
            exp(-2 * hyper->log_lengths[gp->shape->columns[c].parameter]);
}

const struct gp_shape *gp_shape(const struct gp *gp)
{
    return gp->shape;
}

size_t gp_count(const struct gp *gp)
{
    return gp->count;
}

double gp_mean(const struct gp *gp)
{
    return gp->mean;
}

const double *gp_weights(const struct gp *gp)
{
    return gp->weights;
}

/* Squared distances of a point to the first n rows. */
static void find_squared(const struct gp *gp, const double *point, size_t n,
                         double *squared)
{
    memset(squared, 0, n * sizeof(*squared));
    for (size_t c = 0; c < gp->shape->column_count; c++) {
        const double *column = gp->columns + c * gp->capacity;
        double weight = gp->weights_of_columns[c];

        if (gp->shape->columns[c].is_choice)
            add_differing(n, column, point[c], weight, squared);
        else
            add_squares(n, column, point[c], weight, squared);
    }
}

static void scale(double *cells, size_t n, double by)
{
    for (size_t i = 0; i < n; i++)
        cells[i] *= by;
}

/* The row's covariances with those before it and itself, into the factor. */
static void add_row(struct gp *gp, const double *row)
{
    size_t n = gp->count;
    double *covariance = gp->factor + n * gp->capacity;

    find_squared(gp, row, n, gp->scratch);
    gp_kernel(n, gp->scratch, covariance, gp->scratch + gp->capacity);
    scale(covariance, n, gp->signal);
    covariance[n] = gp->signal + gp->noise;
    for (size_t c = 0; c < gp->shape->column_count; c++)
        gp->columns[c * gp->capacity + n] = row[c];
    gp->count++;
}

/* Turns the last row of covariances to one of the factor. */
static void factor_row(struct gp *gp, size_t n)
{
    double *row = gp->factor + n * gp->capacity;
    double own = row[n], sum = 1, rest = own;

    linalg_solve(gp->linalg, gp->factor, n, gp->capacity, row);
    for (size_t i = 0; i < n; i++) {
        rest -= row[i] * row[i];
        sum -= row[i] * gp->ones[i];
    }
    row[n] = sqrt(fmax(rest, least_pivot * own));
    gp->weights[n] = 0;
    gp->ones[n] = sum / row[n];
}

void gp_append(struct gp *gp, const double *row)
{
    add_row(gp, row);
    factor_row(gp, gp->count - 1);
}

void gp_load(struct gp *gp, const double *rows, size_t count)
{
    size_t width = gp->shape->column_count;

    for (size_t i = 0; i < count; i++)
        add_row(gp, rows + i * width);
    if (linalg_factor(gp->linalg, gp->factor, count, gp->capacity)) {
        for (size_t i = 0; i < count; i++)
            gp->ones[i] = 1;
        linalg_solve(gp->linalg, gp->factor, count, gp->capacity, gp->ones);
        return;
    }
    gp->count = 0; /* row by row, pivots can be held up */
    for (size_t i = 0; i < count; i++)
        gp_append(gp, rows + i * width);
}

void gp_truncate(struct gp *gp, size_t count)
{
    gp->count = count;
}

void gp_set_values(struct gp *gp, const double *values, size_t count)
{
    double sum = 0, squares = mean_precision;

    memcpy(gp->weights, values, count * sizeof(*values));
    linalg_solve(gp->linalg, gp->factor, count, gp->capacity, gp->weights);
    for (size_t i = 0; i < count; i++) {
        sum += gp->ones[i] * gp->weights[i];
        squares += gp->ones[i] * gp->ones[i];
    }
    gp->mean = sum / squares;
    for (size_t i = 0; i < count; i++)
        gp->weights[i] -= gp->mean * gp->ones[i];
}

void gp_query_clear(struct gp_query *query)
{
    free(query->slope);
    free(query->solved);
    free(query->variance);
    *query = (struct gp_query){0};
}

static void reserve(struct gp_query *query, size_t count, size_t rows)
{
    query->count = count;
    query->rows = rows;
    if (count * (rows + 1) <= query->capacity)
        return;
    query->capacity = count * (rows + 1);
    query->slope =
        mem_resize(query->slope, query->capacity, sizeof(*query->slope));
    query->solved =
        mem_resize(query->solved, query->capacity, sizeof(*query->solved));
    query->variance =
        mem_resize(query->variance, query->capacity, sizeof(*query->variance));
}

void gp_predict(const struct gp *gp, const double *points, size_t count,
                struct gp_query *query)
{
    size_t rows = gp->count, width = gp->shape->column_count;

    reserve(query, count, rows);
    query->points = points;
    for (size_t p = 0; p < count; p++) {
        double *solved = query->solved + p * rows;
        double *slope = query->slope + p * rows;

        find_squared(gp, points + p * width, rows, gp->scratch);
        gp_kernel(rows, gp->scratch, solved, slope);
        scale(solved, rows, gp->signal);
        scale(slope, rows, gp->signal);
    }
    linalg_solve_rows(gp->linalg, false, gp->factor, rows, gp->capacity,
                      query->solved, count);
    for (size_t p = 0; p < count; p++) {
        const double *solved = query->solved + p * rows;
        double left = gp->signal;

        for (size_t i = 0; i < rows; i++)
            left -= solved[i] * solved[i];
        query->variance[p] = fmax(left, least_pivot * gp->signal);
    }
}

double gp_mean_at(const struct gp *gp, const struct gp_query *query,
                  size_t point)
{
    const double *solved = query->solved + point * query->rows;
    double mean = gp->mean;

    for (size_t i = 0; i < query->rows; i++)
        mean += solved[i] * gp->weights[i];
    return mean;
}

void gp_add_gradients(const struct gp *gp, const struct gp_query *query,
                      double *pulls, double *gradients)
{
    size_t rows = query->rows, width = gp->shape->column_count;

    linalg_solve_rows(gp->linalg, true, gp->factor, rows, gp->capacity, pulls,
                      query->count);
    for (size_t p = 0; p < query->count; p++) {
        const double *point = query->points + p * width;

        multiply(rows, query->slope + p * rows, pulls + p * rows);
        for (size_t c = 0; c < width; c++)
            if (!gp->shape->columns[c].is_choice)
                gradients[p * width + c] +=
                    2 * gp->weights_of_columns[c] *
                    sum_differences(rows, pulls + p * rows,
                                    gp->columns + c * gp->capacity, point[c]);
    }
}

/* With y - mean = L w: the mean is y - noise K^-1 (y - mean), K^-1 = L^-T
 * L^-1. */
void gp_means_at_rows(const struct gp *gp, const double *weights, size_t count,
                      double *means)
{
    size_t n = gp->count;

    memcpy(means, weights, count * n * sizeof(*means));
    linalg_solve_rows(gp->linalg, true, gp->factor, n, gp->capacity, means,
                      count);
    for (size_t m = 0; m < count; m++)
        for (size_t i = 0; i < n; i++) {
            const double *row = gp->factor + i * gp->capacity;
            double value = gp->mean;

            for (size_t j = 0; j <= i; j++)
                value += row[j] * weights[m * n + j];
            means[m * n + i] = value - gp->noise * means[m * n + i];
        }
}
