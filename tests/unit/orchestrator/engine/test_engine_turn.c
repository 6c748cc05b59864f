/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is decided once a turn: to commit, that the run is over, when to wake.
 */
#include "orchestrator/engine/turn.h"

#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/submit.h"
#include "tests/unit/orchestrator/engine/engine_test.h"

static void test_turn__a_commit_waits_for_company(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    assert_false(engine_commit_is_due(engine));
    must_start(&bench);
    assert_int_equal(engine->queues.live_count, 2);
    assert_true(store_in_transaction(bench.store)); /* they have started */
    engine->transaction.begun_ms += 60000; /* however slow the machine is */
    assert_false(engine_commit_is_due(engine));
    engine->transaction.begun_ms -= 61000;
    assert_true(engine_commit_is_due(engine));
    must_commit(&bench);
    assert_false(engine_commit_is_due(engine));
    end_bench(&bench);
}

/* A slot that is free does not wait, nor does a run in which nothing runs. */
static void test_turn__a_commit_that_is_waited_for(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    must_begin(&bench);
    assert_true(engine_commit_is_due(engine)); /* nothing is active */
    dispatch_all(engine);
    assert_int_equal(engine->queues.prepared_count, 2);
    assert_true(engine_commit_is_due(engine));
    end_bench(&bench);
}

static void test_turn__what_was_prepared_starts_after_the_commit(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    dispatch_all(engine);
    assert_int_equal(bench.executor.starts, 0);
    must_be_recorded(&bench, "ready ready ");
    assert_true(engine_commit_now(engine));
    assert_int_equal(bench.executor.starts, 2);
    assert_int_equal(engine->queues.live_count, 2);
    assert_int_equal(engine->queues.prepared_count, 0);
    end_bench(&bench);
}

/* Another run has the slots: what is in the record waits, and is offered again
 * when there is room. */
static void test_turn__what_is_refused_stays_committed(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    bench.executor.start = START_FULL;
    bench.executor.lacks = LACKS_CPUS;
    dispatch_all(engine);
    assert_true(engine_commit_now(engine));
    assert_int_equal(engine->queues.committed_count, 2);
    assert_int_equal(engine_active(engine), 2);
    assert_false(engine_is_over(engine));
    bench.executor.start = START_OK;
    engine_start_committed(engine);
    assert_int_equal(engine->queues.committed_count, 0);
    assert_int_equal(engine->queues.live_count, 2);
    end_bench(&bench);
}

static void test_turn__a_run_is_over_when_all_has_ended(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    for (int64_t number = 1; number <= 4; number++) {
        must_start(&bench);
        assert_false(engine_is_over(engine));
        must_end(&bench, number, CAUSE_OK, "loss=0.5\n");
    }
    assert_false(engine_is_over(engine)); /* not before it is reported */
    must_start(&bench);
    assert_true(engine_is_over(engine));
    assert_false(engine_close_rest(engine));
    must_report(&bench, "1 succeeded, 2 succeeded, 3 succeeded, 4 succeeded, ");
    engine->source->conclude(engine);
    assert_int_equal(bench.result.state, RUN_SUCCEEDED);
    assert_string_equal(bench.result.reason, "trial budget used up (4 of 4)");
    end_bench(&bench);
}

/* Nobody knows then whether there is more to try. */
static void test_turn__a_run_that_is_held_back_is_not_over(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    engine_begin_shortage(engine, "the disk is full");
    dispatch_all(engine);
    assert_int_equal(engine->tally.suggested, 0);
    assert_false(engine_is_over(engine));
    engine->wind_up.is_exhausted = true;
    assert_true(engine_is_over(engine));
    end_bench(&bench);
}

static void test_turn__wakes_for_what_is_due_first(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    struct job *job = engine_create_trial(engine, 1);

    assert_true(engine_wake_ms(engine) == INT64_MAX);
    job->due_ms = clock_monotonic_ms() + 3600 * 1000;
    engine_wait(engine, job);
    assert_in_range(engine_wake_ms(engine), 3500 * 1000, 3600 * 1000);
    bench.run->experiment->budget.time_ms = 1800 * 1000;
    assert_in_range(engine_wake_ms(engine), 1700 * 1000, 1800 * 1000);
    engine_begin_shortage(engine, "the disk is full");
    assert_in_range(engine_wake_ms(engine), 0, 1000);
    engine_end_shortage(engine);
    assert_true(engine_begin(engine));
    assert_in_range(engine_wake_ms(engine), 0, 20);
    engine->queues.has_more_to_dispatch = true;
    assert_int_equal(engine_wake_ms(engine), 0);
    end_bench(&bench);
}

/* A target that was reached ends what runs. */
static void test_turn__the_budget_ends_what_runs(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    bench.run->experiment->budget.has_target = true;
    bench.run->experiment->budget.target = 0.1;
    must_start(&bench);
    must_end(&bench, 1, CAUSE_OK, "loss=0.05\n");
    engine_check_budget(engine);
    assert_int_equal(engine->wind_up.phase, PHASE_ENDING);
    assert_int_equal(bench.result.verdict, BUDGET_TARGET);
    must_cancel(&bench, "2 term, ");
    must_end(&bench, 2, CAUSE_CANCELLED, "");
    assert_true(engine_commit_now(engine));
    must_be_recorded(&bench, "succeeded stopped ");
    assert_true(engine_is_over(engine));
    end_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_turn__a_commit_waits_for_company),
        STORE_TEST(test_turn__a_commit_that_is_waited_for),
        STORE_TEST(test_turn__what_was_prepared_starts_after_the_commit),
        STORE_TEST(test_turn__what_is_refused_stays_committed),
        STORE_TEST(test_turn__a_run_is_over_when_all_has_ended),
        STORE_TEST(test_turn__a_run_that_is_held_back_is_not_over),
        STORE_TEST(test_turn__wakes_for_what_is_due_first),
        STORE_TEST(test_turn__the_budget_ends_what_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
