/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/importance.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/history.h"
#include "strategies/space.h"

enum {
    BINS = 50,   /* of a parameter with more values, as in the paper */
    BEST_MIN = 8 /* the fewest that a density is estimated from */
};

static const double best_share = 0.1; /* gamma' of the paper's experiments */
static const double scott = 1.06;     /* for a normal density */
static const double min_bandwidth = 0.5 / BINS;

struct ranked {
    double value;
    size_t index; /* in the history */
};

/* One parameter's results as weights in bins. */
struct bins {
    size_t count;
    double all[BINS], best[BINS];
    double all_sum, best_sum;
};

static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The complete trials, best first; the caller frees them. */
static struct ranked *rank(const struct history *history, size_t objective,
                           size_t *count)
{
    struct ranked *ranked = mem_array(history->count, sizeof(*ranked));

    *count = 0;
    for (size_t i = 0; i < history->count; i++) {
        if (history->states[i] == HISTORY_COMPLETE)
            ranked[(*count)++] =
                (struct ranked){history_values(history, i)[objective], i};
    }
    qsort(ranked, *count, sizeof(*ranked), compare);
    return ranked;
}

static size_t best_count(size_t active)
{
    size_t share = (size_t)ceil(best_share * (double)active);
    size_t least = active / 2 < BEST_MIN ? active / 2 : BEST_MIN;

    return share > least ? share : least;
}

/* ---- one parameter ---- */

struct column {
    const struct history *history;
    const struct ranked *ranked;
    size_t count;
    size_t parameter;
    size_t active;   /* of the ranked */
    size_t best;     /* of these */
    double *weights; /* [history->count] how much of a trial is among the best;
                        NaN: it does not count */
};

static double unit(const struct column *column, size_t index)
{
    return history_unit(column->history, index)[column->parameter];
}

static size_t count_active(const struct column *column)
{
    size_t active = 0;

    if (!space_is_conditional(column->history->space, column->parameter))
        return column->count;
    for (size_t i = 0; i < column->count; i++)
        active += !isnan(unit(column, column->ranked[i].index));
    return active;
}

/* Those that tie for the last places share them, so that it does not matter in
 * which order they came. */
static void weigh(struct column *column)
{
    size_t wanted = column->best, i = 0;

    for (size_t k = 0; k < column->history->count; k++)
        column->weights[k] = (double)NAN;
    while (i < column->count) {
        size_t first = i, tied = 0;
        double weight;

        for (; i < column->count &&
               column->ranked[i].value == column->ranked[first].value;
             i++)
            tied += !isnan(unit(column, column->ranked[i].index));
        weight = tied <= wanted ? 1.0 : (double)wanted / (double)tied;
        wanted -= tied <= wanted ? tied : wanted;
        for (size_t k = first; k < i; k++)
            column->weights[column->ranked[k].index] = weight;
    }
}

static void fill(const struct column *column, struct bins *bins)
{
    for (size_t i = 0; i < column->history->count; i++) {
        double u = unit(column, i), weight = column->weights[i];
        size_t bin;

        if (isnan(u) || isnan(weight))
            continue;
        bin = (size_t)(u * (double)bins->count);
        if (bin == bins->count)
            bin--;
        bins->all[bin] += 1.0;
        bins->best[bin] += weight;
    }
}

static double centre(const struct bins *bins, size_t bin)
{
    return ((double)bin + 0.5) / (double)bins->count;
}

/* Scott's rule, for the best. */
static double bandwidth(const struct bins *bins)
{
    double mean = 0.0, variance = 0.0;

    for (size_t b = 0; b < bins->count; b++)
        mean += bins->best[b] * centre(bins, b) / bins->best_sum;
    for (size_t b = 0; b < bins->count; b++)
        variance +=
            bins->best[b] * pow(centre(bins, b) - mean, 2.0) / bins->best_sum;
    return fmax(scott * sqrt(variance) * pow(bins->best_sum, -0.2),
                min_bandwidth);
}

/* kernel[from][to]: the share of a result in bin `from` that counts for bin
 * `to`; each row sums to 1. Without order, a bin counts for itself. */
static void fill_kernel(const struct bins *bins, bool has_order,
                        double kernel[BINS][BINS])
{
    double h = bandwidth(bins);

    for (size_t from = 0; from < bins->count; from++) {
        double sum = 0.0;

        for (size_t to = 0; to < bins->count; to++) {
            double z = (centre(bins, to) - centre(bins, from)) / h;

            kernel[from][to] = has_order ? exp(-0.5 * z * z) : from == to;
            sum += kernel[from][to];
        }
        for (size_t to = 0; to < bins->count; to++)
            kernel[from][to] /= sum;
    }
}

/*
 * The Pearson divergence of the best from all, less what it would be on average
 * for as many drawn from all without replacement: in each bin the variance of
 * their mean kernel.
 */
static double divergence(const struct bins *bins, double kernel[BINS][BINS])
{
    double n = bins->all_sum, k = bins->best_sum;
    double sum = 0.0;

    for (size_t to = 0; to < bins->count; to++) {
        double all = 0.0, best = 0.0, square = 0.0, chance;

        for (size_t from = 0; from < bins->count; from++) {
            double share = bins->all[from] / n;

            all += share * kernel[from][to];
            square += share * kernel[from][to] * kernel[from][to];
            best += bins->best[from] / k * kernel[from][to];
        }
        chance = (square - all * all) / k * (n - k) / (n - 1.0);
        if (all > 0.0)
            sum += (pow(best - all, 2.0) - chance) / all;
    }
    return fmax(sum, 0.0);
}

static bool is_number(const struct param *param)
{
    return param->kind == PARAM_FLOAT || param->kind == PARAM_INT;
}

/* The share of the indicator's variance that the parameter alone explains. */
static double explained(const struct column *column)
{
    const struct param *param =
        space_param(column->history->space, column->parameter);
    double active = (double)column->active, best = (double)column->best;
    struct bins bins = {.count = BINS, .all_sum = active, .best_sum = best};
    double kernel[BINS][BINS];

    if (!is_number(param) && param_cardinality(param) < BINS)
        bins.count = (size_t)param_cardinality(param);
    fill(column, &bins);
    fill_kernel(&bins, param->kind != PARAM_CATEGORICAL, kernel);
    return divergence(&bins, kernel) * best / (active - best);
}

/* Parameters that are always active have the same best trials. */
static void look_at(struct column *column, size_t parameter)
{
    size_t before = column->active;

    column->parameter = parameter;
    column->active = count_active(column);
    if (column->active == column->count && before == column->count)
        return;
    column->best = best_count(column->active);
    weigh(column);
}

size_t importance_of(const struct history *history, size_t objective,
                     double *shares)
{
    struct column column = {.history = history};
    struct ranked *ranked = rank(history, objective, &column.count);
    double sum = 0.0;

    column.ranked = ranked;
    column.weights = mem_array(history->count, sizeof(*column.weights));
    for (size_t d = 0; d < history->dimension; d++) {
        shares[d] = 0.0;
        if (param_cardinality(space_param(history->space, d)) == 1)
            continue;
        look_at(&column, d);
        if (column.active < IMPORTANCE_RESULTS_MIN)
            continue;
        shares[d] =
            explained(&column) * (double)column.active / (double)column.count;
        sum += shares[d];
    }
    for (size_t d = 0; d < history->dimension && sum > 0.0; d++)
        shares[d] /= sum;
    free(column.weights);
    free(ranked);
    return column.count;
}
