/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/graph.h"

#include <stdlib.h>

#include "base/mem.h"

/* Tarjan's search, with a stack of its own in place of recursion. */
struct search {
    const struct graph *graph;
    size_t *number;  /* [count] in which order it was reached, from 1; 0: not */
    size_t *low;     /* [count] the lowest number that it reaches */
    size_t *cursor;  /* [count] which of its needs is next */
    size_t *path;    /* the steps from the first to where we are */
    size_t *open;    /* those whose component is not complete */
    bool *is_open;   /* [count] */
    size_t *circled; /* the lowest step that is in a circle, so far */
    size_t path_length, open_length, reached;
};

static void search_enter(struct search *search, size_t step)
{
    search->number[step] = search->low[step] = ++search->reached;
    search->path[search->path_length++] = step;
    search->open[search->open_length++] = step;
    search->is_open[step] = true;
}

static void lower(size_t *low, size_t number)
{
    if (number < *low)
        *low = number;
}

static void search_leave(struct search *search, size_t step)
{
    bool is_alone = search->open[search->open_length - 1] == step;
    size_t member;

    search->path_length--;
    if (search->path_length > 0)
        lower(&search->low[search->path[search->path_length - 1]],
              search->low[step]);
    if (search->low[step] != search->number[step])
        return;
    do {
        member = search->open[--search->open_length];
        search->is_open[member] = false;
        if (!is_alone)
            lower(search->circled, member);
    } while (member != step);
}

static void search_from(struct search *search, size_t first)
{
    search_enter(search, first);
    while (search->path_length > 0) {
        size_t step = search->path[search->path_length - 1];
        size_t count, need;
        const size_t *needs = graph_needs(search->graph, step, &count);

        if (search->cursor[step] == count) {
            search_leave(search, step);
            continue;
        }
        need = needs[search->cursor[step]++];
        if (need == step)
            lower(search->circled, step);
        if (search->number[need] == 0)
            search_enter(search, need);
        else if (search->is_open[need])
            lower(&search->low[step], search->number[need]);
    }
}

/* The first step that is in a circle; the count of steps where none is. */
static size_t first_circled(const struct graph *graph)
{
    size_t count = graph_count(graph), circled = count;
    size_t *numbers = mem_array(5 * count + 1, sizeof(*numbers));
    struct search search = {
        .graph = graph,
        .number = numbers,
        .low = numbers + count,
        .cursor = numbers + 2 * count,
        .path = numbers + 3 * count,
        .open = numbers + 4 * count,
        .is_open = mem_array(count + 1, sizeof(bool)),
        .circled = &circled,
    };

    for (size_t i = 0; i < count; i++)
        if (search.number[i] == 0)
            search_from(&search, i);
    free(search.is_open);
    free(numbers);
    return circled;
}

/* Breadth first along the needs; back[s] is the step by which s was reached.
 * Returns which one needs `first`. */
static size_t find_way_back(const struct graph *graph, size_t first,
                            size_t *back)
{
    size_t total = graph_count(graph), head = 0, tail = 0, last = total;
    size_t *queue = mem_array(total, sizeof(*queue));
    bool *seen = mem_array(total, sizeof(*seen));

    queue[tail++] = first;
    seen[first] = true;
    while (last == total) {
        size_t step = queue[head++], count;
        const size_t *needs = graph_needs(graph, step, &count);

        for (size_t i = 0; i < count; i++) {
            if (needs[i] == first)
                last = step;
            if (seen[needs[i]])
                continue;
            seen[needs[i]] = true;
            back[needs[i]] = step;
            queue[tail++] = needs[i];
        }
    }
    free(queue);
    free(seen);
    return last;
}

size_t graph_circle(const struct graph *graph, size_t **circle)
{
    size_t total = graph_count(graph), length = 1, at;
    size_t first = first_circled(graph);
    size_t *back;

    *circle = NULL;
    if (first == total)
        return 0;
    back = mem_array(total, sizeof(*back));
    at = find_way_back(graph, first, back);
    for (size_t step = at; step != first; step = back[step])
        length++;
    *circle = mem_array(length, sizeof(**circle));
    for (size_t i = length; i-- > 0; at = back[at])
        (*circle)[i] = at;
    free(back);
    return length;
}
