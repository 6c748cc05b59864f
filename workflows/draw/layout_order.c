/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "workflows/draw/layout_impl.h"

/* Sweeps beyond the second, and switching, go on until this is spent, in
 * vertices and arcs looked at. */
enum {
    WORK_MAX = 4000000,
    SWITCH_PASSES = 4,
    PATIENCE = 4 /* sweeps in a row that are no better */
};

/* -- Arcs in the order of their ends --------------------------------------*/

/* Going through the vertices in order, each arc is put behind the others of
 * its far end: so all lists are sorted in one pass. */
static void sort_lists(const struct layers *layers, bool above, size_t *next)
{
    const size_t *starts = above ? layers->below_starts : layers->above_starts;
    const size_t *from = above ? layers->below : layers->above;
    size_t *to = above ? layers->above : layers->below;

    memcpy(next, above ? layers->above_starts : layers->below_starts,
           layers->vertex_count * sizeof(*next));
    for (size_t i = 0; i < layers->vertex_count; i++) {
        size_t vertex = layers->rows[i];

        for (size_t k = starts[vertex]; k < starts[vertex + 1]; k++) {
            const struct arc *arc = &layers->arcs[from[k]];

            to[next[above ? arc->lower : arc->upper]++] = from[k];
        }
    }
}

void layout_sort_arcs(struct layers *layers)
{
    size_t *next = mem_array(layers->vertex_count + 1, sizeof(*next));

    sort_lists(layers, true, next);
    sort_lists(layers, false, next);
    free(next);
}

/* -- Crossings ------------------------------------------------------------*/

/* Barth, Juenger, Mutzel: arcs in the order of their upper ends; each crosses
 * those before it whose lower end is further right. `tree` counts these, a
 * Fenwick tree over the positions of the lower layer. */
static size_t count_between(const struct layers *layers, size_t upper,
                            size_t *tree)
{
    size_t width = layers->starts[upper + 2] - layers->starts[upper + 1];
    size_t crossings = 0, seen = 0;

    memset(tree, 0, (width + 1) * sizeof(*tree));
    for (size_t i = layers->starts[upper]; i < layers->starts[upper + 1]; i++) {
        size_t vertex = layers->rows[i];
        size_t begin = layers->below_starts[vertex];
        size_t end = layers->below_starts[vertex + 1];

        for (size_t k = begin; k < end; k++) {
            size_t lower = layers->arcs[layers->below[k]].lower;

            crossings += seen;
            for (size_t at = layers->position[lower] + 1; at > 0;
                 at -= at & (~at + 1))
                crossings -= tree[at];
        }
        for (size_t k = begin; k < end; k++, seen++) {
            size_t lower = layers->arcs[layers->below[k]].lower;

            for (size_t at = layers->position[lower] + 1; at <= width;
                 at += at & (~at + 1))
                tree[at]++;
        }
    }
    return crossings;
}

static size_t count_crossings(const struct layers *layers, size_t *tree)
{
    size_t crossings = 0;

    for (size_t i = 0; i + 1 < layers->layer_count; i++)
        crossings += count_between(layers, i, tree);
    return crossings;
}

/* -- One layer against its neighbour --------------------------------------*/

struct sweep {
    struct layers *layers;
    bool from_above; /* a layer is ordered by the one above it */
    size_t spent;
    size_t *near;         /* [arc_count] positions of the neighbours, sorted, at
                             above_starts (below_starts) */
    size_t *next;         /* [vertex_count] */
    struct place *places; /* [vertex_count] */
};

struct place {
    double weight;
    size_t was, vertex;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;

    if (left->weight != right->weight)
        return left->weight < right->weight ? -1 : 1;
    return left->was < right->was ? -1 : left->was > right->was;
}

static const size_t *near_starts(const struct sweep *sweep)
{
    return sweep->from_above ? sweep->layers->above_starts
                             : sweep->layers->below_starts;
}

/* Fills `near` of a layer from the one that is fixed. */
static void find_near(struct sweep *sweep, size_t layer, size_t fixed)
{
    struct layers *layers = sweep->layers;
    const size_t *starts =
        sweep->from_above ? layers->below_starts : layers->above_starts;
    const size_t *arcs = sweep->from_above ? layers->below : layers->above;

    for (size_t i = layers->starts[layer]; i < layers->starts[layer + 1]; i++)
        sweep->next[layers->rows[i]] = near_starts(sweep)[layers->rows[i]];
    for (size_t i = layers->starts[fixed]; i < layers->starts[fixed + 1]; i++) {
        size_t vertex = layers->rows[i];

        for (size_t k = starts[vertex]; k < starts[vertex + 1]; k++) {
            const struct arc *arc = &layers->arcs[arcs[k]];
            size_t end = sweep->from_above ? arc->lower : arc->upper;

            sweep->near[sweep->next[end]++] = layers->position[vertex];
        }
    }
}

