/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_LBFGS_H
#define SMTUNE_STRATEGIES_GP_LBFGS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Minimises a smooth function over a box: limited-memory BFGS (J. Nocedal and
 * S. Wright, "Numerical Optimization", 2nd edition, algorithm 7.4) on the
 * coordinates that are not held at a bound, with steps projected to the box
 * and backtracking (D. Bertsekas, SIAM J. Control Optim. 20(2), 1982).
 *
 * The caller evaluates, so that many runs can go on side by side and be
 * evaluated in one batch:
 *
 *     lbfgs = lbfgs_create(n, lower, upper, start);
 *     while ((x = lbfgs_next(lbfgs)) != NULL)
 *         lbfgs_tell(lbfgs, f(x), gradient of f at x);
 */

struct lbfgs;

struct lbfgs_options {
    int evaluations;   /* at most so many */
    double gradient;   /* ends when the projected one's largest entry is less */
    double decrease;   /* ends when a step lowers f by less */
    double first_step; /* largest change of a coordinate in the first step */
};

/* Copies lower[n], upper[n] and start[n], which is moved into the box. */
struct lbfgs *lbfgs_create(size_t n, const double *lower, const double *upper,
                           const double *start,
                           const struct lbfgs_options *options);
void lbfgs_destroy(struct lbfgs *lbfgs); /* NULL is none */

/* Where to evaluate next, [n]; NULL: it has ended. */
const double *lbfgs_next(const struct lbfgs *lbfgs);
/* value may be infinite: there is no going there; gradient is then not read. */
void lbfgs_tell(struct lbfgs *lbfgs, double value, const double *gradient);

/* The best point so far, [n], and its value; the start and infinity before the
 * first evaluation. */
const double *lbfgs_best(const struct lbfgs *lbfgs, double *value);

#endif
