/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "workflows/draw/layout_impl.h"

/*
 * Brandes, Koepf, "Fast and simple horizontal coordinate assignment" (Graph
 * Drawing 2001): four times, to each side and from each end, every vertex is
 * aligned with a middle one of its neighbours, which makes blocks of vertices
 * one below another, and the blocks are pushed together; a vertex goes to the
 * mean of its two middle places of four. As each of the four keeps the order
 * and the gaps, so does that mean.
 */

struct placing {
    const struct layers *layers;
    const double *widths;
    bool *is_crossed; /* [arc_count] it crosses a line between dummies */
    bool upward;      /* aligned with the layer below, not that above */
    bool leftward;    /* from the right */
    size_t *root;     /* [vertex_count] the first of its block */
    size_t *next; /* [vertex_count] the next of its block; the last: itself */
    size_t *missing; /* [vertex_count] of a root: blocks not yet placed */
    size_t *queue;   /* [vertex_count] roots, in the order of their places */
};

static size_t row_width(const struct layers *layers, size_t layer)
{
    return layers->starts[layer + 1] - layers->starts[layer];
}

/* The i-th vertex of a layer from the side where we begin. */
static size_t vertex_at(const struct placing *placing, size_t layer, size_t i)
{
    const struct layers *layers = placing->layers;
    size_t width = row_width(layers, layer);

    return layers
        ->rows[layers->starts[layer] + (placing->leftward ? width - 1 - i : i)];
}

/* -- Lines that give way --------------------------------------------------*/

/* The position above of the dummy that a dummy continues; -1: it does not. */
static int64_t inner_above(const struct layers *layers, size_t vertex)
{
    size_t upper;

    if (!is_dummy(layers, vertex))
        return -1;
    upper = layers->arcs[layers->above[layers->above_starts[vertex]]].upper;
    return is_dummy(layers, upper) ? (int64_t)layers->position[upper] : -1;
}

static void cross_span(struct placing *placing, const size_t *row, size_t count,
                       int64_t low, int64_t high)
{
    const struct layers *layers = placing->layers;

    for (size_t i = 0; i < count; i++) {
        if (inner_above(layers, row[i]) >= 0)
            continue;
        for (size_t k = layers->above_starts[row[i]];
             k < layers->above_starts[row[i] + 1]; k++) {
            size_t arc = layers->above[k];
            int64_t at = (int64_t)layers->position[layers->arcs[arc].upper];

            placing->is_crossed[arc] = at < low || at > high;
        }
    }
}

/* Their conflicts of type 1, algorithm 1. */
static void find_crossed(struct placing *placing, size_t layer)
{
    const struct layers *layers = placing->layers;
    const size_t *row = layers->rows + layers->starts[layer];
    size_t width = row_width(layers, layer), begin = 0;
    int64_t low = 0;

    for (size_t i = 0; i < width; i++) {
        int64_t inner = inner_above(layers, row[i]);

        if (inner < 0)
            continue;
        cross_span(placing, row + begin, i - begin, low, inner);
        begin = i + 1;
        low = inner;
    }
    cross_span(placing, row + begin, width - begin, low,
               (int64_t)row_width(layers, layer - 1));
}

/* -- Blocks ---------------------------------------------------------------*/

/* Whether the vertex can go below (above) the far end of the arc, whose
 * position must lie behind *reached. */
static bool align(struct placing *placing, size_t vertex, size_t arc,
                  int64_t *reached)
{
    const struct arc *ends = &placing->layers->arcs[arc];
    size_t far = placing->upward ? ends->lower : ends->upper;
    int64_t at = (int64_t)placing->layers->position[far];

    if (placing->leftward)
        at = -at;
    if (placing->is_crossed[arc] || at <= *reached)
        return false;
    placing->root[vertex] = placing->root[far];
    placing->next[far] = vertex;
    *reached = at;
    return true;
}

static void align_layer(struct placing *placing, size_t layer)
{
    const struct layers *layers = placing->layers;
    const size_t *starts =
        placing->upward ? layers->below_starts : layers->above_starts;
    const size_t *arcs = placing->upward ? layers->below : layers->above;
    size_t width = row_width(layers, layer);
    int64_t reached = INT64_MIN;

    for (size_t i = 0; i < width; i++) {
        size_t vertex = vertex_at(placing, layer, i);
        size_t count = starts[vertex + 1] - starts[vertex];
        const size_t *list = arcs + starts[vertex];
        size_t first, second;

        if (count == 0)
            continue;
        first = (count - 1) / 2;
        second = count / 2;
        if (!align(placing, vertex, list[placing->leftward ? second : first],
                   &reached) &&
            first != second)
            align(placing, vertex, list[placing->leftward ? first : second],
                  &reached);
    }
}

static void make_blocks(struct placing *placing)
{
    size_t layer_count = placing->layers->layer_count;

    for (size_t i = 0; i < placing->layers->vertex_count; i++)
        placing->root[i] = placing->next[i] = i;
    for (size_t i = 1; i < layer_count; i++)
        align_layer(placing, placing->upward ? layer_count - 1 - i : i);
}

/* -- Blocks pushed together -----------------------------------------------*/

/* Its neighbour on the side where we go; false: it is the last. */
static bool neighbour(const struct placing *placing, size_t vertex,
                      size_t *found)
{
    const struct layers *layers = placing->layers;
    size_t layer = layers->layer[vertex], at = layers->position[vertex];
    const size_t *row = layers->rows + layers->starts[layer];

    if (placing->leftward ? at == 0 : at + 1 == row_width(layers, layer))
        return false;
    *found = row[placing->leftward ? at - 1 : at + 1];
    return true;
}

