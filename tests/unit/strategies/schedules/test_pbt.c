/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/schedules/scheduler.h"
#include "tests/unit/strategies/spaces.h"

static struct schedule_options make_options(uint64_t population, uint64_t max)
{
    return (struct schedule_options){.method = "pbt",
                                     .seed = 1,
                                     .min = 2,
                                     .max = max,
                                     .population = population,
                                     .quantile = 0.25,
                                     .resample = 0.25};
}

static struct scheduler *make(uint64_t population, uint64_t max)
{
    struct schedule_options options = make_options(population, max);
    struct scheduler *scheduler = scheduler_create(&options, NULL, NULL);

    assert_non_null(scheduler);
    assert_true(scheduler_pauses(scheduler));
    return scheduler;
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

/* What comes next, which is then done; number: of a new trial. */
static struct assignment take(struct scheduler *scheduler, bool is_closed,
                              uint64_t number)
{
    bool is_new;
    struct assignment next, again;

    scheduler_next(scheduler, is_closed, &next);
    scheduler_next(scheduler, is_closed, &again);
    assert_same(&next, &again);
    is_new = next.kind == NEXT_NEW || next.kind == NEXT_CLONE;
    if (next.kind != NEXT_NONE)
        scheduler_assign(scheduler, is_new ? number : next.trial, &next);
    return next;
}

static void begin_all(struct scheduler *scheduler, uint64_t population)
{
    for (uint64_t trial = 1; trial <= population; trial++) {
        struct assignment next = take(scheduler, false, trial);

        assert_int_equal(next.kind, NEXT_NEW);
        assert_int_equal(next.resource, 2);
        assert_int_equal(scheduler_awaits(scheduler, trial), 2);
    }
    assert_int_equal(take(scheduler, false, 0).kind, NEXT_NONE);
}

static struct verdict observe(struct scheduler *scheduler, uint64_t trial,
                              double value)
{
    struct observation observation = {.trial = trial, .value = value};
    struct verdict verdict;

    observation.resource = scheduler_awaits(scheduler, trial);
    scheduler_observe(scheduler, &observation, &verdict);
    return verdict;
}

static void pause_all(struct scheduler *scheduler, const double *values,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(observe(scheduler, i + 1, values[i]).decision,
                         DECIDE_PAUSE);
}

struct row {
    enum next_kind kind;
    uint64_t trial, resource, rung;
    const char *reason;
};

/* New trials are numbered from `number` on. */
static void expect(struct scheduler *scheduler, uint64_t number,
                   const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct assignment next = take(scheduler, false, number);

        assert_int_equal(next.kind, rows[i].kind);
        assert_int_equal(next.trial, rows[i].trial);
        assert_int_equal(next.resource, rows[i].resource);
        assert_int_equal(next.rung, rows[i].rung);
        assert_string_equal(next.reason, rows[i].reason);
        number += next.kind == NEXT_CLONE;
    }
    assert_int_equal(take(scheduler, false, 0).kind, NEXT_NONE);
}

static void test_pbt__replaces_the_worst_by_clones_of_the_best(void **state)
{
    static const struct row first[] = {
        {NEXT_STOP, 1, 2, 0, "0.4 at 2 is among the worst 1 of 4"},
        {NEXT_CLONE, 2, 4, 1, "from trial 2, whose 0.1 at 2 is number 1 of 4"},
        {NEXT_PROMOTE, 2, 4, 1, "0.1 at 2 is number 1 of 4"},
        {NEXT_PROMOTE, 4, 4, 1, "0.2 at 2 is number 2 of 4"},
        {NEXT_PROMOTE, 3, 4, 1, "0.3 at 2 is number 3 of 4"},
    };
    static const struct row second[] = {
        {NEXT_STOP, 2, 4, 1, "0.5 at 4 is among the worst 1 of 3"},
        {NEXT_CLONE, 3, 5, 2, "from trial 3, whose 0.01 at 4 is number 1 of 3"},
        {NEXT_CLONE, 3, 5, 2, "from trial 3, whose 0.01 at 4 is number 1 of 3"},
        {NEXT_PROMOTE, 3, 5, 2, "0.01 at 4 is number 1 of 3"},
        {NEXT_PROMOTE, 5, 5, 2, "0.05 at 4 is number 2 of 3"},
    };
    static const uint64_t last[] = {6, 7, 3, 5};
    struct scheduler *scheduler = make(4, 5);
    struct verdict verdict;

    (void)state;
    begin_all(scheduler, 4);
    verdict = observe(scheduler, 1, 0.4);
    assert_int_equal(verdict.decision, DECIDE_PAUSE);
    assert_int_equal(verdict.rung, 0);
    assert_string_equal(verdict.reason,
                        "0.4 at 2, the end of generation 1 of 3");
    observe(scheduler, 2, 0.1);
    observe(scheduler, 3, 0.3);
    assert_int_equal(take(scheduler, false, 0).kind, NEXT_NONE);
    observe(scheduler, 4, 0.2);
    expect(scheduler, 5, first, ARRAY_LEN(first));

    observe(scheduler, 5, 0.05);
    observe(scheduler, 2, 0.5);
    observe(scheduler, 3, 0.01);
    assert_int_equal(take(scheduler, false, 0).kind, NEXT_NONE);
    scheduler_end(scheduler, 4, OUTCOME_FAILED); /* its place is filled, too */
    expect(scheduler, 6, second, ARRAY_LEN(second));

    for (size_t i = 0; i < ARRAY_LEN(last); i++) {
        assert_int_equal(scheduler_awaits(scheduler, last[i]), 5);
        verdict = observe(scheduler, last[i], 0.1);
        assert_int_equal(verdict.decision, DECIDE_CONTINUE);
        assert_int_equal(verdict.rung, 2);
        scheduler_end(scheduler, last[i], OUTCOME_COMPLETE);
        assert_int_equal(take(scheduler, false, 0).kind, NEXT_NONE);
    }
    scheduler_destroy(scheduler);
}

