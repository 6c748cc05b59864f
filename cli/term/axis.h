/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_AXIS_H
#define SMTUNE_CLI_TERM_AXIS_H

#include <stdbool.h>

struct buf;
struct canvas;

/* One axis of a plot, with a tick at each end and one in the middle. */

enum { AXIS_TICKS = 3, AXIS_LABEL_SIZE = 32 };

struct plot_axis {
    double low, high; /* in its scale */
    bool is_log;
    char labels[AXIS_TICKS][AXIS_LABEL_SIZE]; /* from the low end */
};

/* Whether values from low to high ask for a log scale: positive, and more than
 * two decades. */
bool axis_spans_decades(double low, double high);

/* From low to high, finite; a little wider where they are equal. */
void axis_init(struct plot_axis *axis, double low, double high);

/* Where a value is: 0 at the low end, 1 at the high one. */
double axis_place(const struct plot_axis *axis, double value);

/* The columns that the labels of a y axis take. */
int axis_label_columns(const struct plot_axis *axis);

/* Appends the rows of a canvas behind its y axis. */
void axis_print_canvas(const struct plot_axis *axis,
                       const struct canvas *canvas, int rows, bool utf8,
                       struct buf *out);

/* Appends the line below the canvas, and under it the labels of an x axis,
 * `margin` columns behind. */
void axis_print_line(int margin, int columns, bool utf8, struct buf *out);
void axis_print_labels(const struct plot_axis *axis, int margin, int columns,
                       struct buf *out);

#endif
