/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/history/pareto.h"
#include "strategies/methods/startup.h"
#include "strategies/models/ranking.h"
#include "strategies/models/variation.h"

/*
 * NSGA-II (K. Deb et al., "A fast and elitist multiobjective genetic algorithm:
 * NSGA-II", IEEE Trans. Evol. Comput. 6(2), 2002) without generations, as in J.
 * Durillo et al., "On the effect of the steady-state selection scheme in
 * multi-objective genetic algorithms", EMO 2009: each result competes with the
 * population when it is told, and each suggestion is a child of the population
 * of that moment. So any number may be pending, and the population follows from
 * the order of telling.
 */

enum { TRIES = 100, POPULATION_MIN = 10, POPULATION_MAX = 50 };

struct nsga2 {
    struct space *space;
    struct startup *startup;
    uint64_t seed;
    size_t capacity;
    size_t taken;    /* of history->told */
    size_t *members; /* [capacity + 1]: indices of trials, best first */
    size_t *ties;    /* [capacity + 1]: the first that is as good */
    size_t count;
    double *unit; /* [space_count] */
};

static void nsga2_destroy(void *state)
{
    struct nsga2 *nsga2 = state;

    if (nsga2 == NULL)
        return;
    startup_destroy(nsga2->startup);
    free(nsga2->members);
    free(nsga2->ties);
    free(nsga2->unit);
    free(nsga2);
}

/* Small, so that good trials soon have most children; what is on the front need
 * not be in the population to be found again. */
static size_t choose_capacity(uint64_t budget_trials)
{
    uint64_t capacity = budget_trials > 0 ? budget_trials / 50 : 20;

    return capacity < POPULATION_MIN   ? POPULATION_MIN
           : capacity > POPULATION_MAX ? POPULATION_MAX
                                       : (size_t)capacity;
}

static void *nsga2_create(const struct strategy_options *options,
                          struct space *space, struct err *err)
{
    struct nsga2 *nsga2 = mem_zero(sizeof(*nsga2));

    nsga2->space = space;
    nsga2->seed = options->seed;
    nsga2->capacity = choose_capacity(options->budget_trials);
    nsga2->members = mem_array(nsga2->capacity + 1, sizeof(*nsga2->members));
    nsga2->ties = mem_array(nsga2->capacity + 1, sizeof(*nsga2->ties));
    nsga2->unit = mem_array(space_count(space), sizeof(*nsga2->unit));
    nsga2->startup = startup_create(options, space, err);
    if (nsga2->startup == NULL) {
        nsga2_destroy(nsga2);
        return NULL;
    }
    return nsga2;
}

/* Whether a result comes after the last one of a full population, so that the
 * population stays as it is: true of most where a long record is read again. */
static bool is_hopeless(const struct nsga2 *nsga2,
                        const struct history *history, size_t index)
{
    size_t last = nsga2->members[nsga2->count - 1];
    double violation, limit;

    if (nsga2->count < nsga2->capacity ||
        history->states[last] != HISTORY_COMPLETE)
        return false;
    if (history->states[index] != HISTORY_COMPLETE)
        return true;
    violation = history_violation(history, index);
    limit = history_violation(history, last);
    return violation > limit ||
           (violation <= limit && violation >= limit &&
            pareto_dominates(history_values(history, last),
                             history_values(history, index),
                             history->objective_count));
}

static void take_result(struct nsga2 *nsga2, const struct history *history)
{
    size_t index = history->told[nsga2->taken++];

    if (history->states[index] == HISTORY_CANCELLED ||
        (nsga2->count > 0 && is_hopeless(nsga2, history, index)))
        return;
    nsga2->members[nsga2->count++] = index;
    ranking_sort(history, nsga2->members, nsga2->count, nsga2->ties);
    if (nsga2->count > nsga2->capacity)
        nsga2->count--;
}

/* The better one of two; of equals, either. */
static size_t hold_tournament(const struct nsga2 *nsga2, struct rng *rng)
{
    size_t a = rng_below(rng, nsga2->count), b = rng_below(rng, nsga2->count);

    if (nsga2->ties[a] == nsga2->ties[b])
        return nsga2->members[a];
    return nsga2->members[a < b ? a : b];
}

static void explain(const struct history *history, size_t mother, size_t father,
                    struct reason *reason)
{
    reason->step = mother == father ? "mutation" : "crossover";
    if (mother == father)
        snprintf(reason->note, sizeof(reason->note),
                 "a mutation of trial %" PRIu64, history->numbers[mother]);
    else
        snprintf(reason->note, sizeof(reason->note),
                 "a child of trials %" PRIu64 " and %" PRIu64,
                 history->numbers[mother], history->numbers[father]);
}

static void breed(struct nsga2 *nsga2, struct ask *ask, struct rng *rng,
                  double mutation)
{
    size_t mother = hold_tournament(nsga2, rng);
    size_t father = hold_tournament(nsga2, rng);

    variation_cross(nsga2->space, history_unit(ask->history, mother),
                    history_unit(ask->history, father), rng, nsga2->unit);
    variation_mutate(nsga2->space, mutation, rng, nsga2->unit);
    space_decode(nsga2->space, nsga2->unit, ask->point);
    explain(ask->history, mother, father, ask->reason);
}

static enum ask_result nsga2_next(void *state, struct ask *ask, struct err *err)
{
    struct nsga2 *nsga2 = state;
    const struct history *history = ask->history;
    double mutation = 1 / (double)space_count(nsga2->space);
    struct rng rng;

    while (nsga2->taken < history->told_count)
        take_result(nsga2, history);
    if (history->count < nsga2->capacity || history->complete_count < 2)
        return startup_next(nsga2->startup, ask, err);
    ask->reason->incumbent = history->numbers[nsga2->members[0]];
    rng_init(&rng, nsga2->seed, ask->trial, STREAM_NSGA2);
    for (int i = 0; i < TRIES; i++) {
        breed(nsga2, ask, &rng, mutation);
        if (ask_accepts(ask, ask->point))
            return ASK_OK;
        mutation = fmin(1.1 * mutation, 1);
    }
    return ASK_EXHAUSTED;
}

const struct strategy_method strategy_method_nsga2 = {
    .name = "nsga2",
    .learns = true,
    .create = nsga2_create,
    .destroy = nsga2_destroy,
    .next = nsga2_next,
};
