/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/schedules/brackets.h"
#include "strategies/schedules/plan_add.h"
#include "strategies/schedules/scheduler_impl.h"

/*
 * Asynchronous successive halving (Li et al., "A System for Massively Parallel
 * Hyperparameter Tuning", MLSys 2020, algorithm 2).
 *
 * Promotion: rungs are looked through from the top; the best trial that waits
 * at one goes on if it is among the best floor(n / eta) of the n results there
 * at this time. If none is, a new trial begins. When no new ones will come and
 * nothing runs any more, nobody is left to wait for: if none has come to max
 * yet, the best that waits at the highest rung goes on, one at a time; then
 * all that still wait are stopped.
 *
 * Stopping: a trial is given max at once. At each rung it is stopped unless it
 * is among the best floor(n / eta) of the n results so far, its own included,
 * or these are fewer than eta.
 *
 * With several brackets, bracket b begins at rung b, and new trials are dealt
 * out so that at all times each bracket has its share of what Hyperband would
 * give it. Brackets have nothing to do with each other but for that.
 */

static size_t bracket_count(const struct schedule_options *options)
{
    return options->brackets > 0 ? (size_t)options->brackets : 1;
}

static void *create(const struct schedule_options *options, struct space *space,
                    struct err *err)
{
    struct brackets *brackets = mem_alloc(sizeof(*brackets));

    (void)space;
    if (brackets_init(brackets, options, err) != 0) {
        free(brackets);
        return NULL;
    }
    for (size_t i = 0; i < bracket_count(options); i++)
        brackets_add(brackets, i);
    return brackets;
}

static void destroy(void *state)
{
    if (state == NULL)
        return;
    brackets_clear(state);
    free(state);
}

static bool pauses(const void *state)
{
    const struct brackets *brackets = state;

    return brackets->options.type == SCHEDULE_PROMOTION;
}

/* The best trial of a rung that the rule lets go on, from the top; or NULL. */
static const struct climber *find_leader(const struct brackets *brackets)
{
    for (size_t level = brackets->ladder.count - 1; level-- > 0;)
        for (size_t i = 0; i < brackets->count && i <= level; i++) {
            const struct climber *leader =
                brackets_leader(brackets, i, level - i);

            if (leader != NULL)
                return leader;
        }
    return NULL;
}

/* The bracket that is most behind its share of new trials; entered[count]. */
static size_t find_behind(const struct ladder *ladder, size_t count,
                          const uint64_t *entered)
{
    double least = 0.0;
    size_t behind = 0;

    for (size_t i = 0; i < count; i++) {
        double share =
            (double)(entered[i] + 1) / (double)ladder_trials(ladder, i);

        if (i == 0 || share < least) {
            least = share;
            behind = i;
        }
    }
    return behind;
}

static size_t choose_bracket(const struct brackets *brackets)
{
    uint64_t entered[LADDER_MAX] = {0};

    for (size_t i = 0; i < brackets->count; i++)
        entered[i] = brackets->all[i].entered;
    return find_behind(&brackets->ladder, brackets->count, entered);
}

/* The trial to go on for want of any at max: the highest, then the first
 * bracket's; or NULL. */
static const struct climber *find_highest(const struct brackets *brackets)
{
    const struct climber *highest = NULL;
    uint64_t resource = 0;

    for (size_t i = 0; i < brackets->count; i++) {
        const struct climber *best = brackets_highest(brackets, i);

        if (brackets->all[i].finished > 0)
            return NULL;
        if (best != NULL &&
            brackets_resource(brackets, i, best->rung) > resource) {
            highest = best;
            resource = brackets_resource(brackets, i, best->rung);
        }
    }
    return highest;
}

static void next_at_end(const struct brackets *brackets,
                        struct assignment *next)
{
    const struct climber *climber = find_highest(brackets);

    for (size_t i = 0; i < brackets->count; i++)
        if (brackets->all[i].running > 0)
            return;
    if (climber != NULL) {
        brackets_next_promote(brackets, climber, next);
        return;
    }
    for (size_t i = 0; i < brackets->count && climber == NULL; i++)
        climber = brackets_waiting(brackets, i);
    if (climber != NULL)
        brackets_next_stop(brackets, climber, next);
}

static void next(const void *state, bool is_closed, struct assignment *next)
{
    const struct brackets *brackets = state;
    const struct climber *leader = find_leader(brackets);
    size_t bracket;

    if (leader != NULL) {
        brackets_next_promote(brackets, leader, next);
    } else if (is_closed) {
        next_at_end(brackets, next);
    } else {
        bracket = choose_bracket(brackets);
        *next = (struct assignment){
            .kind = NEXT_NEW,
            .resource = pauses(state) ? brackets_resource(brackets, bracket, 0)
                                      : brackets->options.max,
            .bracket = bracket,
        };
    }
}

