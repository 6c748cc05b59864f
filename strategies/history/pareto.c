/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/history/pareto.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

struct points {
    const double *values;     /* [count][objectives] */
    const double *violations; /* [count] or NULL */
    size_t objectives;
    size_t axis; /* for compare_axis */
};

bool pareto_dominates(const double *a, const double *b, size_t objectives)
{
    bool better = false;

    for (size_t i = 0; i < objectives; i++) {
        if (a[i] > b[i])
            return false;
        better |= a[i] < b[i];
    }
    return better;
}

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static double violation_of(const struct points *points, size_t index)
{
    return points->violations != NULL ? points->violations[index] : 0;
}

/* By violation, then by the objectives in turn, then by index. */
static int compare_points(const void *a, const void *b, void *context)
{
    const struct points *points = context;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const double *left = points->values + i * points->objectives;
    const double *right = points->values + j * points->objectives;
    int order =
        compare_numbers(violation_of(points, i), violation_of(points, j));

    for (size_t k = 0; k < points->objectives && order == 0; k++)
        order = compare_numbers(left[k], right[k]);
    return order != 0 ? order : (i > j) - (i < j);
}

static size_t *sort_indices(struct points *points, size_t count,
                            int (*compare)(const void *, const void *, void *))
{
    size_t *order = mem_array(count, sizeof(*order));

    for (size_t i = 0; i < count; i++)
        order[i] = i;
    if (count > 0)
        qsort_r(order, count, sizeof(*order), compare, points);
    return order;
}

/* The ranks found so far, as chains of points, the latest first. */
struct fronts {
    size_t *latest;   /* [count] */
    size_t *previous; /* [point], SIZE_MAX: none */
    size_t count;
};

/* Members came earlier in compare_points, so they are no worse in objective 0
 * and not equal. Of two objectives the latest has the least second one. */
static bool front_dominates(const struct points *points,
                            const struct fronts *fronts, size_t front,
                            size_t index)
{
    size_t m = points->objectives;
    const double *values = points->values + index * m;

    for (size_t i = fronts->latest[front]; i != SIZE_MAX;
         i = fronts->previous[i]) {
        const double *member = points->values + i * m;
        size_t k = 1;

        while (k < m && member[k] <= values[k])
            k++;
        if (k >= m)
            return true;
        if (m == 2)
            return false;
    }
    return false;
}

/* The first front that does not dominate the point: each dominates whatever
 * the next one does. */
static size_t find_front(const struct points *points,
                         const struct fronts *fronts, size_t index)
{
    size_t low = 0, high = fronts->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (front_dominates(points, fronts, middle, index))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool same_values(const struct points *points, size_t a, size_t b)
{
    size_t m = points->objectives, k = 0;

    while (k < m && compare_numbers(points->values[a * m + k],
                                    points->values[b * m + k]) == 0)
        k++;
    return k == m;
}

/* Ranks order[0 .. count - 1], all of one violation; how many ranks. */
static size_t rank_equals(const struct points *points, const size_t *order,
                          size_t count, struct fronts *fronts, size_t *ranks)
{
    fronts->count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t index = order[i], front;

        if (i > 0 && same_values(points, index, order[i - 1])) {
            ranks[index] = ranks[order[i - 1]];
            continue;
        }
        front = find_front(points, fronts, index);
        fronts->previous[index] = SIZE_MAX;
        if (front < fronts->count)
            fronts->previous[index] = fronts->latest[front];
        else
            fronts->count++;
        fronts->latest[front] = index;
        ranks[index] = front;
    }
    return fronts->count;
}

size_t pareto_sort(const double *values, const double *violations, size_t count,
                   size_t objectives, size_t *ranks)
{
    struct points points = {
        .values = values, .violations = violations, .objectives = objectives};
    size_t *order = sort_indices(&points, count, compare_points);
    struct fronts fronts = {
        .latest = mem_array(count, sizeof(*fronts.latest)),
        .previous = mem_array(count, sizeof(*fronts.previous)),
    };
    size_t total = 0;

    for (size_t start = 0, end; start < count; start = end) {
        double violation = violation_of(&points, order[start]);
        size_t found;

        end = start + 1;
        while (end < count && violation_of(&points, order[end]) <= violation)
            end++;
        found =
            rank_equals(&points, order + start, end - start, &fronts, ranks);
        for (size_t i = start; i < end; i++)
            ranks[order[i]] += total;
        total += found;
    }
    free(fronts.latest);
    free(fronts.previous);
    free(order);
    return total;
}

static int compare_axis(const void *a, const void *b, void *context)
{
    const struct points *points = context;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int order =
        compare_numbers(points->values[i * points->objectives + points->axis],
                        points->values[j * points->objectives + points->axis]);

    return order != 0 ? order : compare_points(a, b, context);
}

/* Adds one objective's share; order[] is sorted by it. Values are divided
 * before they are subtracted, lest huge ones overflow. */
static void add_gaps(const struct points *points, const size_t *order,
                     size_t count, double *distances)
{
    const double *column = points->values + points->axis;
    size_t m = points->objectives;
    double range = column[order[count - 1] * m] - column[order[0] * m];

    if (!(range > 0))
        return;
    distances[order[0]] = distances[order[count - 1]] = (double)INFINITY;
    for (size_t i = 1; i + 1 < count; i++)
        distances[order[i]] +=
            column[order[i + 1] * m] / range - column[order[i - 1] * m] / range;
}

void pareto_crowding(const double *values, size_t count, size_t objectives,
                     double *distances)
{
    struct points points = {.values = values, .objectives = objectives};

    for (size_t i = 0; i < count; i++)
        distances[i] = 0;
    for (size_t k = 0; k < objectives && count > 0; k++) {
        size_t *order;

        points.axis = k;
        order = sort_indices(&points, count, compare_axis);
        add_gaps(&points, order, count, distances);
        free(order);
    }
}
