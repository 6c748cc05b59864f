/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/schedules/brackets.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tests/unit/strategies/schedules/schedules.h"

/*
 * Schedulers with brackets on random walks: any number of slots, results in any
 * order, ties, NaN, failures, cancellations, and an end at any time. What they
 * want is checked against a plain account of what happened.
 */

enum { TRIALS_MAX = 150, CALLS_MAX = 4000, SEEDS = 60 };

enum state { RUNNING, PAUSED, OVER };

/* What is known of a trial, without asking the scheduler. */
struct account {
    enum state state;
    size_t group; /* of trials that are compared with each other */
    uint64_t resource;
    double values[LADDER_MAX]; /* [count], by level; NaN: none, or a failure */
    bool has[LADDER_MAX];
    bool had_number; /* at its last observation */
    bool left;       /* failed, or was cancelled */
};

struct call {
    enum step_kind kind;
    uint64_t trial;
    double value;
    enum trial_outcome outcome;
    bool is_closed;
    struct assignment next; /* what came before it */
};

struct walk {
    const struct schedule_options *options;
    struct ladder ladder;
    struct scheduler *scheduler;
    struct rng rng;
    struct account trials[TRIALS_MAX + 1]; /* by number */
    uint64_t count, running, slots, wanted;
    size_t group, group_size, group_bracket;   /* the last one, of hyperband */
    bool is_hyperband, is_closed, is_finished; /* a number at max */
    uint64_t nan_count;                        /* results without a number */
    double failing, cancelling;
    struct call calls[CALLS_MAX];
    size_t call_count;
};

static const struct schedule_options cases[] = {
    {.method = "asha", .min = 1, .max = 9, .eta = 3},
    {.method = "asha", .min = 1, .max = 81, .eta = 3, .brackets = 1},
    {.method = "asha", .min = 2, .max = 30, .eta = 2, .brackets = 3},
    {.method = "asha", .min = 1, .max = 9, .eta = 3, .brackets = 3},
    {.method = "asha", .min = 1, .max = 2, .eta = 4},
    {.method = "asha", .min = 1, .max = 9, .eta = 3, .type = SCHEDULE_STOPPING},
    {.method = "asha",
     .min = 2,
     .max = 30,
     .eta = 2,
     .brackets = 3,
     .type = SCHEDULE_STOPPING},
    {.method = "hyperband", .min = 1, .max = 9, .eta = 3},
    {.method = "hyperband", .min = 1, .max = 27, .eta = 3, .brackets = 1},
    {.method = "hyperband", .min = 2, .max = 30, .eta = 2},
    {.method = "hyperband", .min = 1, .max = 2, .eta = 4},
};

static size_t level_of(const struct walk *walk, uint64_t resource)
{
    for (size_t i = 0; i < walk->ladder.count; i++)
        if (walk->ladder.resources[i] == resource)
            return i;
    fail_msg("%d is no rung", (int)resource);
    return 0;
}

static bool is_better(double a, double b)
{
    return !isnan(a) && (isnan(b) || a < b);
}

/* How many of the trial's group have a result at a level (or failed on their
 * way), and how many are strictly better there. */
static void compare(const struct walk *walk, const struct account *account,
                    size_t level, size_t *count, size_t *better)
{
    *count = *better = 0;
    for (uint64_t i = 1; i <= walk->count; i++) {
        const struct account *other = &walk->trials[i];

        if (other->group != account->group || !other->has[level])
            continue;
        (*count)++;
        *better += is_better(other->values[level], account->values[level]);
    }
}

/* Whether any of the group is on its way to that level, or not yet there. */
static bool is_complete(const struct walk *walk, size_t group, size_t level)
{
    for (uint64_t i = 1; i <= walk->count; i++) {
        const struct account *other = &walk->trials[i];

        if (other->group == group && other->state == RUNNING &&
            other->resource <= walk->ladder.resources[level])
            return false;
    }
    return true;
}

