/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job that is not over comes into memory as the record has it. */
#include "orchestrator/engine/core/take_up.h"

#include "orchestrator/engine/recover.h"
#include "tests/unit/orchestrator/engine/engine_test.h"

/* The session is given up as if the engine had been killed. */
static void begin_again(struct bench *bench)
{
    struct err err = {0};

    must_commit(bench);
    end_engine(bench);
    begin_engine(bench);
    must(engine_recover(bench->engine, &err));
    must_hold(bench);
}

static void test_take_up__what_runs_is_live_again(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    const struct job *job;

    must_start(&bench);
    begin_again(&bench);
    assert_int_equal(bench.executor.reattached, 2);
    assert_int_equal(bench.engine->queues.live_count, 2);
    assert_int_equal(bench.engine->queues.adopted_count, 2);
    assert_int_equal(bench.engine->queues.running_count, 2);
    assert_int_equal(bench.engine->tally.suggested, 2);
    job = live_trial(&bench, 2);
    assert_true(job->is_adopted);
    assert_int_equal(job->attempt_number, 1);
    must_end(&bench, 2, CAUSE_OK, "loss=0.25\n");
    assert_int_equal(bench.engine->tally.best_trial, 2);
    end_bench(&bench);
}

/* Its claim is void now: it is interrupted, and ready for another attempt. */
static void test_take_up__what_never_started_is_ready(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);

    dispatch_all(bench.engine);
    assert_true(engine_commit_now(bench.engine));
    bench.executor.reattach = 1;
    begin_again(&bench);
    assert_int_equal(bench.engine->queues.live_count, 0);
    assert_true(engine_commit_now(bench.engine));
    assert_int_equal(length_of(&bench.engine->queues.ready), 2);
    must_be_recorded(&bench, "ready ready ");
    must_start(&bench);
    assert_int_equal(live_trial(&bench, 1)->attempt_number, 2);
    end_bench(&bench);
}

/* What retries have used counts, and nobody waits longer than its rule says,
 * wherever the wall clock was put. */
static void test_take_up__a_retry_waits_for_the_rest_of_its_time(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    const struct job *job;

    must_start(&bench);
    must_end(&bench, 1, CAUSE_EXIT, "");
    assert_true(engine_commit_now(bench.engine));
    begin_again(&bench);
    job = TAILQ_FIRST(&bench.engine->queues.waiting);
    assert_non_null(job);
    assert_int_equal(job->number, 1);
    assert_int_equal(job->retries_used[0], 1);
    assert_int_equal(job->attempt_number, 1);
    assert_true(job->due_ms <= clock_monotonic_ms() + 10);
    end_bench(&bench);
}

/* The search goes on where it was: results that it had, and settings. */
static void test_take_up__what_is_over_is_known(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    double x[2];

    must_start(&bench);
    must_end(&bench, 1, CAUSE_OK, "loss=0.5\n");
    must_end(&bench, 2, CAUSE_OK, "loss=0.25\n");
    assert_true(engine_commit_now(bench.engine));
    x[0] = must_begin(&bench)->point[0].real;
    end_engine(&bench); /* the third trial is not in the record */
    begin_engine(&bench);
    assert_int_equal(engine_recover(bench.engine, &(struct err){0}), 0);
    assert_int_equal(bench.engine->tally.succeeded, 2);
    assert_int_equal(bench.engine->tally.best_trial, 2);
    assert_int_equal(bench.engine->transaction.told_count, 2);
    x[1] = must_begin(&bench)->point[0].real;
    assert_true(x[0] == x[1]);
    end_bench(&bench);
}

/* One job alone, which its user put back: it is returned, and is ready. */
static void test_take_up__one_job_is_returned(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct err err = {0};
    struct job *job;

    must_start(&bench);
    must_end(&bench, 1, CAUSE_OK, "loss=0.5\n");
    assert_true(engine_commit_now(bench.engine));
    must_begin(&bench);
    job = engine_take_up(bench.engine, 1, JOB_READY, &err);
    assert_non_null(job);
    assert_int_equal(job->number, 1);
    assert_int_equal(job->state, JOB_READY);
    assert_int_equal(job->attempt_number, 1);
    assert_int_equal(length_of(&bench.engine->queues.ready), 2);
    end_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_take_up__what_runs_is_live_again),
        STORE_TEST(test_take_up__what_never_started_is_ready),
        STORE_TEST(test_take_up__a_retry_waits_for_the_rest_of_its_time),
        STORE_TEST(test_take_up__what_is_over_is_known),
        STORE_TEST(test_take_up__one_job_is_returned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
