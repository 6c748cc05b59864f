/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executors/slurm/slurm_cluster.h"

enum { MANY = 10000, WATCH_MS = 6000, REQUESTS_MAX = 32 };

/* However slow the machine is, neither attempt is silent. */
static bool beat_in_both(struct bench *bench)
{
    beat_in(bench, 1);
    beat_in(bench, 2);
    return true;
}

static void test_slurm_watch__a_mute_controller_says_nothing(void **state)
{
    struct bench bench;
    int64_t end_ms;
    int asked;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    start_job(&bench, 2);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 2);
    cluster.list_answer = SLURM_SILENT;
    cluster.jobs[0].is_hidden = true;
    BENCH_RUN_UNTIL(&bench, beat_in_both(&bench) &&
                                strstr(bench.note, "does not answer") != NULL);
    asked = cluster.lists;
    end_ms = clock_monotonic_ms() + 20 * (int64_t)POLL_MS;
    BENCH_RUN_UNTIL(&bench,
                    beat_in_both(&bench) && clock_monotonic_ms() >= end_ms);
    assert_true(cluster.lists - asked <= 6); /* less and less often */
    assert_int_equal(bench.end_count, 0);
    exit_in(&bench, 2, CAUSE_OK); /* files go on telling */
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    cluster.list_answer = SLURM_DONE;
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    assert_true(bench_end_of(&bench, 1)->is_displaced);
    assert_non_null(strstr(bench.note, "answers again"));
    close_cluster(&bench);
}

static void test_slurm_watch__less_often_where_nothing_changes(void **state)
{
    struct bench bench;
    int asked;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    pass(&bench, 20 * POLL_MS, 0);
    asked = cluster.lists;
    pass(&bench, 20 * POLL_MS, 0);
    assert_true(cluster.lists - asked <= 2);
    close_cluster(&bench);
}

/* However short the interval that is asked for, and however many wait, requests
 * other than submissions and cancellations stay below one a second in the long
 * run; at first some may come in a row. */
static void test_slurm_watch__few_requests_for_many(void **state)
{
    struct executor_options options = slurm_executor_options;
    struct bench bench;
    int64_t before;

    (void)state;
    options.slurm = &slurm_array_options;
    options.parallel = MANY;
    open_cluster_of(&bench, &options);
    for (int i = 1; i <= MANY; i++)
        assert_int_equal(start_job(&bench, i), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == MANY);
    assert_int_equal(cluster.submits, MANY / 1001 + 1);
    before = cluster.requests;
    for (int64_t end_ms = clock_monotonic_ms() + WATCH_MS;
         clock_monotonic_ms() < end_ms;) {
        cluster.jobs[clock_monotonic_ms() % MANY].word =
            clock_monotonic_ms() % 2 == 0 ? "RUNNING" : "PENDING";
        uv_run(&bench.loop, UV_RUN_ONCE);
    }
    assert_true(cluster.requests - before <= REQUESTS_MAX);
    close_cluster(&bench);
}

/* A later engine, to which nothing answers, goes by that. */
static void test_slurm_watch__a_limit_of_requests_is_an_answer(void **state)
{
    struct bench bench;
    char *path;

    (void)state;
    open_cluster(&bench);
    bench_close(&bench);
    path = fs_join(state_directory, "slurm/reached");
    unlink(path);
    cluster.describe_answer = SLURM_LATER;
    cluster.list_answer = SLURM_SILENT;
    bench_open(&bench, &slurm_executor_options);
    pass(&bench, 10 * POLL_MS, 0);
    assert_true(fs_exists(path));
    free(path);
    close_cluster(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_watch__a_mute_controller_says_nothing),
        cmocka_unit_test(test_slurm_watch__less_often_where_nothing_changes),
        cmocka_unit_test(test_slurm_watch__a_limit_of_requests_is_an_answer),
        cmocka_unit_test(test_slurm_watch__few_requests_for_many),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
