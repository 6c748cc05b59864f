/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/rng.h"
#include "strategies/models/explore.h"
#include "strategies/schedules/plan_add.h"
#include "strategies/schedules/scheduler_impl.h"

/*
 * Population based training (M. Jaderberg et al., "Population based training
 * of neural networks", arXiv:1711.09846), in generations: generation g runs to
 * (g + 1) * min, the last one to max. When all who live have a result, the
 * worst `quantile` of them give way, and each is replaced by a clone of one
 * drawn from the best `quantile` (truncation selection, section 4.1.1); so are
 * those that failed. The others go on.
 *
 * All that give way are stopped first, then come all clones, then the
 * promotions: a parent rests until its checkpoint has been copied. While this
 * lasts, clones already belong to the next generation, and may even be at its
 * end.
 *
 * Where no new trials may come any more, there are no clones, and the
 * population shrinks. One of which nobody lives is at its end, too.
 */

enum { POPULATION_MAX = 100000, GENERATIONS_MAX = 10000 };

struct member {
    uint64_t trial;
    uint64_t generation; /* that it runs in, or rests at the end of */
    bool rests;
    double value; /* at rest */
    size_t rank;  /* 1, 2 ... among those at rest */
};

struct pbt {
    struct schedule_options options;
    struct space *space;
    uint64_t generations;
    struct member *members; /* [count], who live */
    size_t count, capacity;
    size_t begun; /* trials of the first generation */

    uint64_t generation; /* the last of which somebody has not gone on */
    size_t ranked;       /* how many of it had a result in the end */
    size_t clones;       /* that its end has brought so far */
    bool is_turning;     /* its end has begun: nobody is ranked any more */
    bool is_promoting;   /* no clones any more */
};

static uint64_t generation_count(const struct schedule_options *options)
{
    return (options->max - 1) / options->min + 1;
}

static uint64_t generation_end(const struct schedule_options *options,
                               uint64_t generation)
{
    return generation + 1 < generation_count(options)
               ? (generation + 1) * options->min
               : options->max;
}

/* How many of so many give way; one must remain for each. */
static size_t losers_of(const struct schedule_options *options, size_t count)
{
    size_t losers = (size_t)ceil(options->quantile * (double)count);

    return losers < count / 2 ? losers : count / 2;
}

static size_t leaders_of(const struct schedule_options *options, size_t count)
{
    size_t losers = losers_of(options, count);

    return losers > 0 ? losers : 1;
}

static int check_options(const struct schedule_options *options,
                         struct err *err)
{
    if (options->population < 2 || options->population > POPULATION_MAX)
        return err_set(err, ERR_FILE,
                       "population must be from 2 to %d, not %" PRIu64,
                       POPULATION_MAX, options->population);
    if (!(options->quantile > 0 && options->quantile <= 0.5))
        return err_set(err, ERR_FILE,
                       "quantile must be above 0 and at most 0.5, not %g",
                       options->quantile);
    if (!(options->resample >= 0 && options->resample <= 1))
        return err_set(err, ERR_FILE, "resample must be from 0 to 1, not %g",
                       options->resample);
    if (generation_count(options) > GENERATIONS_MAX)
        return err_set(err, ERR_FILE,
                       "out of range: min %" PRIu64 " makes %" PRIu64
                       " generations up to max %" PRIu64
                       ", at most %d are possible",
                       options->min, generation_count(options), options->max,
                       GENERATIONS_MAX);
    return 0;
}

static void *pbt_create(const struct schedule_options *options,
                        struct space *space, struct err *err)
{
    struct pbt *pbt;

    if (check_options(options, err) < 0)
        return NULL;
    pbt = mem_zero(sizeof(*pbt));
    pbt->options = *options;
    pbt->space = space;
    pbt->generations = generation_count(options);
    return pbt;
}

static void pbt_destroy(void *state)
{
    struct pbt *pbt = state;

    if (pbt == NULL)
        return;
    free(pbt->members);
    free(pbt);
}

static bool pbt_pauses(UNUSED const void *state)
{
    return true;
}

static struct member *find(const struct pbt *pbt, uint64_t trial)
{
    for (size_t i = 0; i < pbt->count; i++)
        if (pbt->members[i].trial == trial)
            return &pbt->members[i];
    return NULL;
}

/* Who is in an earlier generation is first, then who is better. */
static int compare(const void *a, const void *b)
{
    const struct member *first = a, *second = b;

    if (first->generation != second->generation)
        return first->generation < second->generation ? -1 : 1;
    if (isnan(first->value) != isnan(second->value))
        return isnan(second->value) ? -1 : 1;
    if (first->value < second->value || first->value > second->value)
        return first->value < second->value ? -1 : 1;
    return (first->trial > second->trial) - (first->trial < second->trial);
}

