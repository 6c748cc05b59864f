/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/history/standings.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/history/history.h"
#include "strategies/history/hypervolume.h"
#include "strategies/history/pareto.h"

enum tier { TIER_COMPLETE, TIER_STOPPED, TIER_INFEASIBLE };

struct standing {
    enum tier tier;
    double violation;
    double value; /* with several objectives the rank */
    double share; /* with several objectives: of the rank's hypervolume */
    uint64_t lot; /* decides between equals */
};

enum {
    INSERTIONS_MAX = 64, /* more new ones are sorted together */
    SHARES_MIN = 64,     /* ranks of so many first trials get shares */
    FRONT_MAX = 200      /* a larger rank gets them by crowding */
};

void standings_clear(struct standings *standings)
{
    free(standings->order);
    free(standings->lost);
    free(standings->all);
    *standings = (struct standings){0};
}

/* The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t draw_lot(uint64_t index)
{
    uint64_t word = (index + 1) * 0x9e3779b97f4a7c15u;

    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return word ^ word >> 31;
}

static bool has_values(const struct history *history, size_t index)
{
    const double *values = history_values(history, index);

    for (size_t i = 0; i < history->objective_count; i++)
        if (!isfinite(values[i]))
            return false;
    return history->states[index] == HISTORY_COMPLETE ||
           history->states[index] == HISTORY_STOPPED;
}

static struct standing find_standing(const struct history *history,
                                     size_t index)
{
    struct standing standing = {
        .tier = history->states[index] == HISTORY_COMPLETE ? TIER_COMPLETE
                                                           : TIER_STOPPED,
        .violation = history_violation(history, index),
        .value = history_values(history, index)[0],
        .lot = draw_lot(index),
    };

    if (standing.violation > 0)
        standing.tier = TIER_INFEASIBLE;
    return standing;
}

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

/* qsort_r: indices by their standings. */
static int compare(const void *a, const void *b, void *all)
{
    const struct standing *standings = all;
    const struct standing *x = &standings[*(const size_t *)a];
    const struct standing *y = &standings[*(const size_t *)b];
    int order = (x->tier > y->tier) - (x->tier < y->tier);

    if (order == 0)
        order = compare_numbers(x->violation, y->violation);
    if (order == 0)
        order = compare_numbers(x->value, y->value);
    if (order == 0)
        order = compare_numbers(y->share, x->share);
    return order != 0 ? order : (x->lot > y->lot) - (x->lot < y->lot);
}

static void insert(struct standings *standings, size_t index)
{
    size_t low = 0, high = standings->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(&standings->order[middle], &index, standings->all) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&standings->order[low + 1], &standings->order[low],
            (standings->count - low) * sizeof(index));
    standings->order[low] = index;
    standings->count++;
}

static void take_in(struct standings *standings, const struct history *history,
                    size_t index, bool sorted)
{
    if (history->states[index] == HISTORY_CANCELLED)
        return;
    if (!has_values(history, index)) {
        standings->lost =
            mem_grow(standings->lost, standings->lost_count,
                     &standings->lost_capacity, sizeof(*standings->lost));
        standings->lost[standings->lost_count++] = index;
        return;
    }
    standings->order =
        mem_grow(standings->order, standings->count, &standings->capacity,
                 sizeof(*standings->order));
    standings->all[index] = find_standing(history, index);
    if (sorted)
        insert(standings, index);
    else
        standings->order[standings->count++] = index;
}

/* Values of trials[count] from the rank's best to its worst, 0 to 1; without
 * overflow. */
static double *scale_front(const struct history *history, const size_t *trials,
                           size_t count)
{
    size_t width = history->objective_count;
    double *values = mem_array(count * width, sizeof(*values));

    for (size_t k = 0; k < width; k++) {
        double low = INFINITY, high = -INFINITY;

        for (size_t i = 0; i < count; i++) {
            low = fmin(low, history_values(history, trials[i])[k] / 2);
            high = fmax(high, history_values(history, trials[i])[k] / 2);
        }
        for (size_t i = 0; i < count && high > low; i++)
            values[i * width + k] =
                (history_values(history, trials[i])[k] / 2 - low) /
                (high - low);
    }
    return values;
}

/* What each trial of a rank adds to the rank's worth. */
static void set_shares(struct standings *standings,
                       const struct history *history, const size_t *trials,
                       size_t count)
{
    size_t width = history->objective_count;
    double *values = scale_front(history, trials, count);
    double *reference = mem_array(width, sizeof(*reference));
    double *shares = mem_array(count, sizeof(*shares));

    if (count > FRONT_MAX) {
        pareto_crowding(values, count, width, shares);
    } else {
        hypervolume_reference(values, count, width, reference);
        hypervolume_contributions(values, count, width, reference, shares);
    }
    for (size_t i = 0; i < count; i++)
        standings->all[trials[i]].share = shares[i];
    free(values);
    free(reference);
    free(shares);
}

static void sort(struct standings *standings)
{
    if (standings->count == 0)
        return;
    qsort_r(standings->order, standings->count, sizeof(*standings->order),
            compare, standings->all);
}

/* The rank of each trial among those as good by tier and violation. */
static void set_ranks(struct standings *standings,
                      const struct history *history)
{
    size_t count = standings->count, width = history->objective_count;
    double *values = mem_array(count * width, sizeof(*values));
    double *violations = mem_array(count, sizeof(*violations));
    size_t *ranks = mem_array(count, sizeof(*ranks));

    for (size_t i = 0; i < count; i++) {
        const struct standing *standing = &standings->all[standings->order[i]];

        memcpy(values + i * width, history_values(history, standings->order[i]),
               width * sizeof(*values));
        /* a stopped one dominates no complete one */
        violations[i] =
            standing->tier == TIER_STOPPED ? DBL_MIN : standing->violation;
    }
    pareto_sort(values, violations, count, width, ranks);
    for (size_t i = 0; i < count; i++) {
        standings->all[standings->order[i]].value = (double)ranks[i];
        standings->all[standings->order[i]].share = 0;
    }
    free(values);
    free(violations);
    free(ranks);
}

static void sort_objectives(struct standings *standings,
                            const struct history *history)
{
    size_t first = 0, after;

    set_ranks(standings, history);
    sort(standings);
    for (; first < standings->count && first < SHARES_MIN; first = after) {
        const struct standing *best = &standings->all[standings->order[first]];

        for (after = first + 1; after < standings->count; after++) {
            const struct standing *next =
                &standings->all[standings->order[after]];

            if (next->tier != best->tier || next->value > best->value)
                break;
        }
        set_shares(standings, history, standings->order + first, after - first);
    }
    sort(standings);
}

void standings_update(struct standings *standings,
                      const struct history *history)
{
    size_t news = history->told_count - standings->told_count;
    bool sorted = news <= INSERTIONS_MAX && history->objective_count == 1;

    if (standings->all_capacity < history->count) {
        standings->all_capacity = history->capacity;
        standings->all = mem_resize(standings->all, standings->all_capacity,
                                    sizeof(*standings->all));
    }
    for (; standings->told_count < history->told_count; standings->told_count++)
        take_in(standings, history, history->told[standings->told_count],
                sorted);
    if (history->objective_count > 1 && news > 0 && standings->count > 0)
        sort_objectives(standings, history);
    else if (!sorted)
        sort(standings);
}
