/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is next where a schedule decides: who pauses, goes on, and stops. */
#include "orchestrator/engine/source/schedule.h"

#include "orchestrator/engine/ending.h"
#include "orchestrator/engine/recover.h"
#include "tests/unit/orchestrator/engine/engine_test.h"

#define STOPPING                                                               \
    "version: 1\n"                                                             \
    "objective: {metric: loss, goal: minimize}\n"                              \
    "parameters:\n"                                                            \
    "  x: {type: float, min: 0, max: 1}\n"                                     \
    "search: {method: random, seed: 1}\n"                                      \
    "schedule: {method: asha, type: stopping, resource: epochs, min: 1, "      \
    "max: 9, eta: 3}\n"                                                        \
    "budget: {trials: 4, parallel: 4}\n"                                       \
    "trial:\n"                                                                 \
    "  command: train ${{ x }}\n"                                              \
    "  resources: {cpus: 0}\n"

/* Three trials of one epoch each, with these losses. */
static void run_first_rung(struct bench *bench)
{
    static const char *const logs[] = {
        "epochs=1 loss=0.5\n", "epochs=1 loss=0.25\n", "epochs=1 loss=0.75\n"};

    for (int64_t n = 1; n <= 3; n++) {
        must_start(bench);
        must_end(bench, n, CAUSE_OK, logs[n - 1]);
    }
    must_start(bench);
}

static void test_schedule__what_has_used_its_resource_pauses(void **state)
{
    BENCH(bench, *state, TEST_SCHEDULE);
    struct engine *engine = bench.engine;

    assert_false(engine->looks_ahead);
    assert_int_equal(must_begin(&bench)->resource, 1);
    must_start(&bench);
    must_end(&bench, 1, CAUSE_OK, "epochs=1 loss=0.5\n");
    assert_int_equal(engine->queues.paused_trials, 1);
    assert_int_equal(engine->tally.resource_used, 1);
    assert_int_equal(engine->tally.succeeded, 0);
    assert_true(engine_commit_now(engine));
    must_report(&bench, "1 paused, ");
    must_be_recorded(&bench, "paused running ");
    end_bench(&bench);
}

/* The best one of three goes on, as the same trial, up to three epochs. */
static void test_schedule__the_best_is_promoted(void **state)
{
    BENCH(bench, *state, TEST_SCHEDULE);
    struct engine *engine = bench.engine;
    const struct job *job;

    run_first_rung(&bench);
    job = live_trial(&bench, 2);
    assert_int_equal(job->resource, 3);
    assert_int_equal(job->attempt_number, 2);
    assert_false(job->is_promoted); /* which was reported */
    assert_non_null(strstr(buf_text(&bench.reported), "2 promoted, "));
    assert_int_equal(engine->queues.paused_trials, 2);
    end_bench(&bench);
}

/* It left no checkpoint: it begins at nothing, and that is said once. */
static void test_schedule__without_a_checkpoint_it_begins_again(void **state)
{
    BENCH(bench, *state, TEST_SCHEDULE);
    const struct job *job;

    run_first_rung(&bench);
    job = live_trial(&bench, 2);
    assert_true(job->has_lost_checkpoint);
    assert_int_equal(job->from, 0);
    assert_true(bench.engine->has_told_of_checkpoints);
    assert_non_null(strstr(buf_text(&bench.reported), "saved no checkpoint"));
    end_bench(&bench);
}

static void test_schedule__goes_on_from_a_checkpoint(void **state)
{
    BENCH(bench, *state, TEST_SCHEDULE);
    char *directory = workspace_checkpoint_directory(bench.run->directory, 2);
    const struct job *job;

    must_start(&bench); /* which makes the folder */
    put(directory, ".", "model", "weights");
    run_first_rung(&bench);
    job = live_trial(&bench, 2);
    assert_false(job->has_lost_checkpoint);
    assert_int_equal(job->from, 1);
    free(directory);
    end_bench(&bench);
}

/* A point beyond what it was given counts for nothing. The trial has the time
 * of a unit to write its checkpoint, and is ended at the next one. */