/* The mean place of its neighbours; one without keeps its own. */
static double barycentre(const struct sweep *sweep, size_t vertex, double own)
{
    const size_t *starts = near_starts(sweep);
    size_t count = starts[vertex + 1] - starts[vertex];
    double sum = 0.0;

    for (size_t k = starts[vertex]; k < starts[vertex + 1]; k++)
        sum += (double)sweep->near[k];
    return count > 0 ? sum / (double)count : own;
}

/* How many arcs of left cross arcs of right: those that end further right. */
static size_t count_pair(struct sweep *sweep, size_t left, size_t right)
{
    const size_t *starts = near_starts(sweep);
    size_t crossings = 0, below = starts[right];

    for (size_t k = starts[left]; k < starts[left + 1]; k++) {
        while (below < starts[right + 1] && sweep->near[below] < sweep->near[k])
            below++;
        crossings += below - starts[right];
    }
    sweep->spent += starts[left + 1] - starts[left] + below - starts[right];
    return crossings;
}

static bool switch_neighbours(struct sweep *sweep, size_t *row, size_t width)
{
    bool is_better = false;

    for (size_t i = 0; i + 1 < width && sweep->spent < WORK_MAX; i++) {
        size_t left = row[i], right = row[i + 1];

        if (count_pair(sweep, left, right) <= count_pair(sweep, right, left))
            continue;
        row[i] = right;
        row[i + 1] = left;
        is_better = true;
    }
    return is_better;
}

static void order_layer(struct sweep *sweep, size_t layer, size_t fixed)
{
    struct layers *layers = sweep->layers;
    size_t *row = layers->rows + layers->starts[layer];
    size_t width = layers->starts[layer + 1] - layers->starts[layer];
    size_t fixed_width = layers->starts[fixed + 1] - layers->starts[fixed];
    double scale = (double)fixed_width / (double)width;

    find_near(sweep, layer, fixed);
    for (size_t i = 0; i < width; i++)
        sweep->places[i] = (struct place){
            barycentre(sweep, row[i], (double)i * scale), i, row[i]};
    qsort(sweep->places, width, sizeof(*sweep->places), compare_places);
    for (size_t i = 0; i < width; i++)
        row[i] = sweep->places[i].vertex;
    for (int i = 0; i < SWITCH_PASSES; i++)
        if (!switch_neighbours(sweep, row, width))
            break;
    for (size_t i = 0; i < width; i++)
        layers->position[row[i]] = i;
}

static void sweep_down(struct sweep *sweep)
{
    sweep->from_above = true;
    for (size_t i = 1; i < sweep->layers->layer_count; i++)
        order_layer(sweep, i, i - 1);
}

static void sweep_up(struct sweep *sweep)
{
    sweep->from_above = false;
    for (size_t i = sweep->layers->layer_count - 1; i-- > 0;)
        order_layer(sweep, i, i + 1);
}

/* -- All of them ----------------------------------------------------------*/

static void take_rows(struct layers *layers, const size_t *rows)
{
    memcpy(layers->rows, rows, layers->vertex_count * sizeof(*rows));
    for (size_t i = 0; i < layers->layer_count; i++)
        for (size_t k = layers->starts[i]; k < layers->starts[i + 1]; k++)
            layers->position[layers->rows[k]] = k - layers->starts[i];
}

static void find_best(struct sweep *sweep, size_t *best_rows, size_t *tree)
{
    struct layers *layers = sweep->layers;
    size_t bytes = layers->vertex_count * sizeof(*best_rows);
    size_t work = layers->vertex_count + layers->arc_count;
    size_t best = count_crossings(layers, tree);
    int idle = 0;

    memcpy(best_rows, layers->rows, bytes);
    for (int i = 0; i < LAYOUT_SWEEPS && best > 0 && idle < PATIENCE; i++) {
        size_t crossings;

        if (i >= 2 && sweep->spent > WORK_MAX)
            break;
        if (i % 2 == 0)
            sweep_down(sweep);
        else
            sweep_up(sweep);
        sweep->spent += work;
        crossings = count_crossings(layers, tree);
        idle = crossings < best ? 0 : idle + 1;
        if (crossings >= best)
            continue;
        best = crossings;
        memcpy(best_rows, layers->rows, bytes);
    }
}

void layout_order(struct layers *layers)
{
    size_t room = layers->vertex_count + 2;
    size_t *best_rows = mem_array(room, sizeof(*best_rows));
    size_t *tree = mem_array(room, sizeof(*tree));
    struct sweep sweep = {
        .layers = layers,
        .near = mem_array(layers->arc_count + 1, sizeof(*sweep.near)),
        .next = mem_array(room, sizeof(*sweep.next)),
        .places = mem_array(room, sizeof(*sweep.places)),
    };

    find_best(&sweep, best_rows, tree);
    take_rows(layers, best_rows);
    layout_sort_arcs(layers);
    free(sweep.places);
    free(sweep.next);
    free(sweep.near);
    free(tree);
    free(best_rows);
}
