/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/boxes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * A staircase of the first two objectives, for what was passed of the third:
 * each step leaves a strip from its x to the next step's, below its y. The
 * first step is at x = -infinity, as high as the reference.
 */
struct step {
    double x, y;
    double since; /* the third objective, where the strip became as it is */
};

struct piece {
    double low[BOXES_OBJECTIVES_MAX], high[BOXES_OBJECTIVES_MAX];
};

struct sweep {
    const double *reference;
    struct step *steps; /* [count]: x ascends, y descends */
    size_t count;
    struct piece *pieces; /* [piece_count]: the boxes so far */
    size_t piece_count, pieces_capacity;
};

/* The strip has been as it is until there. */
static void close_strip(struct sweep *sweep, size_t i, double until)
{
    const struct step *step = &sweep->steps[i];
    double end = i + 1 < sweep->count ? step[1].x : sweep->reference[0];

    if (!(step->since < until))
        return;
    sweep->pieces = mem_grow(sweep->pieces, sweep->piece_count,
                             &sweep->pieces_capacity, sizeof(*sweep->pieces));
    sweep->pieces[sweep->piece_count++] =
        (struct piece){.low = {step->x, -(double)INFINITY, step->since},
                       .high = {end, step->y, until}};
}

/* A point takes the place of the steps that it dominates, if none dominates
 * it. */
static void add_point(struct sweep *sweep, const double *point, double level)
{
    struct step *steps = sweep->steps;
    size_t at = 1, end;

    while (at < sweep->count && steps[at].x < point[0])
        at++;
    if (steps[at - 1].y <= point[1] ||
        (at < sweep->count && steps[at].x <= point[0] &&
         steps[at].y <= point[1]))
        return;
    for (end = at; end < sweep->count && steps[end].y >= point[1]; end++)
        continue;
    for (size_t i = at - 1; i < end; i++)
        close_strip(sweep, i, level);
    steps[at - 1].since = level;
    memmove(&steps[at + 1], &steps[end], (sweep->count - end) * sizeof(*steps));
    steps[at] = (struct step){point[0], point[1], level};
    sweep->count += at + 1 - end;
}

static int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Rows of three by the last; of equals, the first row first. */
static int compare_third(const void *a, const void *b)
{
    const double *left = *(const double *const *)a;
    const double *right = *(const double *const *)b;
    int order = compare_numbers(left + 2, right + 2);

    return order != 0 ? order : (left > right) - (left < right);
}

/* Those below the reference; how many. */
static size_t keep_rows(const double *values, size_t count, size_t objectives,
                        const double *reference, const double **rows)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const double *row = values + i * objectives;
        size_t k = 0;

        while (k < objectives && row[k] < reference[k])
            k++;
        if (k == objectives)
            rows[kept++] = row;
    }
    return kept;
}

static void collect_edges(struct boxes *boxes, const struct sweep *sweep,
                          size_t k)
{
    double *edges = mem_array(2 * sweep->piece_count, sizeof(*edges));
    size_t n = 0;

    for (size_t i = 0; i < sweep->piece_count; i++) {
        edges[2 * i] = sweep->pieces[i].low[k];
        edges[2 * i + 1] = sweep->pieces[i].high[k];
    }
    qsort(edges, 2 * sweep->piece_count, sizeof(*edges), compare_numbers);
    for (size_t i = 0; i < 2 * sweep->piece_count; i++)
        if (n == 0 || edges[i] > edges[n - 1])
            edges[n++] = edges[i];
    boxes->edges[k] = edges;
    boxes->edge_counts[k] = n;
}

static size_t find_edge(const struct boxes *boxes, size_t k, double at)
{
    const double *edge = bsearch(&at, boxes->edges[k], boxes->edge_counts[k],
                                 sizeof(at), compare_numbers);

    return (size_t)(edge - boxes->edges[k]);
}

static void collect(struct boxes *boxes, const struct sweep *sweep,
                    size_t objectives)
{
    *boxes = (struct boxes){
        .list = mem_array(sweep->piece_count, sizeof(*boxes->list)),
        .count = sweep->piece_count,
    };
    for (size_t k = 0; k < objectives; k++) {
        collect_edges(boxes, sweep, k);
        for (size_t i = 0; i < sweep->piece_count; i++) {
            const struct piece *piece = &sweep->pieces[i];

            boxes->list[i].low[k] = find_edge(boxes, k, piece->low[k]);
            boxes->list[i].high[k] = find_edge(boxes, k, piece->high[k]);
        }
    }
}

void boxes_split(struct boxes *boxes, const double *values, size_t count,
                 size_t objectives, const double *reference)
{
    const double **rows = mem_array(count + 1, sizeof(const double *));
    size_t kept = keep_rows(values, count, objectives, reference, rows);
    bool has_third = objectives > 2;
    double top = has_third ? reference[2] : 0;
    struct sweep sweep = {
        .reference = reference,
        .steps = mem_array(kept + 1, sizeof(*sweep.steps)),
        .count = 1,
    };

    sweep.steps[0] =
        (struct step){-(double)INFINITY, reference[1], -(double)INFINITY};
    if (has_third)
        qsort(rows, kept, sizeof(*rows), compare_third);
    for (size_t i = 0; i < kept; i++)
        add_point(&sweep, rows[i], has_third ? rows[i][2] : -(double)INFINITY);
    for (size_t i = 0; i < sweep.count; i++)
        close_strip(&sweep, i, top);
    collect(boxes, &sweep, objectives);
    free(rows);
    free(sweep.steps);
    free(sweep.pieces);
}

void boxes_clear(struct boxes *boxes)
{
    free(boxes->list);
    for (size_t k = 0; k < BOXES_OBJECTIVES_MAX; k++)
        free(boxes->edges[k]);
    *boxes = (struct boxes){0};
}