/* All of the generation are at rest. */
static void rank_members(struct pbt *pbt)
{
    qsort(pbt->members, pbt->count, sizeof(*pbt->members), compare);
    pbt->ranked = 0;
    while (pbt->ranked < pbt->count &&
           pbt->members[pbt->ranked].generation == pbt->generation) {
        pbt->members[pbt->ranked].rank = pbt->ranked + 1;
        pbt->ranked++;
    }
}

/* Whether somebody of the generation has not come to its end. */
static bool is_awaited(const struct pbt *pbt)
{
    for (size_t i = 0; i < pbt->count; i++)
        if (pbt->members[i].generation == pbt->generation &&
            !pbt->members[i].rests)
            return true;
    return false;
}

static bool is_left(const struct pbt *pbt)
{
    for (size_t i = 0; i < pbt->count; i++)
        if (pbt->members[i].generation == pbt->generation)
            return true;
    return false;
}

/* Draws the consequences of any change. */
static void settle(struct pbt *pbt)
{
    if (pbt->count > 0 && !is_left(pbt)) {
        pbt->generation++;
        pbt->clones = 0;
        pbt->is_turning = pbt->is_promoting = false;
    }
    if (pbt->count > 0 && !pbt->is_turning && !is_awaited(pbt))
        rank_members(pbt);
}

/* The first, or with `last` the last, of these ranks at rest. */
static const struct member *pick(const struct pbt *pbt, size_t from, size_t to,
                                 bool last)
{
    const struct member *picked = NULL;

    for (size_t i = 0; i < pbt->count; i++) {
        const struct member *member = &pbt->members[i];

        if (member->generation != pbt->generation || !member->rests ||
            member->rank < from || member->rank > to)
            continue;
        if (picked == NULL || (member->rank > picked->rank) == last)
            picked = member;
    }
    return picked;
}

/* Any of the best that are still there. */
static const struct member *draw_parent(const struct pbt *pbt)
{
    size_t leaders = leaders_of(&pbt->options, pbt->ranked);
    const struct member *parent = NULL;
    struct rng rng;

    if (pick(pbt, 1, leaders, false) == NULL)
        return pick(pbt, 1, pbt->ranked, false);
    rng_init(&rng, pbt->options.seed, pbt->generation << 32 | pbt->clones,
             STREAM_PBT_PARENT);
    while (parent == NULL) {
        size_t rank = 1 + (size_t)rng_below(&rng, leaders);

        parent = pick(pbt, rank, rank, false);
    }
    return parent;
}

static void stop(const struct pbt *pbt, const struct member *member,
                 struct assignment *next)
{
    uint64_t end = generation_end(&pbt->options, pbt->generation);

    next->kind = NEXT_STOP;
    next->trial = member->trial;
    next->resource = end;
    next->rung = pbt->generation;
    snprintf(next->reason, sizeof(next->reason),
             "%.6g at %" PRIu64 " is among the worst %zu of %zu",
             schedule_shown(&pbt->options, member->value), end,
             losers_of(&pbt->options, pbt->ranked), pbt->ranked);
}

static void go_on(const struct pbt *pbt, const struct member *member,
                  enum next_kind kind, struct assignment *next)
{
    uint64_t end = generation_end(&pbt->options, pbt->generation);

    next->kind = kind;
    next->trial = member->trial;
    next->resource = generation_end(&pbt->options, pbt->generation + 1);
    next->rung = pbt->generation + 1;
    if (kind == NEXT_CLONE)
        snprintf(next->reason, sizeof(next->reason),
                 "from trial %" PRIu64 ", whose %.6g at %" PRIu64
                 " is number %zu of %zu",
                 member->trial, schedule_shown(&pbt->options, member->value),
                 end, member->rank, pbt->ranked);
    else
        snprintf(next->reason, sizeof(next->reason),
                 "%.6g at %" PRIu64 " is number %zu of %zu",
                 schedule_shown(&pbt->options, member->value), end,
                 member->rank, pbt->ranked);
}

static bool may_clone(const struct pbt *pbt)
{
    size_t stay = pbt->ranked - losers_of(&pbt->options, pbt->ranked);

    return !pbt->is_promoting && pbt->clones < pbt->options.population - stay;
}

static void pbt_next(const void *state, bool is_closed, struct assignment *next)
{
    const struct pbt *pbt = state;
    size_t stay = pbt->ranked - losers_of(&pbt->options, pbt->ranked);
    const struct member *member;

    if (!is_closed && !pbt->is_turning && pbt->generation == 0 &&
        pbt->begun < pbt->options.population) {
        next->kind = NEXT_NEW;
        next->resource = generation_end(&pbt->options, 0);
        return;
    }
    if (is_awaited(pbt) || !is_left(pbt))
        return;
    member = pick(pbt, stay + 1, pbt->ranked, true);
    if (member != NULL)
        stop(pbt, member, next);
    else if (!is_closed && may_clone(pbt))
        go_on(pbt, draw_parent(pbt), NEXT_CLONE, next);
    else
        go_on(pbt, pick(pbt, 1, pbt->ranked, false), NEXT_PROMOTE, next);
}