static double distance(const struct placing *placing, size_t a, size_t b)
{
    return (placing->widths[a] + placing->widths[b]) / 2.0;
}

/* Puts the roots into the queue, each behind all blocks on its near side. */
static void push_blocks(struct placing *placing, double *x)
{
    size_t count = placing->layers->vertex_count, head = 0, tail = 0, beside;

    memset(placing->missing, 0, count * sizeof(*placing->missing));
    for (size_t i = 0; i < count; i++)
        if (neighbour(placing, i, &beside))
            placing->missing[placing->root[beside]]++;
    for (size_t i = 0; i < count; i++) {
        x[i] = 0.0;
        if (placing->root[i] == i && placing->missing[i] == 0)
            placing->queue[tail++] = i;
    }
    while (head < tail) {
        size_t root = placing->queue[head++], vertex = root;

        for (;; vertex = placing->next[vertex]) {
            if (neighbour(placing, vertex, &beside)) {
                size_t other = placing->root[beside];

                x[other] =
                    fmax(x[other], x[root] + distance(placing, vertex, beside));
                if (--placing->missing[other] == 0)
                    placing->queue[tail++] = other;
            }
            if (placing->next[vertex] == vertex)
                break;
        }
    }
}

/* Where a block has room behind it, it goes to what is beside it. */
static void pull_blocks(struct placing *placing, double *x)
{
    size_t count = placing->layers->vertex_count, roots = 0, beside;

    for (size_t i = 0; i < count; i++)
        roots += placing->root[i] == i ? 1 : 0;
    while (roots-- > 0) {
        size_t root = placing->queue[roots], vertex = root;
        double room = INFINITY;

        for (;; vertex = placing->next[vertex]) {
            if (neighbour(placing, vertex, &beside))
                room = fmin(room, x[placing->root[beside]] -
                                      distance(placing, vertex, beside));
            if (placing->next[vertex] == vertex)
                break;
        }
        if (isfinite(room))
            x[root] = fmax(x[root], room);
    }
}

static void place_blocks(struct placing *placing, double *x)
{
    size_t count = placing->layers->vertex_count;

    push_blocks(placing, x);
    pull_blocks(placing, x);
    for (size_t i = 0; i < count; i++)
        x[i] = x[placing->root[i]];
    for (size_t i = 0; placing->leftward && i < count; i++)
        x[i] = -x[i];
}

/* -- Of the four ----------------------------------------------------------*/

struct extent {
    double left, right;
};

static struct extent extent_of(const struct placing *placing, const double *x)
{
    struct extent extent = {INFINITY, -INFINITY};

    for (size_t i = 0; i < placing->layers->vertex_count; i++) {
        extent.left = fmin(extent.left, x[i] - placing->widths[i] / 2.0);
        extent.right = fmax(extent.right, x[i] + placing->widths[i] / 2.0);
    }
    return extent;
}

static void sort_four(double *values)
{
    for (int i = 1; i < 4; i++)
        for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
            double value = values[k];

            values[k] = values[k - 1];
            values[k - 1] = value;
        }
}

/* All are moved to the edge of the narrowest on the side they were pushed to.
 */
static void balance(const struct placing *placing, double *const *four,
                    double *x)
{
    struct extent extents[4], narrowest;
    double shift[4], left = INFINITY;

    for (int i = 0; i < 4; i++)
        extents[i] = extent_of(placing, four[i]);
    narrowest = extents[0];
    for (int i = 1; i < 4; i++)
        if (extents[i].right - extents[i].left <
            narrowest.right - narrowest.left)
            narrowest = extents[i];
    for (int i = 0; i < 4; i++)
        shift[i] = i % 2 == 0 ? narrowest.left - extents[i].left
                              : narrowest.right - extents[i].right;
    for (size_t i = 0; i < placing->layers->vertex_count; i++) {
        double places[4];

        for (int k = 0; k < 4; k++)
            places[k] = four[k][i] + shift[k];
        sort_four(places);
        x[i] = (places[1] + places[2]) / 2.0;
        left = fmin(left, x[i] - placing->widths[i] / 2.0);
    }
    for (size_t i = 0; i < placing->layers->vertex_count; i++)
        x[i] -= left;
}

void layout_place(const struct layers *layers, const double *widths, double *x)
{
    size_t count = layers->vertex_count;
    size_t *numbers = mem_array(4 * count + 1, sizeof(*numbers));
    double *places = mem_array(4 * count + 1, sizeof(*places));
    double *four[4];
    struct placing placing = {
        .layers = layers,
        .widths = widths,
        .is_crossed = mem_array(layers->arc_count + 1, sizeof(bool)),
        .root = numbers,
        .next = numbers + count,
        .missing = numbers + 2 * count,
        .queue = numbers + 3 * count,
    };

    for (size_t i = 1; i < layers->layer_count; i++)
        find_crossed(&placing, i);
    for (int i = 0; i < 4; i++) {
        four[i] = places + (size_t)i * count;
        placing.upward = i / 2 == 1;
        placing.leftward = i % 2 == 1;
        make_blocks(&placing);
        place_blocks(&placing, four[i]);
    }
    balance(&placing, four, x);
    free(placing.is_crossed);
    free(places);
    free(numbers);
}
