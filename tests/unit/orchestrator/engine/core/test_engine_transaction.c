/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a turn brings is one transaction; what broke it is kept. */
#include "orchestrator/engine/core/transaction.h"

#include "tests/unit/orchestrator/engine/engine_test.h"

static void test_transaction__is_opened_once_and_committed(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    int64_t begun_ms;

    assert_true(engine_commit(engine)); /* nothing is open */
    assert_true(engine_begin(engine));
    begun_ms = engine->transaction.begun_ms;
    assert_true(begun_ms > 0);
    assert_true(engine_begin(engine));
    assert_int_equal(engine->transaction.begun_ms, begun_ms);
    assert_true(store_in_transaction(bench.store));
    assert_true(engine_commit(engine));
    assert_false(store_in_transaction(bench.store));
    assert_int_equal(engine->transaction.begun_ms, 0);
    end_bench(&bench);
}

static void test_transaction__the_first_reason_is_kept(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    struct err first, second;

    err_set(&first, ERR_SHORTAGE, "the disk is full");
    err_set(&second, ERR_FAILED, "something else");
    engine_break(engine, &first);
    engine_break(engine, &second);
    assert_string_equal(engine->transaction.broken.text, "the disk is full");
    assert_int_equal(engine->transaction.broken.kind, ERR_SHORTAGE);
    assert_false(engine_begin(engine));
    assert_false(engine_commit(engine));
    assert_false(store_in_transaction(bench.store));
    end_bench(&bench);
}

/* Of a job, in memory and in the record alike. */
static void test_transaction__a_change_is_looked_up_and_written(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    struct job *job = must_begin(&bench);

    assert_true(engine_change_trial(engine, job, EVENT_STARTED, NULL));
    assert_int_equal(job->state, JOB_RUNNING);
    assert_int_equal(engine->queues.running_count, 1);
    job->end.exit_code = 3;
    assert_true(engine_change_trial(engine, job, EVENT_FAILED, "exit"));
    assert_int_equal(engine->queues.running_count, 0);
    must_commit(&bench);
    must_be_recorded(&bench, "failed ");
    end_bench(&bench);
}

static void test_transaction__what_cannot_happen_breaks_it(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    struct job *job = must_begin(&bench);

    assert_false(engine_change_trial(engine, job, EVENT_SUCCEEDED, "ok"));
    assert_int_equal(job->state, JOB_READY);
    assert_true(engine->transaction.is_broken);
    assert_string_equal(
        engine->transaction.broken.text,
        "trial 1: 'succeeded' is not possible while it is ready");
    end_bench(&bench);
}

static int64_t count_clock_jumps(const char *folder)
{
    char *answer = ask_sqlite(
        folder, "SELECT COUNT(*) FROM event WHERE event = 'clock_jumped'");
    int64_t count = strtoll(answer, NULL, 10);

    free(answer);
    return count;
}

/* One of half a second or more is in the record, once. */
static void test_transaction__a_jump_of_the_clock_is_noted(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    struct err err = {0};
    int64_t now_ms;

    must_begin(&bench);
    engine->transaction.clock_gap_ms -= 200;
    must_commit(&bench);
    assert_int_equal(count_clock_jumps(*state), 0);
    engine->transaction.clock_gap_ms -= 3600 * 1000;
    assert_true(engine_begin(engine));
    must(engine_note_clock(engine, &now_ms, &err));
    must(engine_note_clock(engine, &now_ms, &err));
    must_commit(&bench);
    assert_int_equal(count_clock_jumps(*state), 1);
    end_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_transaction__is_opened_once_and_committed),
        STORE_TEST(test_transaction__the_first_reason_is_kept),
        STORE_TEST(test_transaction__a_change_is_looked_up_and_written),
        STORE_TEST(test_transaction__what_cannot_happen_breaks_it),
        STORE_TEST(test_transaction__a_jump_of_the_clock_is_noted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
