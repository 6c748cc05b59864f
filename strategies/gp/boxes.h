/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_BOXES_H
#define SMTUNE_STRATEGIES_GP_BOXES_H

#include <stddef.h>

/*
 * What a front of two or three objectives leaves to be had: the region below a
 * reference point that no point of the front dominates, cut into boxes that do
 * not overlap. So the improvement in hypervolume that a new point makes is a
 * sum over boxes of products over objectives. n points of the front leave n + 1
 * boxes, or of three objectives at most 2 n + 1: one pass over the third
 * objective, in which a box ends where a strip of the plane changes (K. Yang et
 * al., "Efficient computation of expected hypervolume improvement using box
 * decomposition algorithms", J. Global Optim. 75, 2019). Lower is better.
 */

enum { BOXES_OBJECTIVES_MAX = 3 };

/* From and to which of an objective's edges. */
struct box {
    size_t low[BOXES_OBJECTIVES_MAX], high[BOXES_OBJECTIVES_MAX];
};

/* Embedded: boxes_split, boxes_clear. */
struct boxes {
    struct box *list; /* [count] */
    size_t count;
    /* Of each objective, ascending; the first is -infinity. */
    double *edges[BOXES_OBJECTIVES_MAX];
    size_t edge_counts[BOXES_OBJECTIVES_MAX];
};

/* values[count][objectives], finite; 2 or 3 objectives. What is dominated, or
 * not below the reference everywhere, makes no difference. */
void boxes_split(struct boxes *boxes, const double *values, size_t count,
                 size_t objectives, const double *reference);
void boxes_clear(struct boxes *boxes);

#endif
