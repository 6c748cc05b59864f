/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The neighbours of step s: ends[starts[s]] ... ends[starts[s + 1] - 1]. */
struct rows {
    size_t *starts; /* [count + 1] */
    size_t *ends;
};

struct index {
    struct rows needs, needed_by; /* without starts: to be made */
};

struct edge {
    size_t step, need;
};

struct graph {
    size_t count;
    struct edge *edges; /* as they were said */
    size_t edge_count, edge_capacity;
    struct index *index;
};

struct graph *graph_create(size_t count)
{
    struct graph *graph = mem_zero(sizeof(*graph));

    graph->count = count;
    graph->index = mem_zero(sizeof(*graph->index));
    return graph;
}

static void rows_clear(struct rows *rows)
{
    free(rows->starts);
    free(rows->ends);
    *rows = (struct rows){NULL, NULL};
}

static void index_clear(struct index *index)
{
    rows_clear(&index->needs);
    rows_clear(&index->needed_by);
}

void graph_destroy(struct graph *graph)
{
    if (graph == NULL)
        return;
    index_clear(graph->index);
    free(graph->index);
    free(graph->edges);
    free(graph);
}

void graph_add(struct graph *graph, size_t step, size_t need)
{
    assert(step < graph->count && need < graph->count);
    graph->edges = mem_grow(graph->edges, graph->edge_count,
                            &graph->edge_capacity, sizeof(*graph->edges));
    graph->edges[graph->edge_count++] = (struct edge){step, need};
    index_clear(graph->index);
}

size_t graph_count(const struct graph *graph)
{
    return graph->count;
}

/* -- The index ------------------------------------------------------------*/

/* Makes starts out of how many each has, which is in starts[step + 1]. */
static void rows_begin(struct rows *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rows->starts[i + 1] += rows->starts[i];
    rows->ends = mem_array(rows->starts[count] + 1, sizeof(*rows->ends));
}

static void index_needs(const struct graph *graph, struct rows *rows)
{
    size_t *next = mem_array(graph->count + 1, sizeof(*next));

    rows->starts = mem_array(graph->count + 1, sizeof(*rows->starts));
    for (size_t i = 0; i < graph->edge_count; i++)
        rows->starts[graph->edges[i].step + 1]++;
    rows_begin(rows, graph->count);
    memcpy(next, rows->starts, graph->count * sizeof(*next));
    for (size_t i = 0; i < graph->edge_count; i++)
        rows->ends[next[graph->edges[i].step]++] = graph->edges[i].need;
    free(next);
}

static void drop_repeated(struct rows *rows, size_t count)
{
    size_t *seen_by = mem_array(count + 1, sizeof(*seen_by)); /* 1-based */
    size_t kept = 0;

    for (size_t step = 0, i = 0; step < count; step++) {
        size_t end = rows->starts[step + 1];

        rows->starts[step] = kept;
        for (; i < end; i++) {
            size_t need = rows->ends[i];

            if (seen_by[need] == step + 1)
                continue;
            seen_by[need] = step + 1;
            rows->ends[kept++] = need;
        }
    }
    rows->starts[count] = kept;
    free(seen_by);
}

static void index_needed_by(size_t count, const struct rows *needs,
                            struct rows *rows)
{
    size_t *next = mem_array(count + 1, sizeof(*next));

    rows->starts = mem_array(count + 1, sizeof(*rows->starts));
    for (size_t i = 0; i < needs->starts[count]; i++)
        rows->starts[needs->ends[i] + 1]++;
    rows_begin(rows, count);
    memcpy(next, rows->starts, count * sizeof(*next));
    for (size_t step = 0; step < count; step++)
        for (size_t i = needs->starts[step]; i < needs->starts[step + 1]; i++)
            rows->ends[next[needs->ends[i]]++] = step;
    free(next);
}

static const struct index *indexed(const struct graph *graph)
{
    struct index *index = graph->index;

    if (index->needs.starts != NULL)
        return index;
    index_needs(graph, &index->needs);
    drop_repeated(&index->needs, graph->count);
    index_needed_by(graph->count, &index->needs, &index->needed_by);
    return index;
}

