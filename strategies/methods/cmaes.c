/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/methods/startup.h"
#include "strategies/models/cma.h"
#include "strategies/models/cmaes_model.h"
#include "strategies/models/ranking.h"

/*
 * CMA-ES over trials whose results come late and in any order.
 *
 * It begins with points of the startup sequence; the best of them becomes the
 * mean. Then results are taken in the order in which they were told: as soon as
 * there is a population of them, whichever distribution they were drawn from,
 * the model is updated by their ranking. So no trial waits for another, and
 * the state follows from the order of telling alone.
 *
 * When a search has stalled, the next one begins at a random place: with twice
 * the population, or with a small one and a small deviation, whichever has had
 * fewer trials until then (N. Hansen, "Benchmarking a BI-population CMA-ES on
 * the BBOB-2009 function testbed", GECCO 2009).
 */

enum {
    TRIES = 100, /* candidates for one trial */
    POPULATION_MAX = 10000,
    RELATED_MAX = 300, /* parameters that may be seen as related */
    STREAM_RESTART = STREAM_CMAES + 2 /* number of the restart */
};

/* In units of a parameter's range: the deviation of a search's first points,
 * and that with which it is at its end. */
static const double start_deviation = 0.2, least_deviation = 1e-6;

/* A search whose rates are small is given time, but not for ever. */
static const double least_rate = 0.01;

struct search {
    struct cmaes_model *model; /* NULL: the startup points are not told yet */
    size_t *pool;              /* [population]: results for the next update */
    size_t population, pool_count;
    uint64_t updates, improved_at;
    size_t best; /* SIZE_MAX: none yet */
    bool is_small;
};

struct cmaes {
    struct space *space;
    struct startup *startup;
    uint64_t seed;
    size_t degrees; /* axes, and categories' values less one */
    size_t startup_count, base_population, large_population;
    bool adapts_rates;
    size_t taken;                /* of history->told */
    size_t best;                 /* SIZE_MAX: none yet */
    uint64_t restarts, spent[2]; /* trials by is_small */
    struct search search;
    double *unit; /* [space_count] */
};

static void cmaes_destroy(void *state)
{
    struct cmaes *cmaes = state;

    if (cmaes == NULL)
        return;
    cmaes_model_destroy(cmaes->search.model);
    startup_destroy(cmaes->startup);
    free(cmaes->search.pool);
    free(cmaes->unit);
    free(cmaes);
}

/* Smaller than is usual (4 + 3 ln d), since most budgets are small; results
 * that are too late for their population need a larger one. */
static size_t choose_population(size_t degrees, uint64_t parallel)
{
    size_t population =
        degrees > 0 ? 3 + (size_t)(2 * log((double)degrees)) : 2;
    size_t wanted = parallel < 4 * POPULATION_MAX ? (size_t)parallel / 4 : 0;

    return wanted > population ? wanted : population;
}

static void *cmaes_create(const struct strategy_options *options,
                          struct space *space, struct err *err)
{
    struct cmaes *cmaes = mem_zero(sizeof(*cmaes));
    size_t axes, choices;

    cmaes->space = space;
    cmaes->seed = options->seed;
    cmaes_model_count(space, &axes, &choices);
    cmaes->degrees = axes + choices;
    cmaes->base_population =
        choose_population(cmaes->degrees, options->parallel);
    cmaes->large_population = cmaes->base_population;
    cmaes->adapts_rates = options->adapts_rates;
    cmaes->startup_count =
        cmaes->degrees > 0 ? 4 + (size_t)(3 * log((double)cmaes->degrees)) : 4;
    cmaes->best = cmaes->search.best = SIZE_MAX;
    cmaes->unit = mem_array(space_count(space), sizeof(*cmaes->unit));
    cmaes->startup = startup_create(options, space, err);
    if (cmaes->startup == NULL) {
        cmaes_destroy(cmaes);
        return NULL;
    }
    return cmaes;
}

/* As many as it takes to learn each parameter's own scale: then how they are
 * related is learned too. */
static size_t diagonal_updates(size_t degrees, size_t population)
{
    return degrees > RELATED_MAX ? SIZE_MAX : degrees * degrees / population;
}

static void start_search(struct cmaes *cmaes, size_t population,
                         double deviation, bool is_small)
{
    struct search *search = &cmaes->search;

    cmaes_model_destroy(search->model);
    free(search->pool);
    *search = (struct search){
        .population = population,
        .pool = mem_array(population, sizeof(*search->pool)),
        .best = SIZE_MAX,
        .is_small = is_small,
        .model = cmaes_model_create(cmaes->space,
                                    &(struct cmaes_model_options){
                                        .population = population,
                                        .deviation = deviation,
                                        .seed = cmaes->seed,
                                        .diagonal_updates = diagonal_updates(
                                            cmaes->degrees, population),
                                        .adapts_rates = cmaes->adapts_rates,
                                    },
                                    cmaes->unit),
    };
}

/* From the best of all that was told so far; what is inactive in it, from a
 * random place. */
