/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/history/hypervolume.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/history/pareto.h"

/* Rows of width m that are below the reference, as the sweeps want them. */
struct rows {
    double *values; /* [count][m] */
    size_t count, m;
};

/* Rows by their last objective; those before it decide among equals. */
static int compare_last(const void *a, const void *b, void *context)
{
    const double *left = a, *right = b;
    size_t k = *(const size_t *)context;
    int order = 0;

    while (k-- > 0 && order == 0)
        order = (left[k] > right[k]) - (left[k] < right[k]);
    return order;
}

static void sort_rows(struct rows *rows)
{
    if (rows->count > 0)
        qsort_r(rows->values, rows->count, rows->m * sizeof(double),
                compare_last, &rows->m);
}

/* Sorted rows of two. */
static double sweep_plane(const struct rows *rows, const double *reference)
{
    double left = reference[0], area = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const double *row = rows->values + 2 * i;

        if (row[0] >= left)
            continue;
        area += (left - row[0]) * (reference[1] - row[1]);
        left = row[0];
    }
    return area;
}

/* What a plane's front dominates: points by the first objective, ascending,
 * and so by the second descending. */
struct staircase {
    double (*steps)[2];
    size_t count;
    double area;
};

/* Adds a row of the plane, if no step is as good, in place of those that it
 * dominates. */
static void staircase_add(struct staircase *stairs, const double *row,
                          const double *reference)
{
    size_t first = 0, end;
    double x = row[0], level;

    while (first < stairs->count && stairs->steps[first][0] < x)
        first++;
    level = first > 0 ? stairs->steps[first - 1][1] : reference[1];
    if (level <= row[1] ||
        (first < stairs->count && stairs->steps[first][0] <= x &&
         stairs->steps[first][1] <= row[1]))
        return;
    for (end = first; end < stairs->count && stairs->steps[end][1] >= row[1];
         end++) {
        stairs->area += (stairs->steps[end][0] - x) * (level - row[1]);
        x = stairs->steps[end][0];
        level = stairs->steps[end][1];
    }
    stairs->area +=
        ((end < stairs->count ? stairs->steps[end][0] : reference[0]) - x) *
        (level - row[1]);
    memmove(stairs->steps + first + 1, stairs->steps + end,
            (stairs->count - end) * sizeof(*stairs->steps));
    stairs->steps[first][0] = row[0];
    stairs->steps[first][1] = row[1];
    stairs->count += first + 1 - end;
}

/* Sorted rows of three. */
static double sweep_space(const struct rows *rows, const double *reference)
{
    struct staircase stairs = {
        .steps = mem_array(rows->count + 1, sizeof(*stairs.steps))};
    double volume = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const double *row = rows->values + 3 * i;
        double next = i + 1 < rows->count ? row[5] : reference[2];

        staircase_add(&stairs, row, reference);
        volume += stairs.area * (next - row[2]);
    }
    free(stairs.steps);
    return volume;
}

static double measure(struct rows *rows, const double *reference);

/* Drops rows that others dominate, or equal. */
static void keep_front(struct rows *rows)
{
    size_t *ranks = mem_array(rows->count, sizeof(*ranks));
    size_t kept = 0;

    pareto_sort(rows->values, NULL, rows->count, rows->m, ranks);
    for (size_t i = 0; i < rows->count; i++)
        if (ranks[i] == 0)
            memmove(rows->values + kept++ * rows->m, rows->values + i * rows->m,
                    rows->m * sizeof(double));
    rows->count = kept;
    free(ranks);
}

/* The volume that the row dominates and none of the others does, in the first
 * m objectives: its box, less what the others cover of it. */
static double exclusive(const double *row, const struct rows *others, size_t m,
                        const double *reference)
{
    struct rows limited = {
        .values = mem_array(others->count * m, sizeof(double)),
        .count = others->count,
        .m = m,
    };
    double box = 1, covered;

    for (size_t k = 0; k < m; k++)
        box *= reference[k] - row[k];
    for (size_t i = 0; i < others->count; i++)
        for (size_t k = 0; k < m; k++)
            limited.values[i * m + k] =
                fmax(row[k], others->values[i * others->m + k]);
    covered = measure(&limited, reference);
    free(limited.values);
    return fmax(box - covered, 0);
}

