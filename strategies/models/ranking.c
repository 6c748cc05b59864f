/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of trials from best to worst, on which CMA-ES, NSGA-II and others
 * learn. Every trial gets a key: a group by its state, then two numbers. With
 * one objective these are violation and value; with several they are rank and
 * crowding. The order is stable, so that a replay ranks equal trials the same
 * way.
 */
#include "strategies/models/ranking.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/history/history.h"
#include "strategies/history/pareto.h"

struct key {
    size_t index, position;
    unsigned char group;
    double major, minor; /* lower is better */
};

static const unsigned char groups[] = {
    [HISTORY_PENDING] = 3, [HISTORY_COMPLETE] = 0,  [HISTORY_FAILED] = 2,
    [HISTORY_STOPPED] = 1, [HISTORY_CANCELLED] = 3, [HISTORY_ASIDE] = 3,
    [HISTORY_BEHIND] = 3,
};

static int compare_keys(const struct key *a, const struct key *b)
{
    int order = (a->group > b->group) - (a->group < b->group);

    if (order == 0)
        order = (a->major > b->major) - (a->major < b->major);
    if (order == 0)
        order = (a->minor > b->minor) - (a->minor < b->minor);
    return order;
}

static int compare_stably(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    int order = compare_keys(a, b);

    return order != 0
               ? order
               : (a->position > b->position) - (a->position < b->position);
}

/* The crowding of the complete ones, a rank at a time. */
static void set_crowding(struct key *const *complete, const double *values,
                         size_t count, size_t objectives)
{
    double *front = mem_array(count * objectives, sizeof(*front));
    double *crowding = mem_array(count, sizeof(*crowding));
    size_t found = 1;

    for (size_t rank = 0; found > 0; rank++) {
        found = 0;
        for (size_t i = 0; i < count; i++)
            if ((size_t)complete[i]->major == rank)
                memcpy(front + found++ * objectives, values + i * objectives,
                       objectives * sizeof(*front));
        pareto_crowding(front, found, objectives, crowding);
        found = 0;
        for (size_t i = 0; i < count; i++)
            if ((size_t)complete[i]->major == rank)
                complete[i]->minor = -crowding[found++];
    }
    free(front);
    free(crowding);
}

static void set_ranks(const struct history *history, struct key *keys,
                      size_t count)
{
    size_t m = history->objective_count, found = 0;
    struct key **complete = mem_array(count, sizeof(struct key *));
    double *values = mem_array(count * m, sizeof(*values));
    double *violations = mem_array(count, sizeof(*violations));
    size_t *ranks = mem_array(count, sizeof(*ranks));

    for (size_t i = 0; i < count; i++) {
        if (keys[i].group != groups[HISTORY_COMPLETE])
            continue;
        memcpy(values + found * m, history_values(history, keys[i].index),
               m * sizeof(*values));
        violations[found] = history_violation(history, keys[i].index);
        complete[found++] = &keys[i];
    }
    pareto_sort(values, violations, found, m, ranks);
    for (size_t i = 0; i < found; i++)
        complete[i]->major = (double)ranks[i];
    set_crowding(complete, values, found, m);
    free(complete);
    free(values);
    free(violations);
    free(ranks);
}

static struct key make_key(const struct history *history, size_t index,
                           size_t position)
{
    struct key key = {.index = index,
                      .position = position,
                      .group = groups[history->states[index]]};

    if (history->states[index] == HISTORY_COMPLETE) {
        key.major = history_violation(history, index);
        key.minor = history_values(history, index)[0];
    }
    return key;
}

void ranking_sort(const struct history *history, size_t *order, size_t count,
                  size_t *ties)
{
    struct key *keys = mem_array(count, sizeof(*keys));

    for (size_t i = 0; i < count; i++)
        keys[i] = make_key(history, order[i], i);
    if (history->objective_count > 1)
        set_ranks(history, keys, count);
    if (count > 0)
        qsort(keys, count, sizeof(*keys), compare_stably);
    for (size_t i = 0; i < count; i++) {
        order[i] = keys[i].index;
        if (ties != NULL)
            ties[i] = i > 0 && compare_keys(&keys[i - 1], &keys[i]) == 0
                          ? ties[i - 1]
                          : i;
    }
    free(keys);
}
