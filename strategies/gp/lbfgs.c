/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/lbfgs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MEMORY = 8, BACKTRACKS = 12 };

static const double armijo = 1e-4;

struct lbfgs {
    size_t n;
    struct lbfgs_options options;
    double *lower, *upper;
    double *x, *gradient; /* the best point, and the gradient there */
    double value;
    double *trial;     /* where to evaluate next */
    double *direction; /* from x */
    double *steps;     /* [MEMORY][n], a ring */
    double *changes;   /* [MEMORY][n]: of the gradient */
    double curvature[MEMORY];
    size_t kept; /* pairs since the last reset; the newest is kept - 1 */
    double length;
    int backtracks, evaluations;
    bool is_done;
};

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

struct lbfgs *lbfgs_create(size_t n, const double *lower, const double *upper,
                           const double *start,
                           const struct lbfgs_options *options)
{
    struct lbfgs *lbfgs = mem_zero(sizeof(*lbfgs));
    double *cells = mem_array(n * (6 + 2 * MEMORY) + 1, sizeof(*cells));

    *lbfgs = (struct lbfgs){
        .n = n,
        .options = *options,
        .lower = cells,
        .upper = cells + n,
        .x = cells + 2 * n,
        .gradient = cells + 3 * n,
        .value = (double)INFINITY,
        .trial = cells + 4 * n,
        .direction = cells + 5 * n,
        .steps = cells + 6 * n,
        .changes = cells + (6 + MEMORY) * n,
    };
    memcpy(lbfgs->lower, lower, n * sizeof(*lower));
    memcpy(lbfgs->upper, upper, n * sizeof(*upper));
    for (size_t i = 0; i < n; i++)
        lbfgs->x[i] = lbfgs->trial[i] = clamp(start[i], lower[i], upper[i]);
    return lbfgs;
}

void lbfgs_destroy(struct lbfgs *lbfgs)
{
    if (lbfgs == NULL)
        return;
    free(lbfgs->lower); /* the head of all cells */
    free(lbfgs);
}

const double *lbfgs_next(const struct lbfgs *lbfgs)
{
    return lbfgs->is_done ? NULL : lbfgs->trial;
}

const double *lbfgs_best(const struct lbfgs *lbfgs, double *value)
{
    if (value != NULL)
        *value = lbfgs->value;
    return lbfgs->x;
}

/* Whether going down would leave the box. */
static bool is_held(const struct lbfgs *lbfgs, size_t i)
{
    double slope = lbfgs->gradient[i];

    return (lbfgs->x[i] <= lbfgs->lower[i] && slope > 0) ||
           (lbfgs->x[i] >= lbfgs->upper[i] && slope < 0);
}

/* The two loops of algorithm 7.4. */
static void apply_inverse(const struct lbfgs *lbfgs, double *q)
{
    size_t n = lbfgs->n, newest = lbfgs->kept;
    size_t oldest = newest > MEMORY ? newest - MEMORY : 0;
    double alpha[MEMORY];

    for (size_t k = newest; k-- > oldest;) {
        const double *step = lbfgs->steps + k % MEMORY * n;
        const double *change = lbfgs->changes + k % MEMORY * n;

        alpha[k % MEMORY] = dot(step, q, n) / lbfgs->curvature[k % MEMORY];
        for (size_t i = 0; i < n; i++)
            q[i] -= alpha[k % MEMORY] * change[i];
    }
    if (newest > 0) {
        size_t k = (newest - 1) % MEMORY;
        const double *change = lbfgs->changes + k * n;
        double scale = lbfgs->curvature[k] / dot(change, change, n);

        for (size_t i = 0; i < n; i++)
            q[i] *= scale;
    }
    for (size_t k = oldest; k < newest; k++) {
        const double *step = lbfgs->steps + k % MEMORY * n;
        const double *change = lbfgs->changes + k % MEMORY * n;
        double beta = dot(change, q, n) / lbfgs->curvature[k % MEMORY];

        for (size_t i = 0; i < n; i++)
            q[i] += (alpha[k % MEMORY] - beta) * step[i];
    }
}