/* From the last objective's worst row on: those that are left are no worse in
 * it, so that it is a factor and what remains has an objective less. */
static double slice(const struct rows *rows, const double *reference)
{
    size_t last = rows->m - 1;
    double volume = 0;

    for (size_t i = rows->count; i-- > 0;) {
        const double *row = rows->values + i * rows->m;
        struct rows before = {rows->values, i, rows->m};

        volume += (reference[last] - row[last]) *
                  exclusive(row, &before, last, reference);
    }
    return volume;
}

static double measure(struct rows *rows, const double *reference)
{
    double best = reference[0];

    if (rows->m > 3)
        keep_front(rows);
    sort_rows(rows);
    switch (rows->m) {
    case 1:
        if (rows->count > 0)
            best = fmin(best, rows->values[0]);
        return reference[0] - best;
    case 2:
        return sweep_plane(rows, reference);
    case 3:
        return sweep_space(rows, reference);
    default:
        return slice(rows, reference);
    }
}

static bool is_below(const double *row, const double *reference, size_t m)
{
    size_t k = 0;

    while (k < m && row[k] < reference[k])
        k++;
    return k == m;
}

/* The rows below the reference, in memory of their own; skip is left out. */
static struct rows copy_rows(const double *values, size_t count,
                             const double *reference, size_t m, size_t skip)
{
    struct rows rows = {.values = mem_array(count * m, sizeof(double)), .m = m};

    for (size_t i = 0; i < count; i++)
        if (i != skip && is_below(values + i * m, reference, m))
            memcpy(rows.values + rows.count++ * m, values + i * m,
                   m * sizeof(double));
    return rows;
}

double hypervolume(const double *values, size_t count, size_t objectives,
                   const double *reference)
{
    struct rows rows =
        copy_rows(values, count, reference, objectives, SIZE_MAX);
    double volume = measure(&rows, reference);

    free(rows.values);
    return volume;
}

void hypervolume_contributions(const double *values, size_t count,
                               size_t objectives, const double *reference,
                               double *contributions)
{
    for (size_t i = 0; i < count; i++) {
        const double *row = values + i * objectives;
        struct rows others;

        contributions[i] = 0;
        if (!is_below(row, reference, objectives))
            continue;
        others = copy_rows(values, count, reference, objectives, i);
        contributions[i] = exclusive(row, &others, objectives, reference);
        free(others.values);
    }
}

/* The range of one objective; ranks NULL: of all points. */
static double range_of(const double *values, const size_t *ranks, size_t count,
                       size_t objectives, double *worst)
{
    double best = (double)INFINITY;

    *worst = -(double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (ranks != NULL && ranks[i] > 0)
            continue;
        best = fmin(best, values[i * objectives]);
        *worst = fmax(*worst, values[i * objectives]);
    }
    return *worst - best;
}

static void set_reference(const double *values, size_t count, size_t objectives,
                          double behind, double *reference)
{
    size_t *ranks = mem_array(count, sizeof(*ranks));

    pareto_sort(values, NULL, count, objectives, ranks);
    for (size_t k = 0; k < objectives; k++) {
        double worst, ignored;
        double range = range_of(values + k, ranks, count, objectives, &worst);

        if (!(range > 0))
            range = range_of(values + k, NULL, count, objectives, &ignored);
        reference[k] = worst + behind * (range > 0 ? range : 1);
    }
    free(ranks);
}

void hypervolume_reference(const double *values, size_t count,
                           size_t objectives, double *reference)
{
    set_reference(values, count, objectives, 0.1, reference);
}

void hypervolume_wide_reference(const double *values, size_t count,
                                size_t objectives, double *reference)
{
    set_reference(values, count, objectives, 1, reference);
}