/* Ties in the order of numbers; NaN is worst, also of those that are cloned. */
static void test_pbt__ranks_nan_last_and_equals_by_number(void **state)
{
    static const double values[] = {
        1, (double)NAN,      1,           -(double)INFINITY,
        1, (double)INFINITY, (double)NAN, 1};
    static const uint64_t stopped[] = {7, 2};
    struct scheduler *scheduler = make(8, 4);

    (void)state;
    begin_all(scheduler, 8);
    pause_all(scheduler, values, ARRAY_LEN(values));
    for (size_t i = 0; i < ARRAY_LEN(stopped); i++) {
        struct assignment next = take(scheduler, false, 0);

        assert_int_equal(next.kind, NEXT_STOP);
        assert_int_equal(next.trial, stopped[i]);
    }
    for (uint64_t number = 9; number < 11; number++) {
        struct assignment next = take(scheduler, false, number);

        assert_int_equal(next.kind, NEXT_CLONE);
        assert_true(next.trial == 4 || next.trial == 1);
    }
    assert_int_equal(take(scheduler, false, 0).kind, NEXT_PROMOTE);
    scheduler_destroy(scheduler);
}

/* Parents are drawn evenly, by seed, generation and place. */
static void test_pbt__draws_parents_from_the_best(void **state)
{
    enum { POPULATION = 400, BEST = 100 };
    struct scheduler *scheduler = make(POPULATION, 4);
    uint64_t counts[BEST + 1] = {0}, most = 0, stopped = 0;
    struct assignment next;

    (void)state;
    begin_all(scheduler, POPULATION);
    for (uint64_t trial = 1; trial <= POPULATION; trial++)
        observe(scheduler, trial, (double)trial);
    while ((next = take(scheduler, false, 0)).kind == NEXT_STOP)
        assert_int_equal(next.trial, POPULATION - stopped++);
    assert_int_equal(stopped, BEST);
    for (uint64_t i = 1; i <= BEST; i++) {
        assert_int_equal(next.kind, NEXT_CLONE);
        assert_in_range(next.trial, 1, BEST);
        counts[next.trial]++;
        next = take(scheduler, false, POPULATION + i);
    }
    assert_int_equal(next.kind, NEXT_PROMOTE);
    for (uint64_t i = 1; i <= BEST; i++)
        most = counts[i] > most ? counts[i] : most;
    assert_in_range(most, 2, 7);
    scheduler_destroy(scheduler);
}

static void test_pbt__shrinks_where_no_new_trials_may_come(void **state)
{
    static const double values[] = {0.4, 0.1, 0.3, 0.2};
    struct scheduler *scheduler = make(4, 5);

    (void)state;
    begin_all(scheduler, 4);
    pause_all(scheduler, values, ARRAY_LEN(values));
    assert_int_equal(take(scheduler, true, 0).kind, NEXT_STOP);
    assert_int_equal(take(scheduler, true, 0).kind, NEXT_PROMOTE);
    /* more may come after all: too late, parents have gone on */
    assert_int_equal(take(scheduler, false, 0).kind, NEXT_PROMOTE);
    assert_int_equal(take(scheduler, false, 0).kind, NEXT_PROMOTE);
    assert_int_equal(take(scheduler, true, 0).kind, NEXT_NONE);
    scheduler_destroy(scheduler);
}

