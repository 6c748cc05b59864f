/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_BENCH_CLUSTER_CURVES_H
#define SMTUNE_TESTS_BENCH_CLUSTER_CURVES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "strategies/space/space.h"

/*
 * Learning curves that were tabulated once (curves.py, curves.csv), and the
 * space that their settings came from. A point of the space stands for the
 * nearest row: of those with its optimizer, the one at the smallest Euclidean
 * distance in the unit cube of the parameters that are active.
 */

enum { CURVE_EPOCHS = 27, CURVE_PARAMETERS = 8 };

struct curve {
    double unit[CURVE_PARAMETERS]; /* of a parameter that is not active: -1 */
    double epoch_s;
    size_t epochs;               /* fewer where the training diverged then */
    double errors[CURVE_EPOCHS]; /* after each: the share that was wrong */
};

struct curves {
    struct expr_env *env; /* NULL where the space is borrowed */
    struct space *space;
    struct curve *rows; /* [count] */
    size_t count;
    double best;    /* the smallest error of any epoch */
    double epoch_s; /* the mean of the rows */
};

/* NULL with ERR_FILE and a line for a table that cannot be read. */
struct curves *curves_load(const char *path, struct err *err);
void curves_destroy(struct curves *curves);
/* A share of the rows, another one for each seed; all outlives it. */
struct curves *curves_draw(const struct curves *all, double share,
                           uint64_t seed);

/* point[CURVE_PARAMETERS] of the space. */
const struct curve *curves_nearest(const struct curves *curves,
                                   const struct value *point);

#endif
