/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/schedules/brackets.h"
#include "strategies/schedules/plan_add.h"
#include "strategies/schedules/scheduler_impl.h"

/*
 * Hyperband (Li et al., "Hyperband: A Novel Bandit-Based Approach to
 * Hyperparameter Optimization", JMLR 2018, algorithm 1): brackets of successive
 * halving, from many trials that begin with little to few that begin with all;
 * then anew. At a rung to which all of a bracket's trials have come, or failed
 * on their way, the best floor(n / eta) of the n go on.
 *
 * While a bracket waits for its last ones, the next one's trials begin: each
 * bracket decides as in the paper, and no slot is idle. Those that do not go on
 * are stopped when the bracket is over, not before: where all above them fail,
 * the best of them goes on after all, so that each bracket gets one to max.
 * A bracket for which no more trials come has those that it has.
 */

struct hyperband {
    struct brackets brackets; /* in the order begun */
    size_t round;             /* how many, until the first kind comes again */
    size_t live;              /* all before this one are over */
};

static size_t round_size(const struct schedule_options *options,
                         const struct ladder *ladder)
{
    return options->brackets > 0 ? (size_t)options->brackets : ladder->count;
}

static void *create(const struct schedule_options *options, struct space *space,
                    struct err *err)
{
    struct hyperband *hyperband = mem_zero(sizeof(*hyperband));

    (void)space;
    if (brackets_init(&hyperband->brackets, options, err) != 0) {
        free(hyperband);
        return NULL;
    }
    hyperband->round = round_size(options, &hyperband->brackets.ladder);
    return hyperband;
}

static void destroy(void *state)
{
    struct hyperband *hyperband = state;

    if (hyperband == NULL)
        return;
    brackets_clear(&hyperband->brackets);
    free(hyperband);
}

static bool pauses(const void *state)
{
    (void)state;
    return true;
}

/* Whether a bracket has all the trials it is to have. */
static bool is_full(const struct brackets *brackets, size_t i)
{
    const struct bracket *bracket = &brackets->all[i];

    return bracket->entered >= ladder_trials(&brackets->ladder, bracket->first);
}

/* Who goes on in a bracket that is full; or NULL. */
static const struct climber *find_winner(const struct brackets *brackets,
                                         size_t i)
{
    const struct bracket *bracket = &brackets->all[i];

    for (size_t rung = 0; rung < bracket->rung_count; rung++) {
        const struct climber *leader;

        if (bracket->rungs[rung].running > 0)
            return NULL;
        leader = brackets_leader(brackets, i, rung);
        if (leader != NULL)
            return leader;
    }
    return bracket->finished == 0 ? brackets_highest(brackets, i) : NULL;
}

/* The bracket that a new trial joins, by where it begins on the ladder. */
static size_t choose_bracket(const struct hyperband *hyperband)
{
    const struct brackets *brackets = &hyperband->brackets;
    size_t last = brackets->count - 1;

    if (brackets->count == 0)
        return 0;
    return is_full(brackets, last)
               ? (brackets->all[last].first + 1) % hyperband->round
               : brackets->all[last].first;
}

static void next(const void *state, bool is_closed, struct assignment *next)
{
    const struct hyperband *hyperband = state;
    const struct brackets *brackets = &hyperband->brackets;
    const struct climber *loser = NULL;

    for (size_t i = hyperband->live; i < brackets->count; i++) {
        const struct climber *winner;

        if (!is_closed && !is_full(brackets, i))
            continue;
        winner = find_winner(brackets, i);
        if (winner != NULL) {
            brackets_next_promote(brackets, winner, next);
            return;
        }
        if (loser == NULL && brackets->all[i].running == 0)
            loser = brackets_waiting(brackets, i);
    }
    if (loser != NULL) {
        brackets_next_stop(brackets, loser, next);
    } else if (!is_closed) {
        next->kind = NEXT_NEW;
        next->bracket = choose_bracket(hyperband);
        next->resource = brackets->ladder.resources[next->bracket];
    }
}