static const size_t *row(const struct rows *rows, size_t step, size_t *count)
{
    *count = rows->starts[step + 1] - rows->starts[step];
    return rows->ends + rows->starts[step];
}

const size_t *graph_needs(const struct graph *graph, size_t step, size_t *count)
{
    return row(&indexed(graph)->needs, step, count);
}

const size_t *graph_needed_by(const struct graph *graph, size_t step,
                              size_t *count)
{
    return row(&indexed(graph)->needed_by, step, count);
}

/* -- In order -------------------------------------------------------------*/

/* A set of steps that gives its lowest: a bit each, and above every 64 words
 * one whose bits say which of them are not empty. Six levels are more than
 * memory has room for. */
enum { SET_LEVELS = 6, SET_BITS = 64 };

struct step_set {
    uint64_t *levels[SET_LEVELS]; /* [0]: the steps */
};

static void set_init(struct step_set *set, size_t count)
{
    for (int i = 0; i < SET_LEVELS; i++) {
        count = count / SET_BITS + 1;
        set->levels[i] = mem_array(count, sizeof(*set->levels[i]));
    }
}

static void set_clear(struct step_set *set)
{
    for (int i = 0; i < SET_LEVELS; i++)
        free(set->levels[i]);
}

static void set_add(struct step_set *set, size_t step)
{
    for (int i = 0; i < SET_LEVELS; i++) {
        set->levels[i][step / SET_BITS] |= UINT64_C(1) << step % SET_BITS;
        step /= SET_BITS;
    }
}

static bool set_take_lowest(struct step_set *set, size_t *step)
{
    size_t at = 0;

    if (set->levels[SET_LEVELS - 1][0] == 0)
        return false;
    for (int i = SET_LEVELS - 1; i >= 0; i--)
        at = at * SET_BITS + (size_t)__builtin_ctzll(set->levels[i][at]);
    *step = at;
    for (int i = 0; i < SET_LEVELS; i++) {
        uint64_t *word = &set->levels[i][at / SET_BITS];

        *word &= ~(UINT64_C(1) << at % SET_BITS);
        if (*word != 0)
            break;
        at /= SET_BITS;
    }
    return true;
}

size_t graph_order(const struct graph *graph, size_t *order)
{
    size_t *missing = mem_array(graph->count + 1, sizeof(*missing));
    struct step_set ready;
    size_t done = 0, step;

    set_init(&ready, graph->count);
    for (size_t i = 0; i < graph->count; i++) {
        graph_needs(graph, i, &missing[i]);
        if (missing[i] == 0)
            set_add(&ready, i);
    }
    while (set_take_lowest(&ready, &step)) {
        size_t count;
        const size_t *next = graph_needed_by(graph, step, &count);

        order[done++] = step;
        for (size_t i = 0; i < count; i++)
            if (--missing[next[i]] == 0)
                set_add(&ready, next[i]);
    }
    set_clear(&ready);
    free(missing);
    return done;
}

/* -- Near and far ---------------------------------------------------------*/

static void mark(const struct rows *rows, size_t step, bool *marks)
{
    size_t *stack = NULL;
    size_t length = 0, capacity = 0;

    for (;;) {
        size_t count;
        const size_t *next = row(rows, step, &count);

        for (size_t i = 0; i < count; i++) {
            if (marks[next[i]])
                continue;
            marks[next[i]] = true;
            stack = mem_grow(stack, length, &capacity, sizeof(*stack));
            stack[length++] = next[i];
        }
        if (length == 0)
            break;
        step = stack[--length];
    }
    free(stack);
}

void graph_mark_ancestors(const struct graph *graph, size_t step, bool *marks)
{
    mark(&indexed(graph)->needs, step, marks);
}

void graph_mark_descendants(const struct graph *graph, size_t step, bool *marks)
{
    mark(&indexed(graph)->needed_by, step, marks);
}
