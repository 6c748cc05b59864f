/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "tests/unit/store/store_test.h"

static int keep_job(void *user, const struct trial_row *row)
{
    struct job_change *change = user;

    change->job = row->job;
    return 0;
}

static int64_t find_job(struct store *store, int64_t number)
{
    struct err err = {0};
    struct trial_query query = {.run = 1, .number = number};
    struct job_change change = {0};

    must(store_each_trial(store, &query, keep_job, &change, &err));
    return change.job;
}

static void reopen(struct store *store, int64_t number)
{
    struct err err = {0};

    must(store_begin(store, &err));
    must(store_reopen_job(store, find_job(store, number), "ready", "reopened",
                          99, &err));
    must(store_commit(store, &err));
}

static void end(struct store *store, int64_t number, int64_t told,
                const char *state, double value)
{
    struct err err = {0};
    struct job_change change = {
        .run = 1,
        .job = find_job(store, number),
        .state = state,
        .event = state,
        .time_ms = 5,
        .ended_ms = 5,
        .values = &value,
        .value_count = 1,
        .told = told,
    };

    must(store_begin(store, &err));
    must(store_change_job(store, &change, &err));
    must(store_commit(store, &err));
}

static int print_superseded(void *user, const struct superseded_row *row)
{
    struct buf *out = user;

    buf_printf(out, "%" PRId64 " %" PRId64 " %s %s %s %" PRId64 "\n", row->told,
               row->number, row->state, row->values, row->outcomes,
               row->attempts);
    return 0;
}

static int check_blank(void *user, const struct trial_row *row)
{
    ++*(int *)user;
    assert_string_equal(row->state, "ready");
    assert_null(row->cause);
    assert_int_equal(row->value_count, 0);
    assert_int_equal(row->told, 0);
    assert_int_equal(row->ended_ms, 0);
    assert_int_equal(row->started_ms, 0);
    assert_true(row->violation <= 0.0);
    return 0;
}

static void test_store__keeps_what_a_reopened_trial_had_come_to(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 3);
    struct trial_query query = {.run = 1, .number = 2};
    struct superseded_sum sum;
    struct buf rows = BUF_INIT;
    int seen = 0;

    end(store, 2, 1, "failed", 0.1 + 0.2);
    end(store, 3, 2, "succeeded", -INFINITY);
    reopen(store, 2);
    reopen(store, 3);
    must(store_each_trial(store, &query, check_blank, &seen, &err));
    assert_int_equal(seen, 1);
    end(store, 2, 3, "failed", NAN);
    reopen(store, 2);
    must(store_each_superseded(store, 1, print_superseded, &rows, &err));
    assert_string_equal(buf_text(&rows),
                        "1 2 failed [0.30000000000000004] [] 1\n"
                        "2 3 succeeded [\"-inf\"] [] 1\n"
                        "3 2 failed [\"nan\"] [] 1\n");
    must(store_sum_superseded(store, 1, 2, &sum, &err));
    assert_int_equal(sum.count, 2);
    assert_int_equal(sum.attempts, 1);
    assert_int_equal(sum.attempts_succeeded, 0);
    must(store_sum_superseded(store, 1, 3, &sum, &err));
    assert_int_equal(sum.attempts_succeeded, 1);
    must(store_sum_superseded(store, 1, 1, &sum, &err));
    assert_int_equal(sum.count + sum.attempts + sum.attempts_succeeded, 0);
    buf_clear(&rows);
    store_close(store);
}

static void test_store__does_not_reopen_what_is_not_over(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 1);

    end(store, 1, 1, "failed", 1);
    reopen(store, 1);
    must(store_begin(store, &err));
    assert_int_equal(store_reopen_job(store, find_job(store, 1), "ready",
                                      "reopened", 99, &err),
                     -1);
    assert_int_equal(store_reopen_job(store, 77, "ready", "reopened", 99, &err),
                     -1);
    store_rollback(store);
    store_close(store);
}

static int keep_paused(void *user, const struct run_row *row)
{
    *(int64_t *)user = row->paused_ms;
    return 0;
}

static void test_store__remembers_a_pause(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 1);
    int64_t paused_ms = -1;
    char *events;

    must(store_get_run(store, 1, keep_paused, &paused_ms, &err));
    assert_int_equal(paused_ms, 0);
    must(store_begin(store, &err));
    must(store_set_run_paused(store, 1, true, 1234, &err));
    must(store_commit(store, &err));
    must(store_get_run(store, 1, keep_paused, &paused_ms, &err));
    assert_int_equal(paused_ms, 1234);
    must(store_begin(store, &err));
    must(store_set_run_paused(store, 1, false, 2000, &err));
    must(store_commit(store, &err));
    must(store_get_run(store, 1, keep_paused, &paused_ms, &err));
    assert_int_equal(paused_ms, 0);
    events = ask_sqlite(*state, "SELECT group_concat(event || time_ms)"
                                " FROM event WHERE event LIKE 'run_%d'"
                                " AND event <> 'run_created'");
    assert_string_equal(events, "run_paused1234,run_resumed2000");
    free(events);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store__keeps_what_a_reopened_trial_had_come_to),
        STORE_TEST(test_store__does_not_reopen_what_is_not_over),
        STORE_TEST(test_store__remembers_a_pause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