static void assign(void *state, uint64_t number,
                   const struct assignment *assignment)
{
    struct brackets *brackets = state;

    if (assignment->kind == NEXT_NEW) {
        if (assignment->bracket < brackets->count) /* a record may be wrong */
            brackets_enter(brackets, number, (size_t)assignment->bracket);
    } else if (assignment->kind == NEXT_PROMOTE) {
        brackets_promote(brackets, number);
    } else if (assignment->kind == NEXT_STOP) {
        brackets_stop(brackets, number);
    }
}

static uint64_t awaits(const void *state, uint64_t trial)
{
    return brackets_awaits(state, trial);
}

static void observe(void *state, const struct observation *observation,
                    struct verdict *verdict)
{
    struct brackets *brackets = state;
    const struct climber *climber = brackets_observe(brackets, observation);
    const struct bracket_rung *rung;

    if (climber == NULL)
        return;
    verdict->rung = (int64_t)climber->rung;
    brackets_describe(brackets, climber, verdict->reason,
                      sizeof(verdict->reason));
    if (climber->state == CLIMBER_OVER)
        return;
    if (pauses(state)) {
        verdict->decision = DECIDE_PAUSE;
        return;
    }
    rung = &brackets->all[climber->bracket].rungs[climber->rung];
    if (rung->results.count < brackets->ladder.eta ||
        brackets_leads(brackets, climber)) {
        brackets_promote(brackets, climber->trial);
    } else {
        verdict->decision = DECIDE_STOP;
        brackets_stop(brackets, climber->trial);
    }
}

static void end(void *state, uint64_t trial, enum trial_outcome outcome)
{
    brackets_end(state, trial, outcome);
}

/* How many of n trials come to the next rung. The first ones of a rung are not
 * stopped, for want of others. */
static uint64_t trials_above(const struct schedule_options *options, uint64_t n)
{
    uint64_t best = n / options->eta;

    if (options->type == SCHEDULE_PROMOTION)
        return best;
    return n < best + options->eta - 1 ? n : best + options->eta - 1;
}

/* Deals trials out to brackets as choose_bracket() does: to entered[count]. */
static void deal(const struct ladder *ladder, size_t count, uint64_t trials,
                 uint64_t *entered)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i++)
        sum += (double)ladder_trials(ladder, i);
    for (size_t i = 0; i < count; i++) {
        double share = (double)ladder_trials(ladder, i) / sum;
        double sure = floor(share * (double)trials) - 1.0;

        entered[i] = sure > 0.0 ? (uint64_t)sure : 0;
    }
    for (size_t i = 0; i < count; i++)
        trials -= entered[i];
    for (; trials > 0; trials--)
        entered[find_behind(ladder, count, entered)]++;
}

/* How many come to each rung: reach[brackets][level], given those that begin.
 * With promotion, one has to come to max at the end: where none would, the one
 * that came highest. */
static void let_climb(const struct schedule_options *options,
                      const struct ladder *ladder, size_t brackets,
                      uint64_t reach[][LADDER_MAX])
{
    size_t highest = 0, bracket = 0;

    for (size_t i = 0; i < brackets; i++)
        for (size_t level = i; level < ladder->count; level++) {
            if (level > i)
                reach[i][level] = trials_above(options, reach[i][level - 1]);
            if (reach[i][level] > 0 && level > highest) {
                highest = level;
                bracket = i;
            }
        }
    for (size_t level = highest + 1; level < ladder->count; level++)
        reach[bracket][level] = 1;
}

static int plan(const struct schedule_options *options, uint64_t trials,
                struct schedule_plan *plan, struct err *err)
{
    size_t brackets = bracket_count(options);
    uint64_t entered[LADDER_MAX];
    uint64_t reach[LADDER_MAX][LADDER_MAX] = {{0}};
    struct ladder ladder;

    if (ladder_init(&ladder, options, err) != 0)
        return -1;
    if (trials > 0)
        deal(&ladder, brackets, trials, entered);
    for (size_t i = 0; i < brackets; i++)
        reach[i][i] = trials > 0 ? entered[i] : ladder_trials(&ladder, i);
    let_climb(options, &ladder, brackets, reach);
    for (size_t i = 0; i < brackets; i++)
        for (size_t level = i; level < ladder.count; level++) {
            struct schedule_rung rung = {.bracket = i,
                                         .rung = level - i,
                                         .trials = reach[i][level],
                                         .resource = ladder.resources[level]};

            if (schedule_plan_add(plan, &rung, err) != 0)
                return -1;
        }
    if (options->type == SCHEDULE_STOPPING) /* nobody starts again */
        plan->total_restarted = plan->total_resource;
    return 0;
}

const struct scheduler_method scheduler_method_asha = {
    .name = "asha",
    .create = create,
    .destroy = destroy,
    .pauses = pauses,
    .next = next,
    .assign = assign,
    .awaits = awaits,
    .observe = observe,
    .end = end,
    .plan = plan,
    .plan_is_no_bound = true,
};
