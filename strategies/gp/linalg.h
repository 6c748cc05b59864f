/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_LINALG_H
#define SMTUNE_STRATEGIES_GP_LINALG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * Dense linear algebra for Gaussian processes: the few operations that they
 * need, on OpenBLAS. The library is loaded when it is first wanted and not
 * linked, because it costs every start of the program 10 ms; where it is not
 * installed, GSL's own cblas does the same, slower. One thread.
 *
 * Matrices are row-major with a leading dimension `stride`, so that one can
 * grow by rows in place. A factor is a lower triangle L with K = L L^T; what is
 * above its diagonal is neither read nor written.
 */

struct linalg;

/* NULL (ERR_FAILED) when neither library is there. */
struct linalg *linalg_open(struct err *err);
void linalg_close(struct linalg *linalg); /* NULL is none */

/* The lower triangle of a symmetric [n][n] to its factor. False when it is not
 * positive definite (the matrix is then spoilt). */
bool linalg_factor(const struct linalg *linalg, double *matrix, size_t n,
                   size_t stride);

/* x[n] to L^-1 x. */
void linalg_solve(const struct linalg *linalg, const double *factor, size_t n,
                  size_t stride, double *x);

/* Each row of rows[m][n] to L^-1 row, or with `transposed` to L^-T row. */
void linalg_solve_rows(const struct linalg *linalg, bool transposed,
                       const double *factor, size_t n, size_t stride,
                       double *rows, size_t m);

/* The lower triangle of K^-1 into inverse[n][n] (stride n) from K's factor. */
void linalg_invert(const struct linalg *linalg, const double *factor, size_t n,
                   size_t stride, double *inverse);

/* out[m][k] = a[m][n] b[k][n]^T, all without gaps. */
void linalg_multiply(const struct linalg *linalg, const double *a, size_t m,
                     size_t n, const double *b, size_t k, double *out);

#endif