static void test_schedule__a_point_beyond_its_resource(void **state)
{
    BENCH(bench, *state, TEST_SCHEDULE);
    struct engine *engine = bench.engine;
    const struct metric_point within = {"loss", 1, 0.5, false};
    const struct metric_point beyond = {"loss", 2, 0.1, false};
    const struct metric_point far_beyond = {"loss", 3, 0.1, false};
    struct job *job;

    must_start(&bench);
    job = live_trial(&bench, 1);
    engine->source->follow(engine, job, &within);
    assert_int_equal(job->reached, 1);
    must_cancel(&bench, "");
    engine->source->follow(engine, job, &beyond);
    assert_int_equal(job->wish, WISH_NONE);
    assert_true(job->last[0] == 0.5);
    must_cancel(&bench, "");
    engine->source->follow(engine, job, &far_beyond);
    assert_int_equal(job->wish, WISH_PAUSE);
    must_cancel(&bench, "1 term, ");
    engine->source->follow(engine, job, &far_beyond);
    must_cancel(&bench, ""); /* once */
    end_bench(&bench);
}

/* Where trials do not pause, what is worse than the others is given up, and
 * ended after the commit of that. */
static void test_schedule__gives_up_what_is_worse(void **state)
{
    BENCH(bench, *state, STOPPING);
    struct engine *engine = bench.engine;

    engine->parallel = 4;
    must_start(&bench);
    for (int64_t n = 1; n <= 4; n++) {
        const struct metric_point point = {"loss", 1, 0.1 * (double)n, false};

        engine->source->follow(engine, live_trial(&bench, n), &point);
    }
    must_hold(&bench);
    assert_true(engine->queues.given_up_count > 0);
    assert_int_equal(live_trial(&bench, 4)->wish, WISH_GIVE_UP);
    assert_int_equal(live_trial(&bench, 1)->wish, WISH_NONE);
    must_cancel(&bench, "");
    assert_true(engine_commit_now(engine));
    assert_non_null(strstr(buf_text(&bench.executor.cancelled), "4 term, "));
    assert_null(strstr(buf_text(&bench.executor.cancelled), "1 term, "));
    buf_truncate(&bench.executor.cancelled, 0);
    engine_cancel_given_up(engine);
    must_cancel(&bench, ""); /* once */
    must_end(&bench, 4, CAUSE_CANCELLED, "");
    assert_true(engine_commit_now(engine));
    assert_non_null(strstr(buf_text(&bench.reported), "4 stopped, "));
    end_bench(&bench);
}

/* An engine that resumes the run comes to the same decision. */
static void test_schedule__is_the_same_after_a_crash(void **state)
{
    BENCH(bench, *state, TEST_SCHEDULE);
    struct err err = {0};

    bench.engine->parallel = 1;
    run_first_rung(&bench);
    must_commit(&bench);
    end_engine(&bench);
    begin_engine(&bench);
    bench.engine->parallel = 1;
    must(engine_recover(bench.engine, &err));
    assert_int_equal(bench.engine->queues.paused_trials, 2);
    assert_int_equal(bench.engine->queues.live_count, 1);
    assert_int_equal(live_trial(&bench, 2)->resource, 3);
    must_end(&bench, 2, CAUSE_OK, "epochs=3 loss=0.2\n");
    assert_int_equal(bench.engine->queues.paused_trials, 3);
    end_bench(&bench);
}

static void test_schedule__the_runs_end_stops_what_is_paused(void **state)
{
    BENCH(bench, *state, TEST_SCHEDULE);
    struct engine *engine = bench.engine;

    bench.run->experiment->budget.trials = 3;
    bench.engine->parallel = 1;
    run_first_rung(&bench);
    must_end(&bench, 2, CAUSE_OK, "epochs=3 loss=0.2\n");
    assert_true(engine_commit_now(engine));
    assert_false(engine->source->close(engine));
    must_hold(&bench);
    assert_true(engine->wind_up.is_beyond_budget);
    assert_false(engine->source->next(engine));
    assert_true(engine_commit_now(engine));
    must_be_recorded(&bench, "stopped stopped stopped ");
    assert_int_equal(engine->queues.paused_trials, 0);
    end_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_schedule__what_has_used_its_resource_pauses),
        STORE_TEST(test_schedule__the_best_is_promoted),
        STORE_TEST(test_schedule__without_a_checkpoint_it_begins_again),
        STORE_TEST(test_schedule__goes_on_from_a_checkpoint),
        STORE_TEST(test_schedule__a_point_beyond_its_resource),
        STORE_TEST(test_schedule__gives_up_what_is_worse),
        STORE_TEST(test_schedule__is_the_same_after_a_crash),
        STORE_TEST(test_schedule__the_runs_end_stops_what_is_paused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