static void begin(struct cmaes *cmaes, const struct history *history)
{
    size_t *order = mem_array(cmaes->taken, sizeof(*order)), count = 0;
    struct rng rng;

    for (size_t i = 0; i < cmaes->taken; i++)
        if (history->states[history->told[i]] != HISTORY_CANCELLED)
            order[count++] = history->told[i];
    ranking_sort(history, order, count, NULL);
    rng_init(&rng, cmaes->seed, 0, STREAM_RESTART);
    for (size_t i = 0; i < history->dimension; i++) {
        double unit = history_unit(history, order[0])[i];

        cmaes->unit[i] = isnan(unit) ? rng_uniform(&rng) : unit;
    }
    start_search(cmaes, cmaes->base_population, start_deviation, false);
    cmaes_model_lean(cmaes->search.model, history, order, (count + 1) / 2);
    free(order);
}

static void restart(struct cmaes *cmaes)
{
    double ratio =
        (double)cmaes->large_population / (double)cmaes->base_population;
    struct rng rng;
    double u;

    rng_init(&rng, cmaes->seed, ++cmaes->restarts, STREAM_RESTART);
    for (size_t i = 0; i < space_count(cmaes->space); i++)
        cmaes->unit[i] = rng_uniform(&rng);
    u = rng_uniform(&rng);
    if (cmaes->spent[1] < cmaes->spent[0] && cmaes->restarts > 1) {
        start_search(
            cmaes,
            (size_t)((double)cmaes->base_population * pow(ratio / 2, u * u)),
            start_deviation * pow(10, -2 * rng_uniform(&rng)), true);
        return;
    }
    if (cmaes->large_population <= POPULATION_MAX / 2)
        cmaes->large_population *= 2;
    start_search(cmaes, cmaes->large_population, start_deviation, false);
}

/* Updates without a better trial that end a search: of several objectives,
 * which have no best, none do. */
static bool has_stalled(const struct cmaes *cmaes,
                        const struct history *history)
{
    const struct search *search = &cmaes->search;
    uint64_t patience = 10 + 30 * cmaes->degrees / search->population;
    double rate = cmaes_model_learning_rate(search->model);

    return cmaes_model_is_degenerate(search->model) ||
           cmaes_model_is_narrow(search->model, least_deviation) ||
           (history->objective_count == 1 &&
            (double)(search->updates - search->improved_at) *
                    fmax(rate, least_rate) >
                (double)patience);
}

static void update(struct cmaes *cmaes, const struct history *history)
{
    struct search *search = &cmaes->search;
    size_t n = search->population;
    size_t *ties = mem_array(n, sizeof(*ties));

    ranking_sort(history, search->pool, n, ties);
    cmaes_model_update(search->model, history, search->pool, ties);
    free(ties);
    search->pool_count = 0;
    search->updates++;
    cmaes->spent[search->is_small] += n;
    if (search->best == SIZE_MAX ||
        history_better(history, search->pool[0], search->best)) {
        search->best = search->pool[0];
        search->improved_at = search->updates;
    }
    if (has_stalled(cmaes, history))
        restart(cmaes);
}

static void take_result(struct cmaes *cmaes, const struct history *history)
{
    struct search *search = &cmaes->search;
    size_t index = history->told[cmaes->taken++];

    if (history->states[index] == HISTORY_CANCELLED)
        return;
    if (history->states[index] == HISTORY_COMPLETE &&
        (cmaes->best == SIZE_MAX ||
         history_better(history, index, cmaes->best)))
        cmaes->best = index;
    if (search->model == NULL) {
        if (cmaes->taken >= cmaes->startup_count && cmaes->best != SIZE_MAX)
            begin(cmaes, history);
        return;
    }
    search->pool[search->pool_count++] = index;
    if (search->pool_count == search->population)
        update(cmaes, history);
}

static void explain(const struct cmaes *cmaes, const struct history *history,
                    struct reason *reason)
{
    const struct search *search = &cmaes->search;
    char rate[40] = "";

    reason->incumbent = history->numbers[cmaes->best];
    reason->step =
        search->is_small ? "search with a small population" : "search";
    if (cmaes->adapts_rates)
        snprintf(rate, sizeof(rate), ", learning rate %.2g",
                 cmaes_model_learning_rate(search->model));
    snprintf(reason->note, sizeof(reason->note),
             "generation %" PRIu64 " of %zu each, deviation %.2g, restart "
             "%" PRIu64 "%s",
             search->updates + 1, search->population,
             cmaes_model_step_size(search->model), cmaes->restarts, rate);
}

static enum ask_result cmaes_next(void *state, struct ask *ask, struct err *err)
{
    struct cmaes *cmaes = state;
    double stretch = 1;
    struct rng rng;

    while (cmaes->taken < ask->history->told_count)
        take_result(cmaes, ask->history);
    if (cmaes->search.model == NULL || cmaes->degrees == 0)
        return startup_next(cmaes->startup, ask, err);
    explain(cmaes, ask->history, ask->reason);
    rng_init(&rng, cmaes->seed, ask->trial, STREAM_CMAES);
    for (int i = 0; i < TRIES; i++) {
        cmaes_model_draw(cmaes->search.model, &rng, stretch, cmaes->unit);
        space_decode(cmaes->space, cmaes->unit, ask->point);
        if (ask_accepts(ask, ask->point))
            return ASK_OK;
        stretch *= i < TRIES / 10 ? 1 : 1.1;
    }
    return ASK_EXHAUSTED;
}

const struct strategy_method strategy_method_cmaes = {
    .name = "cmaes",
    .learns = true,
    .create = cmaes_create,
    .destroy = cmaes_destroy,
    .next = cmaes_next,
};
