/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/draw/layout.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "workflows/draw/layout_impl.h"

struct layout {
    const struct graph *graph;
    struct layers layers;
    struct layout_options options;
    size_t *chains;       /* [step_count] its first dummy, a layer below it; the
                             others follow */
    size_t *chain_counts; /* [step_count] how many it has */
    double *x;            /* [vertex_count] middles */
    double width;
};

/* -- Layers ---------------------------------------------------------------*/

static bool is_last(const struct layout *layout, size_t step)
{
    return layout->options.is_last != NULL && layout->options.is_last[step];
}

/* As high as what it needs allows, and no higher than `first`. */
static size_t highest_layer(const struct layout *layout, size_t step,
                            size_t first)
{
    size_t count, layer = first;
    const size_t *needs = graph_needs(layout->graph, step, &count);

    for (size_t i = 0; i < count; i++) {
        assert(is_last(layout, step) || !is_last(layout, needs[i]));
        if (layout->layers.layer[needs[i]] >= layer)
            layer = layout->layers.layer[needs[i]] + 1;
    }
    return layer;
}

/* Those that go last begin below all others. */
static void rank(struct layout *layout, const size_t *order)
{
    struct layers *layers = &layout->layers;
    size_t next = 0;

    for (int last = 0; last < 2; last++) {
        size_t first = next;

        for (size_t i = 0; i < layers->step_count; i++) {
            size_t step = order[i];

            if (is_last(layout, step) != (last == 1))
                continue;
            layers->layer[step] = highest_layer(layout, step, first);
            if (layers->layer[step] >= next)
                next = layers->layer[step] + 1;
        }
    }
    layers->layer_count = next;
}

/* What more steps wait for than it waits for goes down to them: the first step
 * of a network simplex (Gansner and others, 1993), once from the bottom. */
static void tighten(struct layout *layout, const size_t *order)
{
    size_t *layer = layout->layers.layer;

    for (size_t i = layout->layers.step_count; i-- > 0;) {
        size_t step = order[i], need_count, count;
        const size_t *next = graph_needed_by(layout->graph, step, &count);
        size_t lowest = SIZE_MAX;

        graph_needs(layout->graph, step, &need_count);
        for (size_t k = 0; k < count; k++)
            if (is_last(layout, next[k]) == is_last(layout, step) &&
                layer[next[k]] < lowest)
                lowest = layer[next[k]];
        if (count > need_count && lowest != SIZE_MAX)
            layer[step] = lowest - 1;
    }
}

/* -- Dummies --------------------------------------------------------------*/

/* How many layers the longest line of a step passes. */
static size_t passed_layers(const struct layout *layout, size_t step)
{
    const size_t *layer = layout->layers.layer;
    size_t count, passed = 0;
    const size_t *next = graph_needed_by(layout->graph, step, &count);

    for (size_t i = 0; i < count; i++)
        if (layer[next[i]] - layer[step] - 1 > passed)
            passed = layer[next[i]] - layer[step] - 1;
    return passed;
}

/* The longest line for whose like there are dummies enough. */
static size_t find_longest(const struct layout *layout)
{
    const struct layers *layers = &layout->layers;
    size_t *lengths = mem_array(layers->layer_count + 1, sizeof(*lengths));
    size_t left = LAYOUT_DUMMIES_A_STEP * layers->step_count, longest = 0;

    for (size_t i = 0; i < layers->step_count; i++)
        lengths[passed_layers(layout, i)]++;
    while (longest < layers->layer_count &&
           lengths[longest + 1] * (longest + 1) <= left) {
        longest++;
        left -= lengths[longest] * longest;
    }
    free(lengths);
    return longest;
}

static void make_dummies(struct layout *layout)
{
    struct layers *layers = &layout->layers;
    size_t longest = find_longest(layout), total = layers->step_count;

    for (size_t i = 0; i < layers->step_count; i++) {
        size_t passed = passed_layers(layout, i);

        layout->chains[i] = total;
        layout->chain_counts[i] = passed <= longest ? passed : 0;
        total += layout->chain_counts[i];
    }
    layers->vertex_count = total;
    layers->layer = mem_resize(layers->layer, total + 1, sizeof(size_t));
    for (size_t i = 0; i < layers->step_count; i++)
        for (size_t k = 0; k < layout->chain_counts[i]; k++)
            layers->layer[layout->chains[i] + k] = layers->layer[i] + 1 + k;
}

