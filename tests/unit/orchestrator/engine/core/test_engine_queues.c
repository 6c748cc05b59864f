/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job is in one list, and the counts are the lists' lengths. */
#include "orchestrator/engine/core/queues.h"

#include "tests/unit/orchestrator/engine/engine_test.h"

static void test_queues__retries_wait_by_their_due_time(void **state)
{
    static const int64_t due_ms[] = {30, 10, 20, 10};
    static const int64_t order[] = {2, 4, 3, 1};
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    const struct job *job;
    size_t i = 0;

    for (size_t n = 0; n < ARRAY_LEN(due_ms); n++) {
        struct job *waiting = engine_create_trial(engine, (int64_t)n + 1);

        waiting->due_ms = due_ms[n];
        engine_wait(engine, waiting);
    }
    TAILQ_FOREACH(job, &engine->queues.waiting, link)
    {
        assert_int_equal(job->number, order[i++]);
    }
    assert_int_equal(i, ARRAY_LEN(order));
    end_bench(&bench);
}

static void test_queues__a_live_job_is_found_by_its_attempt(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    for (int64_t n = 1; n <= 9; n++) {
        struct job *job = engine_create_trial(engine, n);

        job->attempt = 100 - n;
        job->is_adopted = n <= 2;
        job->is_queued = n == 1;
        engine->queues.queued_count += n == 1;
        engine_track_live(engine, job);
    }
    assert_int_equal(engine->queues.live_count, 9);
    assert_int_equal(engine->queues.adopted_count, 2);
    assert_int_equal(engine_find_live(engine, 95)->number, 5);
    assert_null(engine_find_live(engine, 100));
    for (int64_t n = 1; n <= 2; n++) {
        struct job *job = engine_find_live(engine, 100 - n);

        engine_untrack_live(engine, job);
        assert_null(engine_find_live(engine, 100 - n));
        assert_false(job->is_queued);
        job_destroy(job);
    }
    assert_int_equal(engine->queues.live_count, 7);
    assert_int_equal(engine->queues.adopted_count, 0);
    assert_int_equal(engine->queues.queued_count, 0);
    assert_int_equal(engine_active(engine), 7);
    end_bench(&bench);
}

static void test_queues__those_with_more_are_read_first(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    struct job *trials[3];

    assert_false(engine_has_more(engine));
    for (int64_t n = 0; n < 3; n++) {
        trials[n] = engine_create_trial(engine, n + 1);
        trials[n]->attempt = n + 1;
        engine_track_live(engine, trials[n]);
    }
    assert_false(engine_has_more(engine));
    engine_read_first(engine, trials[2]);
    assert_true(engine_has_more(engine));
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.live), trials[2]);
    engine_read_last(engine, trials[2]);
    assert_false(engine_has_more(engine));
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.live), trials[0]);
    engine_read_last(engine, trials[0]);
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.live), trials[1]);
    end_bench(&bench);
}

/* What comes back from aside is the next to start, and counts as active while
 * it is there. */
static void test_queues__aside_and_back(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;
    struct job *first = must_begin(&bench), *second = must_begin(&bench);

    engine_set_aside(engine, second);
    assert_int_equal(engine_active(engine), 1);
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.ready), first);
    engine_take_back(engine, second);
    assert_int_equal(engine_active(engine), 0);
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.ready), second);
    engine_set_aside(engine, second);
    engine_leave_asked(engine, second);
    assert_int_equal(length_of(&engine->queues.ready), 1);
    assert_int_equal(engine->queues.asked_count, 0);
    job_destroy(second);
    end_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_queues__retries_wait_by_their_due_time),
        STORE_TEST(test_queues__a_live_job_is_found_by_its_attempt),
        STORE_TEST(test_queues__those_with_more_are_read_first),
        STORE_TEST(test_queues__aside_and_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