/* Leaves brackets that are over behind. */
static void advance(struct hyperband *hyperband)
{
    const struct brackets *brackets = &hyperband->brackets;
    size_t i = hyperband->live;

    while (i < brackets->count && is_full(brackets, i) &&
           brackets->all[i].running == 0 && brackets->all[i].waiting == 0)
        i++;
    hyperband->live = i;
}

static void assign(void *state, uint64_t number,
                   const struct assignment *assignment)
{
    struct hyperband *hyperband = state;
    struct brackets *brackets = &hyperband->brackets;
    size_t first = (size_t)assignment->bracket;

    if (assignment->kind == NEXT_NEW) {
        if (first >= hyperband->round) /* a record may be wrong */
            return;
        if (brackets->count == 0 || is_full(brackets, brackets->count - 1) ||
            brackets->all[brackets->count - 1].first != first)
            brackets_add(brackets, first);
        brackets_enter(brackets, number, brackets->count - 1);
    } else if (assignment->kind == NEXT_PROMOTE) {
        brackets_promote(brackets, number);
    } else if (assignment->kind == NEXT_STOP) {
        brackets_stop(brackets, number);
    }
    advance(hyperband);
}

static uint64_t awaits(const void *state, uint64_t trial)
{
    const struct hyperband *hyperband = state;

    return brackets_awaits(&hyperband->brackets, trial);
}

static void observe(void *state, const struct observation *observation,
                    struct verdict *verdict)
{
    struct hyperband *hyperband = state;
    struct brackets *brackets = &hyperband->brackets;
    const struct climber *climber = brackets_observe(brackets, observation);

    if (climber == NULL)
        return;
    verdict->rung = (int64_t)climber->rung;
    if (climber->state == CLIMBER_WAITING)
        verdict->decision = DECIDE_PAUSE;
    brackets_describe(brackets, climber, verdict->reason,
                      sizeof(verdict->reason));
    advance(hyperband);
}

static void end(void *state, uint64_t trial, enum trial_outcome outcome)
{
    struct hyperband *hyperband = state;

    brackets_end(&hyperband->brackets, trial, outcome);
    advance(hyperband);
}

/* How many of a bracket's trials come up so many rungs: one at least. */
static uint64_t trials_above(uint64_t trials, uint64_t eta, size_t rung)
{
    uint64_t above = trials;

    for (size_t i = 0; i < rung; i++)
        above /= eta;
    return above > 0 || trials == 0 ? above : 1;
}

static int plan_bracket(const struct ladder *ladder, size_t bracket,
                        uint64_t full, uint64_t rest,
                        struct schedule_plan *plan, struct err *err)
{
    uint64_t size = ladder_trials(ladder, bracket);

    for (size_t i = 0; bracket + i < ladder->count; i++) {
        struct schedule_rung rung = {
            .bracket = bracket,
            .rung = i,
            .trials = full * trials_above(size, ladder->eta, i) +
                      trials_above(rest, ladder->eta, i),
            .resource = ladder->resources[bracket + i],
        };

        if (schedule_plan_add(plan, &rung, err) != 0)
            return -1;
    }
    return 0;
}

static int plan(const struct schedule_options *options, uint64_t trials,
                struct schedule_plan *plan, struct err *err)
{
    struct ladder ladder;
    uint64_t in_round, rounds, rest;
    size_t count;

    if (ladder_init(&ladder, options, err) != 0)
        return -1;
    count = round_size(options, &ladder);
    in_round = ladder_trials(&ladder, 0);
    for (size_t i = 1; i < count; i++)
        in_round += ladder_trials(&ladder, i);
    rounds = trials > 0 ? trials / in_round : 1;
    rest = trials % in_round;
    for (size_t i = 0; i < count; i++) {
        uint64_t size = ladder_trials(&ladder, i);
        uint64_t taken = rest < size ? rest : size;

        rest -= taken;
        if (plan_bracket(&ladder, i, rounds, taken, plan, err) != 0)
            return -1;
    }
    return 0;
}

const struct scheduler_method scheduler_method_hyperband = {
    .name = "hyperband",
    .create = create,
    .destroy = destroy,
    .pauses = pauses,
    .next = next,
    .assign = assign,
    .awaits = awaits,
    .observe = observe,
    .end = end,
    .plan = plan,
};