/* The vertex in the layer above `step` by which the line from `need` comes;
 * false: it is drawn straight. */
static bool last_above(const struct layout *layout, size_t step, size_t need,
                       size_t *vertex)
{
    const size_t *layer = layout->layers.layer;
    size_t between = layer[step] - layer[need] - 1;

    if (between > layout->chain_counts[need])
        return false;
    *vertex = between == 0 ? need : layout->chains[need] + between - 1;
    return true;
}

/* -- Arcs and rows --------------------------------------------------------*/

static void add_arc(struct layers *layers, size_t upper, size_t lower,
                    size_t *capacity)
{
    layers->arcs = mem_grow(layers->arcs, layers->arc_count, capacity,
                            sizeof(*layers->arcs));
    layers->arcs[layers->arc_count++] = (struct arc){upper, lower};
}

static void make_arcs(struct layout *layout)
{
    struct layers *layers = &layout->layers;
    size_t capacity = 0;

    for (size_t i = 0; i < layers->step_count; i++)
        for (size_t k = 0; k < layout->chain_counts[i]; k++)
            add_arc(layers, k == 0 ? i : layout->chains[i] + k - 1,
                    layout->chains[i] + k, &capacity);
    for (size_t i = 0; i < layers->step_count; i++) {
        size_t count, upper;
        const size_t *needs = graph_needs(layout->graph, i, &count);

        for (size_t k = 0; k < count; k++)
            if (last_above(layout, i, needs[k], &upper))
                add_arc(layers, upper, i, &capacity);
    }
}

static void index_arcs(struct layers *layers)
{
    size_t count = layers->vertex_count, arcs = layers->arc_count;

    size_t *next = mem_array(count + 1, sizeof(*next));

    layers->above_starts = mem_array(count + 1, sizeof(size_t));
    layers->below_starts = mem_array(count + 1, sizeof(size_t));
    layers->above = mem_array(arcs + 1, sizeof(size_t));
    layers->below = mem_array(arcs + 1, sizeof(size_t));
    for (size_t i = 0; i < arcs; i++) {
        layers->above_starts[layers->arcs[i].lower + 1]++;
        layers->below_starts[layers->arcs[i].upper + 1]++;
    }
    for (size_t i = 0; i < count; i++) {
        layers->above_starts[i + 1] += layers->above_starts[i];
        layers->below_starts[i + 1] += layers->below_starts[i];
    }
    /* The other side is filled when they are sorted. */
    memcpy(next, layers->below_starts, count * sizeof(*next));
    for (size_t i = 0; i < arcs; i++)
        layers->below[next[layers->arcs[i].upper]++] = i;
    free(next);
}

/* Rows as their steps are reached from above, depth first: what hangs together
 * begins side by side. */
static void make_rows(struct layers *layers, const size_t *order)
{
    size_t *filled = mem_array(layers->layer_count + 1, sizeof(*filled));
    size_t *stack = mem_array(layers->vertex_count + 1, sizeof(*stack));
    bool *seen = mem_array(layers->vertex_count + 1, sizeof(*seen));

    layers->starts = mem_array(layers->layer_count + 1, sizeof(size_t));
    layers->rows = mem_array(layers->vertex_count + 1, sizeof(size_t));
    layers->position = mem_array(layers->vertex_count + 1, sizeof(size_t));
    for (size_t i = 0; i < layers->vertex_count; i++)
        layers->starts[layers->layer[i] + 1]++;
    for (size_t i = 0; i < layers->layer_count; i++)
        layers->starts[i + 1] += layers->starts[i];
    for (size_t i = 0; i < layers->step_count; i++) {
        size_t length = 0;

        if (!seen[order[i]])
            stack[length++] = order[i];
        seen[order[i]] = true;
        while (length > 0) {
            size_t vertex = stack[--length], layer = layers->layer[vertex];

            layers->position[vertex] = filled[layer];
            layers->rows[layers->starts[layer] + filled[layer]++] = vertex;
            for (size_t k = layers->below_starts[vertex + 1];
                 k-- > layers->below_starts[vertex];) {
                size_t lower = layers->arcs[layers->below[k]].lower;

                if (!seen[lower])
                    stack[length++] = lower;
                seen[lower] = true;
            }
        }
    }
    free(seen);
    free(stack);
    free(filled);
}