static uint64_t count_promoted(const struct walk *walk, size_t group,
                               size_t level)
{
    uint64_t promoted = 0;

    for (uint64_t i = 1; i <= walk->count; i++)
        promoted += walk->trials[i].group == group &&
                    walk->trials[i].has[level] &&
                    walk->trials[i].resource > walk->ladder.resources[level];
    return promoted;
}

/* Whether somebody above a level has, or may yet have, a number. */
static bool has_hope_above(const struct walk *walk, size_t group, size_t level)
{
    for (uint64_t i = 1; i <= walk->count; i++) {
        const struct account *other = &walk->trials[i];

        if (other->group == group &&
            other->resource > walk->ladder.resources[level] &&
            (other->state == RUNNING ||
             (other->state == PAUSED && other->had_number) ||
             !isnan(other->values[walk->ladder.count - 1])))
            return true;
    }
    return false;
}

static void check_promotion(const struct walk *walk,
                            const struct assignment *next)
{
    const struct account *account = &walk->trials[next->trial];
    size_t level, count, better;
    uint64_t best;

    assert_in_range(next->trial, 1, walk->count);
    assert_int_equal(account->state, PAUSED);
    assert_true(account->had_number);
    level = level_of(walk, account->resource);
    assert_int_equal(next->resource, walk->ladder.resources[level + 1]);
    compare(walk, account, level, &count, &better);
    best = count / walk->options->eta;
    if (walk->is_hyperband) {
        assert_true(is_complete(walk, account->group, level));
        assert_true(walk->is_closed || account->group < walk->group ||
                    walk->group_size ==
                        ladder_trials(&walk->ladder, walk->group_bracket));
        assert_true(count_promoted(walk, account->group, level) < best ||
                    !has_hope_above(walk, account->group, level));
    } else {
        assert_true(better < best || (walk->is_closed && walk->running == 0 &&
                                      !walk->is_finished));
    }
    assert_true(strlen(next->reason) > 0);
}

static void assert_same(const struct assignment *a, const struct assignment *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->trial, b->trial);
    assert_int_equal(a->resource, b->resource);
    assert_int_equal(a->bracket, b->bracket);
    assert_int_equal(a->rung, b->rung);
    assert_string_equal(a->reason, b->reason);
}

/* What it wants, asked twice; with is_closed in between it is asked for. */
static void ask_next(const struct walk *walk, struct assignment *next)
{
    struct assignment again;

    scheduler_next(walk->scheduler, walk->is_closed, next);
    scheduler_next(walk->scheduler, !walk->is_closed, &again);
    scheduler_next(walk->scheduler, walk->is_closed, &again);
    assert_same(next, &again);
    if (next->kind == NEXT_PROMOTE)
        check_promotion(walk, next);
    else if (next->kind == NEXT_STOP)
        assert_int_equal(walk->trials[next->trial].state, PAUSED);
    else if (next->kind == NEXT_NEW)
        assert_false(walk->is_closed);
    else
        assert_true(walk->is_closed);
}

static struct call *add_call(struct walk *walk, enum step_kind kind,
                             uint64_t trial)
{
    struct call *call = &walk->calls[walk->call_count++];

    assert_true(walk->call_count < CALLS_MAX); /* it comes to an end */
    *call = (struct call){
        .kind = kind, .trial = trial, .is_closed = walk->is_closed};
    ask_next(walk, &call->next);
    return call;
}

static void enter(struct walk *walk, const struct assignment *next)
{
    struct account *account = &walk->trials[++walk->count];

    if (walk->is_hyperband &&
        (walk->count == 1 || next->bracket != walk->group_bracket ||
         walk->group_size == ladder_trials(&walk->ladder, next->bracket))) {
        walk->group++;
        walk->group_size = 0;
    }
    walk->group_bracket = next->bracket;
    walk->group_size++;
    *account = (struct account){
        .resource = next->resource,
        .group = walk->is_hyperband ? walk->group : next->bracket,
    };
    for (size_t i = 0; i < LADDER_MAX; i++)
        account->values[i] = (double)NAN;
    walk->running++;
}

