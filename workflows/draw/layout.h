/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_DRAW_LAYOUT_H
#define SMTUNE_WORKFLOWS_DRAW_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "workflows/graph.h"

/*
 * Where the steps of a graph go in a picture: in layers from top to bottom,
 * each below all that it needs (Sugiyama, Tagawa, Toda 1981). Pure, and always
 * the same for the same graph.
 *
 * A line that passes layers holds a place in each, a dummy; all lines from one
 * step share theirs. Where that would be more than LAYOUT_DUMMIES_A_STEP of
 * them on average, the steps with the longest lines do without, and their lines
 * go straight. The order within layers comes from sweeps with barycentres and
 * switching (Eades, Kelly 1986), crossings counted as by Barth, Juenger, Mutzel
 * 2002; at most LAYOUT_SWEEPS of them, and fewer where there is much: at least
 * two. Across, places are those of Brandes and Koepf 2001, but with blocks
 * compacted along the graph of their neighbours, and widths that differ.
 */

enum { LAYOUT_SWEEPS = 24, LAYOUT_DUMMIES_A_STEP = 4 };

struct layout;

struct layout_options {
    const double *widths; /* [steps] */
    double height;        /* of each step */
    double gap;           /* between neighbours in a layer */
    double line_gap;      /* between a line and its neighbours */
    double layer_gap;     /* between layers */
    const bool *is_last;  /* [steps] those that go below all others; or NULL */
};

struct layout_point {
    double x, y;
};

struct layout_box {
    double x, y, width, height; /* of its upper left corner */
};

/* The graph has no circles, and nothing that goes last is needed by what does
 * not. The graph and the widths are borrowed as long as the layout lives. */
struct layout *layout_create(const struct graph *graph,
                             const struct layout_options *options);
void layout_destroy(struct layout *layout);

/* With half a gap on either side. */
double layout_width(const struct layout *layout);
double layout_height(const struct layout *layout);
size_t layout_layer(const struct layout *layout, size_t step);
struct layout_box layout_box(const struct layout *layout, size_t step);
/*
 * The line from what a step needs, its `need`-th need in graph_needs(), down to
 * the step: points[*count], of the lower edge, two of each layer that it
 * passes, of the upper edge. For the caller to free.
 */
struct layout_point *layout_line(const struct layout *layout, size_t step,
                                 size_t need, size_t *count);

#endif