/* -- The layout -----------------------------------------------------------*/

static void place(struct layout *layout)
{
    const struct layers *layers = &layout->layers;
    const struct layout_options *options = &layout->options;
    double *widths = mem_array(layers->vertex_count + 1, sizeof(*widths));

    layout->x = mem_array(layers->vertex_count + 1, sizeof(*layout->x));
    for (size_t i = 0; i < layers->vertex_count; i++)
        widths[i] = is_dummy(layers, i) ? options->line_gap
                                        : options->widths[i] + options->gap;
    layout_place(layers, widths, layout->x);
    for (size_t i = 0; i < layers->vertex_count; i++)
        layout->width = fmax(layout->width, layout->x[i] + widths[i] / 2.0);
    free(widths);
}

struct layout *layout_create(const struct graph *graph,
                             const struct layout_options *options)
{
    struct layout *layout = mem_zero(sizeof(*layout));
    size_t count = graph_count(graph);
    size_t *order = mem_array(count + 1, sizeof(*order));
    size_t ordered = graph_order(graph, order);

    assert(ordered == count);
    layout->graph = graph;
    layout->options = *options;
    layout->layers.step_count = count;
    layout->layers.layer = mem_array(count + 1, sizeof(size_t));
    layout->chains = mem_array(count + 1, sizeof(size_t));
    layout->chain_counts = mem_array(count + 1, sizeof(size_t));
    rank(layout, order);
    tighten(layout, order);
    make_dummies(layout);
    make_arcs(layout);
    index_arcs(&layout->layers);
    make_rows(&layout->layers, order);
    layout_sort_arcs(&layout->layers);
    layout_order(&layout->layers);
    place(layout);
    free(order);
    return layout;
}

void layout_destroy(struct layout *layout)
{
    if (layout == NULL)
        return;
    free(layout->layers.layer);
    free(layout->layers.position);
    free(layout->layers.starts);
    free(layout->layers.rows);
    free(layout->layers.arcs);
    free(layout->layers.above_starts);
    free(layout->layers.above);
    free(layout->layers.below_starts);
    free(layout->layers.below);
    free(layout->chains);
    free(layout->chain_counts);
    free(layout->x);
    free(layout);
}

double layout_width(const struct layout *layout)
{
    return layout->width;
}

static double layer_top(const struct layout *layout, size_t layer)
{
    return (double)layer * (layout->options.height + layout->options.layer_gap);
}

double layout_height(const struct layout *layout)
{
    size_t count = layout->layers.layer_count;

    return count > 0 ? layer_top(layout, count) - layout->options.layer_gap
                     : 0.0;
}

size_t layout_layer(const struct layout *layout, size_t step)
{
    return layout->layers.layer[step];
}

struct layout_box layout_box(const struct layout *layout, size_t step)
{
    double width = layout->options.widths[step];

    return (struct layout_box){layout->x[step] - width / 2.0,
                               layer_top(layout, layout->layers.layer[step]),
                               width, layout->options.height};
}

struct layout_point *layout_line(const struct layout *layout, size_t step,
                                 size_t need, size_t *count)
{
    const size_t *layer = layout->layers.layer;
    size_t need_count, from, above, at = 0;
    struct layout_point *points;
    double height = layout->options.height;

    from = graph_needs(layout->graph, step, &need_count)[need];
    *count = 2;
    if (last_above(layout, step, from, &above))
        *count += 2 * (layer[step] - layer[from] - 1);
    points = mem_array(*count, sizeof(*points));
    points[at++] = (struct layout_point){
        layout->x[from], layer_top(layout, layer[from]) + height};
    for (size_t i = 0; at + 1 < *count; i++) {
        size_t dummy = layout->chains[from] + i;
        double top = layer_top(layout, layer[dummy]);

        points[at++] = (struct layout_point){layout->x[dummy], top};
        points[at++] = (struct layout_point){layout->x[dummy], top + height};
    }
    points[at] =
        (struct layout_point){layout->x[step], layer_top(layout, layer[step])};
    return points;
}