/* Does what the scheduler wants. False: it wants nothing. */
static bool follow(struct walk *walk)
{
    struct assignment next;
    struct call *call;

    ask_next(walk, &next);
    if (next.kind == NEXT_NONE)
        return false;
    if (next.kind == NEXT_NEW) {
        call = add_call(walk, STEP_NEW, walk->count + 1);
        enter(walk, &next);
        walk->is_closed = walk->count == walk->wanted;
    } else if (next.kind == NEXT_PROMOTE) {
        call = add_call(walk, STEP_PROMOTE, next.trial);
        walk->trials[next.trial].state = RUNNING;
        walk->trials[next.trial].resource = next.resource;
        walk->running++;
    } else {
        call = add_call(walk, STEP_STOP, next.trial);
        walk->trials[next.trial].state = OVER;
    }
    scheduler_assign(walk->scheduler, call->trial, &next);
    return true;
}

static void leave(struct walk *walk, uint64_t trial, enum trial_outcome outcome)
{
    struct account *account = &walk->trials[trial];
    uint64_t awaits = scheduler_awaits(walk->scheduler, trial);
    struct call *call = add_call(walk, STEP_END, trial);

    call->outcome = outcome;
    if (outcome == OUTCOME_FAILED && awaits < UINT64_MAX)
        account->has[level_of(walk, awaits)] = true;
    walk->running -= account->state == RUNNING;
    account->state = OVER;
    account->left = true;
    scheduler_end(walk->scheduler, trial, outcome);
}

/* Few values, so that there are ties. */
static double draw_value(struct rng *rng)
{
    return rng_below(rng, 30) == 0 ? (double)NAN : (double)rng_below(rng, 40);
}

static void check_stopping(const struct walk *walk,
                           const struct account *account, size_t level,
                           enum decision decision)
{
    size_t count, better;

    compare(walk, account, level, &count, &better);
    if (level + 1 == walk->ladder.count || count < walk->options->eta)
        assert_int_equal(decision, DECIDE_CONTINUE);
    else if (better >= count / walk->options->eta || !account->had_number)
        assert_int_equal(decision, DECIDE_STOP);
}

static void observe(struct walk *walk, uint64_t trial)
{
    struct account *account = &walk->trials[trial];
    uint64_t awaits = scheduler_awaits(walk->scheduler, trial);
    struct call *call = add_call(walk, STEP_RESULT, trial);
    size_t level = level_of(walk, awaits);
    bool is_last = level + 1 == walk->ladder.count;
    struct verdict verdict;

    call->value = draw_value(&walk->rng);
    report(walk->scheduler, trial, call->value, &verdict);
    account->had_number = !isnan(call->value);
    account->values[level] = call->value;
    walk->nan_count += !account->had_number;
    account->has[level] = true;
    walk->is_finished |= is_last && account->had_number;
    assert_true(strlen(verdict.reason) > 0);
    if (scheduler_pauses(walk->scheduler)) {
        assert_int_equal(awaits, account->resource);
        assert_int_equal(verdict.decision,
                         is_last ? DECIDE_CONTINUE : DECIDE_PAUSE);
        account->state = is_last ? OVER : PAUSED;
    } else {
        check_stopping(walk, account, level, verdict.decision);
        account->state =
            is_last || verdict.decision == DECIDE_STOP ? OVER : RUNNING;
    }
    walk->running -= account->state != RUNNING;
    if (account->state == OVER)
        scheduler_end(walk->scheduler, trial,
                      is_last ? OUTCOME_COMPLETE : OUTCOME_STOPPED);
}

/* A trial in a state, any one; 0: there is none. */
static uint64_t draw_trial(struct walk *walk, enum state state)
{
    uint64_t chosen = 0, seen = 0;

    for (uint64_t i = 1; i <= walk->count; i++)
        if (walk->trials[i].state == state &&
            rng_below(&walk->rng, ++seen) == 0)
            chosen = i;
    return chosen;
}

/* Something that the scheduler has no say in. */
static void happen(struct walk *walk)
{
    bool cancels = rng_uniform(&walk->rng) < walk->cancelling;
    uint64_t trial = draw_trial(
        walk, cancels && rng_below(&walk->rng, 2) == 0 ? PAUSED : RUNNING);

    if (trial == 0)
        return;
    if (cancels)
        leave(walk, trial, OUTCOME_CANCELLED);
    else if (rng_uniform(&walk->rng) < walk->failing)
        leave(walk, trial, OUTCOME_FAILED);
    else
        observe(walk, trial);
}