/* The budget may also be too small for a population. */
static void test_pbt__goes_on_with_those_that_began(void **state)
{
    struct scheduler *scheduler = make(4, 5);
    struct assignment next;

    (void)state;
    take(scheduler, false, 1);
    take(scheduler, false, 2);
    assert_int_equal(take(scheduler, true, 0).kind, NEXT_NONE);
    observe(scheduler, 1, 1);
    observe(scheduler, 2, 2);
    scheduler_next(scheduler, false, &next); /* while more may come */
    assert_int_equal(next.kind, NEXT_NEW);
    next = take(scheduler, true, 0);
    assert_int_equal(next.kind, NEXT_STOP);
    assert_int_equal(next.trial, 2);
    next = take(scheduler, true, 0);
    assert_int_equal(next.kind, NEXT_PROMOTE);
    assert_int_equal(next.trial, 1);
    scheduler_destroy(scheduler);
}

static void test_pbt__is_over_when_nobody_lives(void **state)
{
    struct scheduler *scheduler = make(3, 5);
    struct assignment next;

    (void)state;
    begin_all(scheduler, 3);
    scheduler_end(scheduler, 1, OUTCOME_FAILED);
    scheduler_end(scheduler, 2, OUTCOME_CANCELLED);
    observe(scheduler, 3, 1);
    next = take(scheduler, false, 4); /* the one left makes up for both */
    assert_int_equal(next.kind, NEXT_CLONE);
    assert_int_equal(next.trial, 3);
    scheduler_end(scheduler, 3, OUTCOME_CANCELLED); /* while it rests */
    assert_int_equal(take(scheduler, false, 0).kind, NEXT_NONE);
    assert_int_equal(observe(scheduler, 4, 1).decision, DECIDE_PAUSE);
    scheduler_end(scheduler, 4, OUTCOME_CANCELLED);
    assert_int_equal(take(scheduler, false, 0).kind, NEXT_NONE);
    scheduler_destroy(scheduler);
}

/* With one slot, clones run and rest before the parent goes on. */
static void test_pbt__keeps_generations_apart(void **state)
{
    static const double values[] = {0.4, 0.1};
    struct scheduler *scheduler = make(2, 5);
    struct assignment next;

    (void)state;
    begin_all(scheduler, 2);
    pause_all(scheduler, values, ARRAY_LEN(values));
    assert_int_equal(take(scheduler, false, 0).kind, NEXT_STOP);
    assert_int_equal(take(scheduler, false, 3).kind, NEXT_CLONE);
    assert_int_equal(scheduler_awaits(scheduler, 3), 4);
    assert_int_equal(observe(scheduler, 3, 0.001).decision, DECIDE_PAUSE);
    next = take(scheduler, false, 0);
    assert_int_equal(next.kind, NEXT_PROMOTE);
    assert_int_equal(next.trial, 2);
    assert_int_equal(next.resource, 4);
    assert_int_equal(take(scheduler, false, 0).kind, NEXT_NONE);
    observe(scheduler, 2, 0.5);
    next = take(scheduler, false, 0);
    assert_int_equal(next.kind, NEXT_STOP);
    assert_int_equal(next.trial, 2);
    scheduler_destroy(scheduler);
}

static void test_pbt__plans_generations(void **state)
{
    static const struct {
        uint64_t trials, rungs[3], total, resource, restarted;
    } rows[] = {
        /* 8 to 2, 4 and 5; 2 of each generation are clones */
        {0, {8, 8, 8}, 12, 8 * 5, 8 * (2 + 4 + 5)},
        {100, {8, 8, 8}, 12, 8 * 5, 8 * (2 + 4 + 5)},
        {9, {8, 7, 5}, 9, 8 * 2 + 7 * 2 + 5, 8 * 2 + 7 * 4 + 5 * 5},
        {3, {3, 2, 1}, 3, 3 * 2 + 2 * 2 + 1, 3 * 2 + 2 * 4 + 1 * 5},
    };
    struct schedule_options options = make_options(8, 5);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct schedule_plan plan;

        assert_int_equal(
            schedule_plan_init(&plan, &options, rows[i].trials, NULL), 0);
        assert_int_equal(plan.count, 3);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(plan.rungs[k].trials, rows[i].rungs[k]);
        assert_int_equal(plan.rungs[2].resource, 5);
        assert_int_equal(plan.rungs[2].rung, 2);
        assert_int_equal(plan.trials, rows[i].total);
        assert_int_equal(plan.total_resource, rows[i].resource);
        assert_int_equal(plan.total_restarted, rows[i].restarted);
        schedule_plan_clear(&plan);
    }
}

