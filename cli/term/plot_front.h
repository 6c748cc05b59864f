/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_PLOT_FRONT_H
#define SMTUNE_CLI_TERM_PLOT_FRONT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/term/plot.h"

struct buf;

/* Two objectives of a trial, both finite. */
struct front_point {
    double values[2];
    bool is_on_front;
};

struct front_trials {
    const struct front_point *points; /* [count] */
    size_t count;
    size_t
        not_finite; /* trials that have no place; the title has their number */
};

struct front_axis {
    const char *metric;
    bool maximize;
};

/*
 * Appends a scatter plot of trials over two objectives, x and y. The front is
 * a line of steps up to which everything is beaten, if these two objectives are
 * all (`is_all`), or else dots; other trials are points, in colour or ASCII.
 * Those that are far worse lie beyond the edge. Nothing is appended without a
 * trial on the front.
 */
void plot_front(const struct front_trials *trials,
                const struct front_axis axes[2], bool is_all,
                struct plot_style style, struct buf *out);

#endif