/* The same calls on a new scheduler: the same answers. */
static void check_again(const struct walk *walk)
{
    struct scheduler *scheduler = make_scheduler(walk->options);

    for (size_t i = 0; i < walk->call_count; i++) {
        const struct call *call = &walk->calls[i];
        struct assignment next;
        struct verdict verdict;

        scheduler_next(scheduler, call->is_closed, &next);
        assert_same(&next, &call->next);
        if (call->kind == STEP_END)
            scheduler_end(scheduler, call->trial, call->outcome);
        else if (call->kind == STEP_RESULT)
            report(scheduler, call->trial, call->value, &verdict);
        else
            scheduler_assign(scheduler, call->trial, &next);
    }
    scheduler_destroy(scheduler);
}

static bool has_come_to_max(const struct walk *walk)
{
    for (uint64_t i = 1; i <= walk->count; i++)
        if (walk->trials[i].has[walk->ladder.count - 1])
            return true;
    return walk->nan_count == walk->count;
}

static void check_end(const struct walk *walk)
{
    bool pauses = scheduler_pauses(walk->scheduler);

    for (uint64_t i = 1; i <= walk->count; i++) {
        const struct account *account = &walk->trials[i];

        assert_int_equal(account->state, OVER);
        assert_int_equal(scheduler_awaits(walk->scheduler, i), UINT64_MAX);
        /* else somebody who could have gone on did not */
        if (pauses && !walk->is_finished)
            assert_true(account->left || !account->had_number);
    }
    if (walk->failing <= 0.0 && walk->cancelling <= 0.0)
        assert_true(has_come_to_max(walk));
}

static void run_walk(const struct schedule_options *options, uint64_t seed)
{
    static const double rates[] = {0.0, 0.1, 0.6, 1.0};
    struct walk *walk = mem_zero(sizeof(*walk));

    walk->options = options;
    walk->is_hyperband = strcmp(options->method, "hyperband") == 0;
    walk->scheduler = make_scheduler(options);
    rng_init(&walk->rng, seed, 0, 0);
    assert_int_equal(ladder_init(&walk->ladder, options, NULL), 0);
    walk->wanted = 1 + rng_below(&walk->rng, TRIALS_MAX);
    walk->slots = 1 + rng_below(&walk->rng, 30);
    walk->failing = rates[rng_below(&walk->rng, 4)];
    walk->cancelling = rng_below(&walk->rng, 2) == 0 ? 0.0 : 0.1;
    for (;;) {
        bool fills = walk->running < walk->slots && rng_below(&walk->rng, 4);

        if (fills && follow(walk))
            continue;
        if (walk->running > 0)
            happen(walk);
        else if (!follow(walk))
            break;
    }
    assert_true(walk->is_closed);
    check_end(walk);
    check_again(walk);
    scheduler_destroy(walk->scheduler);
    free(walk);
}

static void test_brackets__random_walks_keep_the_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            run_walk(&cases[i], seed);
}

static void test_brackets__what_a_record_cannot_hold_is_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scheduler *scheduler = make_scheduler(&cases[i]);
        struct assignment before, after;

        scheduler_next(scheduler, false, &before);
        scheduler_assign(
            scheduler, 1,
            &(struct assignment){.kind = NEXT_NEW, .bracket = UINT64_MAX});
        scheduler_assign(scheduler, 1,
                         &(struct assignment){.kind = NEXT_PROMOTE});
        scheduler_assign(scheduler, 2,
                         &(struct assignment){.kind = NEXT_STOP, .trial = 2});
        scheduler_next(scheduler, false, &after);
        assert_same(&before, &after);
        assert_int_equal(scheduler_awaits(scheduler, 1), UINT64_MAX);
        scheduler_destroy(scheduler);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brackets__random_walks_keep_the_rules),
        cmocka_unit_test(test_brackets__what_a_record_cannot_hold_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