static void test_pbt__refuses_options_without_sense(void **state)
{
    const struct {
        uint64_t population, max;
        double quantile, resample;
        const char *text;
    } rows[] = {
        {1, 5, 0.25, 0.25, "population must be from 2 to 100000, not 1"},
        {4, 5, 0, 0.25, "quantile must be above 0 and at most 0.5, not 0"},
        {4, 5, 0.6, 0.25, "quantile must be above 0 and at most 0.5, not 0.6"},
        {4, 5, 0.25, (double)NAN, "resample must be from 0 to 1, not nan"},
        {4, 20001, 0.25, 0.25,
         "out of range: min 2 makes 10001 generations up to max 20001, at most "
         "10000 are possible"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct schedule_options options =
            make_options(rows[i].population, rows[i].max);
        struct schedule_plan plan;
        struct err err = {0};

        options.quantile = rows[i].quantile;
        options.resample = rows[i].resample;
        assert_null(scheduler_create(&options, NULL, &err));
        assert_string_equal(err.text, rows[i].text);
        err.text[0] = '\0';
        assert_int_equal(schedule_plan_init(&plan, &options, 0, &err), -1);
        assert_string_equal(err.text, rows[i].text);
    }
}

static void test_pbt__explores_by_seed_and_number(void **state)
{
    struct expr_env *env = expr_env_create(NULL);
    struct space *space = spec_build(&specs[0], env); /* continuous */
    struct schedule_options options = make_options(4, 5);
    struct scheduler *scheduler = scheduler_create(&options, space, NULL);
    struct value parent[4], a[4], b[4], c[4];

    (void)state;
    for (size_t i = 0; i < 4; i++)
        parent[i] = param_from_unit(space_param(space, i), 0.5);
    scheduler_explore(scheduler, 5, parent, a);
    scheduler_explore(scheduler, 6, parent, b);
    scheduler_explore(scheduler, 5, parent, c);
    for (size_t i = 0; i < 4; i++)
        assert_true(value_equal(&a[i], &c[i]));
    assert_false(value_equal(&a[0], &b[0]) && value_equal(&a[1], &b[1]) &&
                 value_equal(&a[2], &b[2]) && value_equal(&a[3], &b[3]));
    scheduler_destroy(scheduler);
    space_destroy(space);
    expr_env_destroy(env);
}

/* ---- any history ---- */

enum { POPULATION = 6, TRIALS = 60, MAX = 9, SLOTS_MAX = 7 };

enum life { UNBORN, RUNNING, RESTING, STOPPED, ENDED };

struct world {
    struct scheduler *scheduler, *replayed;
    struct rng rng;
    enum life lives[TRIALS + 1];
    uint64_t resources[TRIALS + 1]; /* to which they run, or have run */
    double values[TRIALS + 1];
    uint64_t count;       /* trials there are */
    uint64_t promoted_to; /* the highest resource of a promotion */
    size_t slots, running;
};

/* The second scheduler sees what the record tells, and must know as much. */
static void compare(const struct world *world)
{
    for (int closed = 0; closed < 2; closed++) {
        struct assignment a, b;

        scheduler_next(world->scheduler, closed, &a);
        scheduler_next(world->replayed, closed, &b);
        assert_same(&a, &b);
    }
}

static void check_clone(const struct world *world,
                        const struct assignment *next)
{
    assert_int_equal(world->lives[next->trial], RESTING);
    assert_true(world->resources[next->trial] < next->resource);
    assert_true(world->promoted_to < next->resource);
    for (uint64_t i = 1; i <= world->count; i++)
        if (world->resources[i] == world->resources[next->trial])
            assert_int_not_equal(world->lives[i], RUNNING);
}

static bool fill_slot(struct world *world, bool is_closed)
{
    struct assignment next, recorded;
    uint64_t trial;

    compare(world);
    scheduler_next(world->scheduler, is_closed, &next);
    trial = next.trial;
    if (next.kind == NEXT_NONE)
        return false;
    if (next.kind == NEXT_NEW || next.kind == NEXT_CLONE) {
        assert_false(is_closed);
        trial = ++world->count;
    }
    if (next.kind == NEXT_CLONE)
        check_clone(world, &next);
    if (next.kind == NEXT_PROMOTE)
        world->promoted_to = next.resource;
    if (next.kind == NEXT_STOP || next.kind == NEXT_PROMOTE)
        assert_int_equal(world->lives[trial], RESTING);
    world->lives[trial] = next.kind == NEXT_STOP ? STOPPED : RUNNING;
    world->running += next.kind != NEXT_STOP;
    if (next.kind != NEXT_STOP)
        world->resources[trial] = next.resource;
    recorded = next;
    recorded.reason[0] = '\0';
    scheduler_assign(world->scheduler, trial, &next);
    scheduler_assign(world->replayed, trial, &recorded);
    return true;
}

static void end_trial(struct world *world, uint64_t trial,
                      enum trial_outcome outcome)
{
    scheduler_end(world->scheduler, trial, outcome);
    scheduler_end(world->replayed, trial, outcome);
    world->running -= world->lives[trial] == RUNNING;
    world->lives[trial] = ENDED;
}

/* Something happens to a trial: it comes to its resource, fails, or its user
 * has enough of it. */
static void move_trial(struct world *world, uint64_t trial)
{
    struct observation observation = {.trial = trial,
                                      .resource = world->resources[trial]};
    struct verdict verdict, again;
    bool is_last = observation.resource == MAX;

    if (rng_below(&world->rng, 20) == 0) {
        end_trial(world, trial, OUTCOME_CANCELLED);
        return;
    }
    if (world->lives[trial] != RUNNING)
        return;
    if (rng_below(&world->rng, 10) == 0) {
        end_trial(world, trial, OUTCOME_FAILED);
        return;
    }
    observation.value = floor(10 * rng_uniform(&world->rng));
    if (observation.value == 0)
        observation.value = (double)NAN;
    scheduler_observe(world->scheduler, &observation, &verdict);
    scheduler_observe(world->replayed, &observation, &again);
    assert_int_equal(verdict.decision, again.decision);
    assert_int_equal(verdict.rung, again.rung);
    assert_string_equal(verdict.reason, again.reason);
    assert_int_equal(verdict.decision,
                     is_last ? DECIDE_CONTINUE : DECIDE_PAUSE);
    if (is_last) {
        end_trial(world, trial, OUTCOME_COMPLETE);
        return;
    }
    world->lives[trial] = RESTING;
    world->running--;
}

static void live(struct world *world)
{
    uint64_t closes_at = 1 + rng_below(&world->rng, TRIALS);

    for (;;) {
        size_t living = 0;

        while (world->running < world->slots &&
               fill_slot(world, world->count >= closes_at))
            ;
        for (uint64_t i = 1; i <= world->count; i++)
            living += world->lives[i] == RUNNING || world->lives[i] == RESTING;
        assert_in_range(living, 0, POPULATION);
        if (living == 0)
            return;
        assert_true(world->running > 0); /* nobody rests for ever */
        for (uint64_t i = 1; i <= world->count; i++)
            if ((world->lives[i] == RUNNING || world->lives[i] == RESTING) &&
                rng_below(&world->rng, 3) == 0)
                move_trial(world, i);
    }
}

static void test_pbt__comes_to_an_end_whatever_happens(void **state)
{
    uint64_t clones = 0, finished = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct world world = {.scheduler = make(POPULATION, MAX),
                              .replayed = make(POPULATION, MAX),
                              .slots = 1 + seed % SLOTS_MAX};

        rng_init(&world.rng, seed, 1, 1);
        live(&world);
        compare(&world);
        clones += world.count > POPULATION ? world.count - POPULATION : 0;
        for (uint64_t i = 1; i <= world.count; i++)
            finished += world.lives[i] == ENDED && world.resources[i] == MAX;
        scheduler_destroy(world.scheduler);
        scheduler_destroy(world.replayed);
    }
    assert_true(clones > 500 && finished > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pbt__replaces_the_worst_by_clones_of_the_best),
        cmocka_unit_test(test_pbt__ranks_nan_last_and_equals_by_number),
        cmocka_unit_test(test_pbt__draws_parents_from_the_best),
        cmocka_unit_test(test_pbt__shrinks_where_no_new_trials_may_come),
        cmocka_unit_test(test_pbt__goes_on_with_those_that_began),
        cmocka_unit_test(test_pbt__is_over_when_nobody_lives),
        cmocka_unit_test(test_pbt__keeps_generations_apart),
        cmocka_unit_test(test_pbt__plans_generations),
        cmocka_unit_test(test_pbt__refuses_options_without_sense),
        cmocka_unit_test(test_pbt__explores_by_seed_and_number),
        cmocka_unit_test(test_pbt__comes_to_an_end_whatever_happens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
