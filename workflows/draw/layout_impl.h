/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_DRAW_LAYOUT_IMPL_H
#define SMTUNE_WORKFLOWS_DRAW_LAYOUT_IMPL_H

#include <stdbool.h>
#include <stddef.h>

#include "workflows/draw/layout.h"

/*
 * What the passes of a layout work on: steps and dummies, all of them vertices
 * (the steps come first), in layers, with arcs between neighbouring layers
 * only.
 */

struct arc {
    size_t upper, lower; /* vertices */
};

struct layers {
    size_t step_count, vertex_count, layer_count, arc_count;
    size_t *layer;        /* [vertex_count] */
    size_t *position;     /* [vertex_count] in its layer */
    size_t *starts;       /* [layer_count + 1] into rows */
    size_t *rows;         /* [vertex_count] vertices by layer, in order */
    struct arc *arcs;     /* [arc_count] */
    size_t *above_starts; /* [vertex_count + 1] into above */
    size_t *above;        /* [arc_count] arcs to the layer above, by upper */
    size_t *below_starts; /* [vertex_count + 1] into below */
    size_t *below;        /* [arc_count] arcs to the layer below, by lower */
};

/* Puts rows and positions into the best order found; sorts above and below by
 * it. */
void layout_order(struct layers *layers);
/* Sorts above and below by the positions. */
void layout_sort_arcs(struct layers *layers);

/* The middle of each vertex, x[vertex_count], from widths[vertex_count]
 * (which have the gaps in them); the leftmost begins at 0. */
void layout_place(const struct layers *layers, const double *widths, double *x);

static inline bool is_dummy(const struct layers *layers, size_t vertex)
{
    return vertex >= layers->step_count;
}

#endif
