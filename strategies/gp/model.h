/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_MODEL_H
#define SMTUNE_STRATEGIES_GP_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "strategies/gp/gp.h"
#include "strategies/gp/warp.h"

/*
 * A Gaussian process that keeps up with results as they come. Hyperparameters
 * are fitted at certain numbers of results, from the first so many alone and
 * always from the same starting points; in between, the factor grows by a row
 * a result. So the model is a function of the results in their order, and one
 * that gets them all at once comes out the same to the last bit.
 */

enum model_kind {
    MODEL_OBJECTIVE, /* warped */
    MODEL_OUTCOME    /* pressed together around 0, which stays 0 */
};

struct model;

/* linalg and shape are borrowed. pending_max: rows that model_gp()'s user may
 * append on top. NULL when there is no memory. */
struct model *model_create(const struct linalg *linalg,
                           const struct gp_shape *shape, enum model_kind kind,
                           size_t pending_max);
void model_destroy(struct model *model); /* NULL is none */

enum model_source {
    MODEL_RESULT,
    MODEL_BOUND,  /* the value is a bound: no better than the median */
    MODEL_EARLIER /* of another run: values count by where they are in it */
};

/* A result: columns[column_count] are copied. Those of earlier runs come before
 * all others. */
void model_add(struct model *model, const double *columns, double value,
               enum model_source source);
/* Those of earlier runs not counted. */
size_t model_count(const struct model *model);

/* Brings the process up to date; drops rows appended by others. There must be
 * a result of this run. */
void model_update(struct model *model);
/* By how much the last so many results have lowered the least of all, as a
 * share of the median's distance to it. */
double model_progress(const struct model *model, size_t last);
/* Valid until the next result. Rows are the results that model_rows() names. */
struct gp *model_gp(struct model *model);
size_t model_row_count(const struct model *model);
/* The number, in order, of the result in a row; SIZE_MAX: of another run. */
size_t model_result_of(const struct model *model, size_t row);

/*
 * The same rows and values with length scales that are shorter by a factor: a
 * process that is less sure of what it has not seen. O(n^3). NULL when there is
 * no memory. Valid as model_gp().
 */
struct gp *model_doubting_gp(struct model *model, double shrink);

const struct gp_hyper *model_hyper(const struct model *model);
const struct warp *model_warp(const struct model *model);

#endif
