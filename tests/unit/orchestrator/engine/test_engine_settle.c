/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of a job whose attempt has ended. */
#include "orchestrator/engine/settle.h"

#include "orchestrator/engine/core/shortage.h"
#include "tests/unit/orchestrator/engine/engine_test.h"

/* By its own words a second try is given once, and the trial waits for it. */
static void test_settle__a_retry_waits_and_is_given_once(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    struct job *job;

    must_start(&bench);
    must_end(&bench, 1, CAUSE_EXIT, "");
    job = TAILQ_FIRST(&engine->queues.settled);
    assert_int_equal(job->state, JOB_WAITING);
    assert_int_equal(job->retry_rule, 0);
    assert_true(engine_commit_now(engine));
    must_report(&bench, "1 waiting, ");
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.waiting), job);
    assert_int_equal(job->attempt, 0); /* as before its first one */
    assert_null(job->metric_files);
    job->due_ms = clock_monotonic_ms() - 1;
    must_start(&bench);
    assert_int_equal(live_trial(&bench, 1)->attempt_number, 2);
    must_end(&bench, 1, CAUSE_EXIT, "");
    assert_true(engine_commit_now(engine));
    must_report(&bench, "1 failed, ");
    must_be_recorded(&bench, "failed running running running ");
    end_bench(&bench);
}

/* It ended well without saying what the search wants to know. */
static void test_settle__without_its_metric_it_has_failed(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    const struct job *job;

    must_start(&bench);
    must_end(&bench, 1, CAUSE_OK, "cost=0.5\n");
    job = TAILQ_FIRST(&engine->queues.settled);
    assert_int_equal(job->end.cause, CAUSE_NO_METRIC);
    assert_int_equal(job->state, JOB_FAILED);
    assert_non_null(strstr(job->end.text, "'loss'"));
    assert_non_null(strstr(job->end.text, "(found: cost"));
    assert_int_equal(engine->tally.failed, 1);
    end_bench(&bench);
}

/* It may wait in a queue for hours after it was handed over. */
static void test_settle__an_executor_that_cannot_start_it(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    bench.executor.start = START_ERROR;
    dispatch_all(engine);
    assert_true(engine_commit_now(engine));
    assert_int_equal(engine->wind_up.launch_errors, 2);
    assert_string_equal(engine->wind_up.launch_error, "no such program");
    assert_true(engine_commit_now(engine));
    must_report(&bench, "1 failed, 2 failed, ");
    end_bench(&bench);
}

/* Full disks are nobody's fault: the trial keeps its place. */
static void test_settle__a_shortage_is_no_failure(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    struct job *job = must_begin(&bench);
    struct err why;

    err_set(&why, ERR_SHORTAGE, "no space left on device");
    TAILQ_REMOVE(&engine->queues.ready, job, link);
    job->attempt_number = 1;
    engine_settle_unstarted(engine, job, &why);
    assert_true(engine_is_held(engine));
    assert_int_equal(job->state, JOB_READY);
    assert_int_equal(engine->wind_up.launch_errors, 0);
    engine_release_settled(engine);
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.ready), job);
    assert_string_equal(job->again, "shortage 1 of 100");
    must_report(&bench, "1 ready, ");
    end_bench(&bench);
}

/* An end that is told twice, or of an attempt that is none of ours. */
static void test_settle__an_end_counts_once(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    struct attempt_exit end = {.attempt = 1, .cause = CAUSE_OK};

    must_start(&bench);
    must_end(&bench, 1, CAUSE_OK, "loss=0.5\n");
    engine_on_ended(engine, &end);
    end.attempt = 99;
    engine_on_ended(engine, &end);
    assert_int_equal(engine->tally.succeeded, 1);
    assert_int_equal(length_of(&engine->queues.settled), 1);
    assert_int_equal(engine->queues.live_count, 1);
    end_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_settle__a_retry_waits_and_is_given_once),
        STORE_TEST(test_settle__without_its_metric_it_has_failed),
        STORE_TEST(test_settle__an_executor_that_cannot_start_it),
        STORE_TEST(test_settle__a_shortage_is_no_failure),
        STORE_TEST(test_settle__an_end_counts_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
