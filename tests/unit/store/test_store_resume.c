/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/store/store_test.h"

/* What an engine reads to take a run up again. */

static void start_engine(struct store *store, int64_t run, int64_t pid,
                         int64_t time_ms)
{
    struct err err = {0};

    must(store_set_run_engine(store, run, pid, "", time_ms, &err));
}

static void add_trial(struct store *store, int64_t run, int64_t number,
                      int64_t time_ms)
{
    const struct job_new job = {
        .run = run,
        .number = number,
        .state = "ready",
        .step = -1,
        .time_ms = time_ms,
    };
    struct err err = {0};
    int64_t id;

    must(store_add_job(store, &job, &id, &err));
}

static int64_t earlier_ms(struct store *store, int64_t run)
{
    struct err err = {0};
    int64_t ms;

    must(store_earlier_engines_ms(store, run, &ms, &err));
    return ms;
}

static int64_t all_ms(struct store *store, int64_t run)
{
    struct err err = {0};
    int64_t ms;

    must(store_engines_ms(store, run, &ms, &err));
    return ms;
}

static void test_store_resume__sums_up_what_earlier_engines_took(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t first, second;

    must(store_begin(store, &err));
    must(fill_run(store, "first", "minimize", &first, &err));
    must(fill_run(store, "second", "minimize", &second, &err));
    assert_int_equal(all_ms(store, first), 0);
    start_engine(store, first, 7, 1000);
    assert_int_equal(earlier_ms(store, first), 0);
    start_engine(store, second, 8, 1500);
    start_engine(store, first, 0, 3000); /* its end */
    start_engine(store, first, 9, 50000);
    start_engine(store, second, 0, 50500);
    assert_int_equal(earlier_ms(store, first), 2000);
    assert_int_equal(all_ms(store, second), 49000);
    add_trial(store, first, 1, 50700);
    assert_int_equal(all_ms(store, first), 2700);
    must(store_set_run_state(store, first, "running", "", 70000, &err));
    start_engine(store, first, 10, 90000); /* the one before was killed */
    must(store_commit(store, &err));
    assert_int_equal(earlier_ms(store, first), 2700);
    assert_int_equal(earlier_ms(store, second), 0);
    store_close(store);
}

static void test_store_resume__leaves_clock_jumps_out(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t run;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    start_engine(store, run, 7, 100000);
    must(store_add_clock_jump(store, run, -90000, 11000, &err));
    start_engine(store, run, 0, 12000);
    start_engine(store, run, 8, 20000);
    must(store_add_clock_jump(store, run, 3000, 23000, &err));
    must(store_commit(store, &err));
    assert_int_equal(earlier_ms(store, run), 2000);
    store_close(store);
}

static void test_store_resume__leaves_pauses_out(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t run;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    start_engine(store, run, 7, 1000);
    must(store_set_run_paused(store, run, true, 2000, &err));
    must(store_add_clock_jump(store, run, 500, 5000, &err));
    must(store_set_run_paused(store, run, false, 9000, &err));
    must(store_set_run_paused(store, run, false, 9500, &err)); /* nothing */
    start_engine(store, run, 0, 10000);
    start_engine(store, run, 8, 20000);
    assert_int_equal(earlier_ms(store, run), 2000);
    must(store_set_run_paused(store, run, true, 23000, &err));
    add_trial(store, run, 1, 29000);
    start_engine(store, run, 9, 40000); /* it was killed */
    must(store_set_run_paused(store, run, false, 40000, &err));
    assert_int_equal(earlier_ms(store, run), 5000);
    add_trial(store, run, 2, 41000);
    must(store_end_dead_engine(store, run, &err)); /* killed, too */
    must(store_set_run_state(store, run, "running", "", 70000, &err));
    must(store_end_dead_engine(store, run, &err));
    start_engine(store, run, 10, 80000);
    assert_int_equal(earlier_ms(store, run), 6000);
    must(store_commit(store, &err));
    store_close(store);
}

static void test_store_resume__counts_no_less_than_was_used_up(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t run;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    start_engine(store, run, 7, 1000);
    must(store_add_time_used_up(store, run, 2003, 3000, &err));
    start_engine(store, run, 8, 20000); /* it was killed */
    assert_int_equal(earlier_ms(store, run), 2003);
    assert_int_equal(all_ms(store, run), 2003);
    add_trial(store, run, 1, 20500);
    start_engine(store, run, 9, 30000);
    must(store_commit(store, &err));
    assert_int_equal(earlier_ms(store, run), 2500);
    store_close(store);
}

static int see_results(void *user, const struct trial_row *trial)
{
    double *sum = user;

    assert_int_equal(trial->param_count, 0);
    assert_int_equal(trial->attempts.count, 0);
    assert_int_equal(trial->value_count, 1);
    *sum += trial->values[0];
    return 0;
}

static void test_store_resume__reads_results_alone(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    struct trial_query query = {.run = 1, .results_only = true};
    int64_t run;
    double sum = 0;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    must(fill_trial(store, run, 1, 2, &err));
    must(fill_trial(store, run, 2, 40, &err));
    must(store_commit(store, &err));
    must(store_each_trial(store, &query, see_results, &sum, &err));
    assert_float_equal(sum, 42, 0);
    query.order = ORDER_BEST;
    must(store_each_trial(store, &query, see_results, &sum, &err));
    assert_float_equal(sum, 84, 0);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_resume__sums_up_what_earlier_engines_took),
        STORE_TEST(test_store_resume__counts_no_less_than_was_used_up),
        STORE_TEST(test_store_resume__leaves_clock_jumps_out),
        STORE_TEST(test_store_resume__leaves_pauses_out),
        STORE_TEST(test_store_resume__reads_results_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
