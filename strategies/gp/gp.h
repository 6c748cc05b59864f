/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_GP_H
#define SMTUNE_STRATEGIES_GP_GP_H

#include <stdbool.h>
#include <stddef.h>

#include "strategies/gp/linalg.h"

/*
 * A Gaussian process with a Matern 5/2 kernel (C. Rasmussen and C. Williams,
 * "Gaussian Processes for Machine Learning", 2006: equations 4.17, 2.25, 2.26),
 * a length scale for each parameter, noise, and a constant mean with a normal
 * prior that is estimated along (2.41 and 2.42 with h = 1).
 *
 * Points are rows of columns. A column belongs to a parameter; its share of the
 * squared distance of two points is (a - b)^2, or for a choice 1 where they
 * differ, each over the parameter's squared length scale. Both are squares of
 * Euclidean distances, so the kernel is positive definite.
 */

struct gp_column {
    size_t parameter; /* whose length scale */
    bool is_choice;
};

struct gp_shape {
    size_t column_count, parameter_count;
    const struct gp_column *columns;
};

/* All in logarithms, in one array: what is fitted is contiguous. */
struct gp_hyper {
    double *log_lengths; /* [parameter_count] */
    double log_signal;   /* variance */
    double log_noise;    /* variance */
};

struct gp;

/* For at most `capacity` rows, those of pending trials included. shape, hyper's
 * lengths and linalg are borrowed; the shape must outlive the process. NULL
 * when there is no memory for that many. */
struct gp *gp_create(const struct linalg *linalg, const struct gp_shape *shape,
                     size_t capacity);
void gp_destroy(struct gp *gp); /* NULL is none */

/* Forgets all rows and takes other hyperparameters. */
void gp_reset(struct gp *gp, const struct gp_hyper *hyper);
const struct gp_shape *gp_shape(const struct gp *gp);
size_t gp_count(const struct gp *gp);
/* Takes `count` rows of shape->column_count each at once, O(n^3); after
 * gp_reset alone. */
void gp_load(struct gp *gp, const double *rows, size_t count);
/* Adds a row, O(n^2). There must be room. */
void gp_append(struct gp *gp, const double *row);
/* Forgets all rows but the first `count`. */
void gp_truncate(struct gp *gp, size_t count);
/* The values of the first `count` rows, O(n^2). Those behind them (pending
 * ones) have none, but lower the variance. */
void gp_set_values(struct gp *gp, const double *values, size_t count);

/* The mean far from all data. */
double gp_mean(const struct gp *gp);

/*
 * Predictions at `count` points. Each row i of the process has a weight in the
 * mean: mean + sum solved[p][i] weights[i], weights = L^-1 (values - mean).
 */
struct gp_query {
    size_t count, rows;
    const double *points; /* [count][column_count], borrowed */
    double *slope;        /* [count][rows]: dk / d(squared distance) */
    double *solved;       /* [count][rows]: L^-1 k */
    double *variance;     /* [count], without noise */
    size_t capacity;      /* of cells */
};

void gp_query_clear(struct gp_query *query); /* begins as all zeroes */
/* Fills in all of the query; its variances are positive. */
void gp_predict(const struct gp *gp, const double *points, size_t count,
                struct gp_query *query);
/* L^-1 (values - mean), [gp_count]; 0 for rows without a value. */
const double *gp_weights(const struct gp *gp);
/* The mean at one of the query's points. */
double gp_mean_at(const struct gp *gp, const struct gp_query *query,
                  size_t point);
/*
 * The gradients of any functions of the predictions: pulls[count][rows] are
 * their derivatives by `solved`, and are spoilt; gradients[count][column_count]
 * are by the columns (0 for choices), added to what is there.
 */
void gp_add_gradients(const struct gp *gp, const struct gp_query *query,
                      double *pulls, double *gradients);

/*
 * The posterior means at the rows themselves, for each of `count` results that
 * all rows might have had: weights[count][rows] as gp_weights, which for rows
 * without a value go on with a draw of standard normals. Into
 * means[count][rows].
 */
void gp_means_at_rows(const struct gp *gp, const double *weights, size_t count,
                      double *means);

/* The kernel for signal 1 and its derivative by the squared distance, from
 * n squared distances. */
void gp_kernel(size_t n, const double *squared, double *kernel, double *slope);

#endif