static void set_trial(struct lbfgs *lbfgs)
{
    bool moves = false;

    for (size_t i = 0; i < lbfgs->n; i++) {
        lbfgs->trial[i] =
            clamp(lbfgs->x[i] + lbfgs->length * lbfgs->direction[i],
                  lbfgs->lower[i], lbfgs->upper[i]);
        moves |= lbfgs->trial[i] < lbfgs->x[i] || lbfgs->trial[i] > lbfgs->x[i];
    }
    if (!moves)
        lbfgs->is_done = true;
}

static void steepest(struct lbfgs *lbfgs, double largest)
{
    double first = lbfgs->options.first_step;

    lbfgs->kept = 0;
    for (size_t i = 0; i < lbfgs->n; i++)
        lbfgs->direction[i] = is_held(lbfgs, i) ? 0 : -lbfgs->gradient[i];
    lbfgs->length = fmin(1, first / largest);
}

static void set_direction(struct lbfgs *lbfgs)
{
    double *direction = lbfgs->direction;
    double largest = 0, slope, size;
    size_t n = lbfgs->n;

    for (size_t i = 0; i < n; i++) {
        direction[i] = is_held(lbfgs, i) ? 0 : -lbfgs->gradient[i];
        largest = fmax(largest, fabs(direction[i]));
    }
    if (!(largest > lbfgs->options.gradient)) {
        lbfgs->is_done = true;
        return;
    }
    size = sqrt(dot(direction, direction, n));
    apply_inverse(lbfgs, direction);
    for (size_t i = 0; i < n; i++)
        if (is_held(lbfgs, i))
            direction[i] = 0;
    slope = dot(direction, lbfgs->gradient, n);
    lbfgs->length = 1;
    if (lbfgs->kept == 0 ||
        !(slope < -1e-10 * size * sqrt(dot(direction, direction, n))))
        steepest(lbfgs, largest);
    lbfgs->backtracks = 0;
    set_trial(lbfgs);
}

static void remember_pair(struct lbfgs *lbfgs, const double *gradient)
{
    size_t n = lbfgs->n, k = lbfgs->kept % MEMORY;
    double *step = lbfgs->steps + k * n, *change = lbfgs->changes + k * n;
    double curvature;

    for (size_t i = 0; i < n; i++) {
        step[i] = lbfgs->trial[i] - lbfgs->x[i];
        change[i] = gradient[i] - lbfgs->gradient[i];
    }
    curvature = dot(step, change, n);
    if (curvature > 1e-10 * dot(change, change, n)) {
        lbfgs->curvature[k] = curvature;
        lbfgs->kept++;
    }
}

/* The length of the parabola's minimum, through what is known. */
static void backtrack(struct lbfgs *lbfgs, double value, double slope)
{
    double shrink = 0.1;

    if (++lbfgs->backtracks > BACKTRACKS) {
        if (lbfgs->kept == 0)
            lbfgs->is_done = true;
        lbfgs->kept = 0;
        if (!lbfgs->is_done)
            set_direction(lbfgs);
        return;
    }
    if (isfinite(value))
        shrink = clamp(-slope / (2 * (value - lbfgs->value - slope)), 0.1, 0.5);
    lbfgs->length *= shrink;
    set_trial(lbfgs);
}

void lbfgs_tell(struct lbfgs *lbfgs, double value, const double *gradient)
{
    bool is_first = lbfgs->evaluations++ == 0;
    double slope = 0, before = lbfgs->value;

    for (size_t i = 0; i < lbfgs->n; i++)
        slope += lbfgs->gradient[i] * (lbfgs->trial[i] - lbfgs->x[i]);
    if (is_first && !isfinite(value)) {
        lbfgs->is_done = true;
    } else if (is_first || value <= before + armijo * fmin(slope, 0)) {
        if (!is_first)
            remember_pair(lbfgs, gradient);
        memcpy(lbfgs->x, lbfgs->trial, lbfgs->n * sizeof(*lbfgs->x));
        memcpy(lbfgs->gradient, gradient, lbfgs->n * sizeof(*gradient));
        lbfgs->value = value;
        if (!is_first && before - value < lbfgs->options.decrease)
            lbfgs->is_done = true;
        else
            set_direction(lbfgs);
    } else {
        backtrack(lbfgs, value, slope);
    }
    if (lbfgs->evaluations >= lbfgs->options.evaluations)
        lbfgs->is_done = true;
}