static uint64_t pbt_room(const void *state)
{
    const struct pbt *pbt = state;

    return pbt->generation == 0 && !pbt->is_turning &&
                   pbt->begun < pbt->options.population
               ? pbt->options.population - pbt->begun
               : 0;
}

static void add_member(struct pbt *pbt, uint64_t trial, uint64_t generation)
{
    pbt->members = mem_grow(pbt->members, pbt->count, &pbt->capacity,
                            sizeof(*pbt->members));
    pbt->members[pbt->count++] =
        (struct member){.trial = trial, .generation = generation};
}

static void remove_member(struct pbt *pbt, uint64_t trial)
{
    struct member *member = find(pbt, trial);

    if (member == NULL)
        return;
    pbt->count--;
    *member = pbt->members[pbt->count];
}

static void promote_member(struct pbt *pbt, uint64_t trial)
{
    struct member *member = find(pbt, trial);

    if (member == NULL)
        return;
    member->generation++;
    member->rests = false;
}

static void pbt_assign(void *state, uint64_t number,
                       const struct assignment *assignment)
{
    struct pbt *pbt = state;

    switch (assignment->kind) {
    case NEXT_NONE:
        return;
    case NEXT_NEW:
        add_member(pbt, number, 0);
        pbt->begun++;
        break;
    case NEXT_CLONE:
        add_member(pbt, number, pbt->generation + 1);
        pbt->clones++;
        break;
    case NEXT_PROMOTE:
        promote_member(pbt, number);
        pbt->is_promoting = true;
        break;
    case NEXT_STOP:
        remove_member(pbt, number);
        break;
    }
    pbt->is_turning = assignment->kind != NEXT_NEW;
    settle(pbt);
}

static void pbt_explore(const void *state, uint64_t number,
                        const struct value *parent, struct value *point)
{
    const struct pbt *pbt = state;
    struct rng rng;

    rng_init(&rng, pbt->options.seed, number, STREAM_PBT_EXPLORE);
    explore_point(pbt->space, pbt->options.resample, &rng, parent, point);
}

static uint64_t pbt_awaits(const void *state, uint64_t trial)
{
    const struct pbt *pbt = state;
    const struct member *member = find(pbt, trial);

    return member != NULL ? generation_end(&pbt->options, member->generation)
                          : UINT64_MAX;
}

static void pbt_observe(void *state, const struct observation *observation,
                        struct verdict *verdict)
{
    struct pbt *pbt = state;
    struct member *member = find(pbt, observation->trial);

    if (member == NULL || member->rests ||
        observation->resource < pbt_awaits(pbt, observation->trial))
        return;
    verdict->rung = (int64_t)member->generation;
    if (member->generation + 1 == pbt->generations)
        return;
    verdict->decision = DECIDE_PAUSE;
    snprintf(verdict->reason, sizeof(verdict->reason),
             "%.6g at %" PRIu64 ", the end of generation %" PRIu64
             " of %" PRIu64,
             schedule_shown(&pbt->options, observation->value),
             observation->resource, member->generation + 1, pbt->generations);
    member->rests = true;
    member->value = observation->value;
    settle(pbt);
}

static void pbt_end(void *state, uint64_t trial,
                    UNUSED enum trial_outcome outcome)
{
    struct pbt *pbt = state;

    remove_member(pbt, trial);
    settle(pbt);
}

/* How many clones replace those that give way: no more than may come. */
static uint64_t clones_of(uint64_t losers, uint64_t trials, uint64_t used)
{
    if (trials == 0 || trials - used > losers)
        return losers;
    return trials - used;
}

static int pbt_plan(const struct schedule_options *options, uint64_t trials,
                    struct schedule_plan *plan, struct err *err)
{
    struct schedule_rung rung = {.trials = options->population};

    if (check_options(options, err) < 0)
        return -1;
    if (trials > 0 && trials < rung.trials)
        rung.trials = trials;
    for (; rung.rung < generation_count(options); rung.rung++) {
        if (rung.rung > 0) {
            uint64_t losers = losers_of(options, rung.trials);
            uint64_t clones = clones_of(losers, trials, plan->trials);

            rung.trials = rung.trials - losers + clones;
            plan->trials += clones;
        }
        rung.resource = generation_end(options, rung.rung);
        if (schedule_plan_add(plan, &rung, err) < 0)
            return -1;
    }
    return 0;
}

const struct scheduler_method scheduler_method_pbt = {
    .name = "pbt",
    .create = pbt_create,
    .destroy = pbt_destroy,
    .pauses = pbt_pauses,
    .next = pbt_next,
    .room = pbt_room,
    .assign = pbt_assign,
    .explore = pbt_explore,
    .awaits = pbt_awaits,
    .observe = pbt_observe,
    .end = pbt_end,
    .plan = pbt_plan,
};
