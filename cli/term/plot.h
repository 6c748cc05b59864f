/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_PLOT_H
#define SMTUNE_CLI_TERM_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

struct plot_point {
    int64_t trial;
    double value; /* NaN is left out, an infinity beyond the edge */
};

struct plot_style {
    int columns; /* of the whole plot, labels and all; at least 30 */
    int rows;    /* of the canvas, at least 3 */
    bool utf8;   /* braille dots; otherwise '*' and '.' */
    bool colour; /* then (and without utf8) each trial is a point, too */
};

/*
 * Appends a plot of the best value so far over the trials, in order of their
 * numbers, which points[] must be in. Nothing is appended where there is no
 * finite value. A log scale where all values are positive and span more than
 * two decades; outliers on the bad side are beyond the edge.
 */
void plot_best_so_far(const struct plot_point *points, size_t count,
                      const char *metric, bool maximize,
                      struct plot_style style, struct buf *out);

#endif
