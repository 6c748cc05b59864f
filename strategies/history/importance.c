/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/history/importance.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/history/history.h"
#include "strategies/history/variance_tree.h"
#include "strategies/space/space.h"

enum { TREES = 64, TREE_RESULTS_MAX = 1000, STREAM_TREE = 1 };

/* The complete trials as a table for trees. */
struct results {
    const struct history *history;
    size_t *indices; /* [count] in the history */
    size_t count;
    double *values;      /* [count], scaled */
    uint8_t *bins;       /* [count][dimension] */
    uint8_t *bin_counts; /* [dimension] */
    bool *is_unordered;  /* [dimension] */
};

static void results_clear(struct results *results)
{
    free(results->indices);
    free(results->values);
    free(results->bins);
    free(results->bin_counts);
    free(results->is_unordered);
}

static void find_complete(struct results *results)
{
    const struct history *history = results->history;

    results->indices = mem_array(history->count, sizeof(*results->indices));
    for (size_t i = 0; i < history->count; i++) {
        if (history->states[i] == HISTORY_COMPLETE)
            results->indices[results->count++] = i;
    }
}

/* ---- values ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Halved first: the difference of two huge values is not finite. */
static double half_way(double from, double to)
{
    return to / 2.0 - from / 2.0;
}

/* False where all are equal. A scale that is nothing beside an outlier would
 * put it at infinity. */
static bool scale_values(struct results *results, size_t objective)
{
    size_t n = results->count;
    double *sorted = mem_array(n, sizeof(*sorted));
    double median, scale, range;

    results->values = mem_array(n, sizeof(*results->values));
    for (size_t i = 0; i < n; i++)
        results->values[i] = sorted[i] =
            history_values(results->history, results->indices[i])[objective];
    qsort(sorted, n, sizeof(*sorted), compare);
    median = sorted[n / 2];
    scale = half_way(sorted[0], sorted[3 * n / 4]);
    range = half_way(sorted[0], sorted[n - 1]);
    free(sorted);
    if (scale == 0.0)
        scale = range;
    for (size_t i = 0; i < n && range > 0.0; i++)
        results->values[i] = asinh(half_way(median, results->values[i]) /
                                   (3.0 * fmax(scale, range * 1e-300)));
    return range > 0.0;
}

/* ---- settings ---- */

static bool is_number(const struct param *param)
{
    return param->kind == PARAM_FLOAT || param->kind == PARAM_INT;
}

static uint8_t count_bins(const struct param *param)
{
    uint64_t cardinality = param_cardinality(param);

    if (cardinality == 1)
        return 1;
    return !is_number(param) && cardinality < VARIANCE_BINS
               ? (uint8_t)cardinality
               : VARIANCE_BINS;
}

static uint8_t bin_of(double unit, uint8_t count)
{
    double bin = unit * count;

    if (isnan(unit))
        return VARIANCE_INACTIVE;
    return bin < count ? (uint8_t)bin : (uint8_t)(count - 1);
}

static void fill_bins(struct results *results)
{
    const struct history *history = results->history;
    size_t dimension = history->dimension;
    uint8_t *to;

    results->bin_counts = mem_array(dimension, sizeof(*results->bin_counts));
    results->is_unordered =
        mem_array(dimension, sizeof(*results->is_unordered));
    for (size_t d = 0; d < dimension; d++) {
        const struct param *param = space_param(history->space, d);

        results->bin_counts[d] = count_bins(param);
        results->is_unordered[d] = param->kind == PARAM_CATEGORICAL;
    }
    results->bins = to = mem_array(results->count, dimension);
    for (size_t i = 0; i < results->count; i++) {
        const double *unit = history_unit(history, results->indices[i]);

        for (size_t d = 0; d < dimension; d++)
            *to++ = bin_of(unit[d], results->bin_counts[d]);
    }
}

/* ---- the forest ---- */

/* The first `wanted` rows become a random choice in a random order. */
static void shuffle(size_t *rows, size_t count, size_t wanted, struct rng *rng)
{
    for (size_t i = 0; i < wanted; i++) {
        size_t k = i + (size_t)(rng_uniform(rng) * (double)(count - i));
        size_t row = rows[k];

        rows[k] = rows[i];
        rows[i] = row;
    }
}

static void add_trees(const struct results *results, double *explained)
{
    const struct variance_table table = {
        .dimension = results->history->dimension,
        .bins = results->bins,
        .bin_counts = results->bin_counts,
        .is_unordered = results->is_unordered,
        .values = results->values,
    };
    size_t *rows = mem_array(results->count, sizeof(*rows));
    size_t wanted =
        results->count < TREE_RESULTS_MAX ? results->count : TREE_RESULTS_MAX;

    for (size_t i = 0; i < results->count; i++)
        rows[i] = i;
    for (uint64_t tree = 0; tree < TREES; tree++) {
        struct rng rng;

        rng_init(&rng, 0, tree, STREAM_TREE);
        shuffle(rows, results->count, wanted, &rng);
        variance_tree_add(&table, rows, wanted, &rng, explained);
    }
    free(rows);
}

static void to_shares(double *explained, size_t dimension)
{
    double sum = 0.0;

    for (size_t d = 0; d < dimension; d++) {
        explained[d] = fmax(explained[d], 0.0);
        sum += explained[d];
    }
    for (size_t d = 0; d < dimension && sum > 0.0; d++)
        explained[d] /= sum;
}

size_t importance_of(const struct history *history, size_t objective,
                     double *shares)
{
    struct results results = {.history = history};

    for (size_t d = 0; d < history->dimension; d++)
        shares[d] = 0.0;
    find_complete(&results);
    if (results.count >= IMPORTANCE_RESULTS_MIN &&
        scale_values(&results, objective)) {
        fill_bins(&results);
        add_trees(&results, shares);
        to_shares(shares, history->dimension);
    }
    results_clear(&results);
    return results.count;
}
