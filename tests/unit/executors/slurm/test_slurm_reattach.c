/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executors/slurm/slurm_cluster.h"

/* The engine is killed and comes back, at each step of a submission. */

static int reattach(struct bench *bench, int64_t attempt)
{
    struct attempt_spec spec = bench_spec(bench, attempt);

    return bench_reattach(bench, &spec, NULL);
}

static void restart(struct bench *bench)
{
    bench_disconnect(bench);
    bench_connect(bench, &slurm_executor_options);
}

static void queue_one(struct bench *bench)
{
    open_cluster(bench);
    start_job(bench, 1);
    BENCH_RUN_UNTIL(bench, bench->queue_count == 1);
}

static void test_slurm_reattach__never_submitted(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    assert_int_equal(reattach(&bench, 1), 1);
    assert_true(bench_has(&bench, 1, "claim")); /* nobody can start it now */
    close_cluster(&bench);
}

/* Its `slurm` was written, and Slurm never heard of it. */
static void test_slurm_reattach__killed_before_the_submission(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    cluster.submit_answer = SLURM_SILENT;
    cluster.loses_jobs = true;
    start_job(&bench, 1);
    restart(&bench);
    assert_int_equal(reattach(&bench, 1), 0);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_true(bench.ends[0].is_displaced);
    assert_int_equal(cluster.submits, 1);
    close_cluster(&bench);
}

/* It was submitted, and its id was not heard of. */
static void test_slurm_reattach__killed_before_the_answer(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    restart(&bench); /* the answer was on its way */
    assert_int_equal(cluster.job_count, 1);
    assert_int_equal(reattach(&bench, 1), 0);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    assert_string_equal(bench.handle, "101");
    claim_in(&bench, 1, 101, "n1");
    exit_in(&bench, 1, CAUSE_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_OK);
    assert_int_equal(cluster.submits, 1);
    close_cluster(&bench);
}

static void test_slurm_reattach__one_that_waits(void **state)
{
    struct bench bench;

    (void)state;
    queue_one(&bench);
    restart(&bench);
    assert_int_equal(reattach(&bench, 1), 0);
    pass(&bench, 5 * POLL_MS, 0);
    assert_int_equal(bench.end_count, 0);
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_string_equal(cluster.jobs[0].word, "CANCELLED");
    close_cluster(&bench);
}

static void test_slurm_reattach__one_that_ended_meanwhile(void **state)
{
    struct bench bench;

    (void)state;
    queue_one(&bench);
    claim_in(&bench, 1, 101, "n1");
    bench_disconnect(&bench);
    exit_in(&bench, 1, CAUSE_EXIT);
    bench_connect(&bench, &slurm_executor_options);
    assert_int_equal(reattach(&bench, 1), 0);
    assert_int_equal(bench.end_count, 0); /* not from inside the call */
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_EXIT);
    close_cluster(&bench);
}

static void test_slurm_reattach__one_that_vanished(void **state)
{
    struct bench bench;

    (void)state;
    queue_one(&bench);
    bench_disconnect(&bench);
    cluster.jobs[0].is_hidden = true;
    bench_connect(&bench, &slurm_executor_options);
    assert_int_equal(reattach(&bench, 1), 0);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_true(bench.ends[0].is_displaced);
    close_cluster(&bench);
}

/* Where the engine before could not take it out of the queue. */
static void test_slurm_reattach__one_that_nobody_wants(void **state)
{
    struct bench bench;

    (void)state;
    queue_one(&bench);
    bench_disconnect(&bench);
    bench_connect(&bench, &slurm_executor_options);
    BENCH_RUN_UNTIL(&bench, cluster.jobs[0].cancels > 0);
    assert_int_equal(bench.end_count, 0);
    close_cluster(&bench);
}

static void test_slurm_reattach__tasks_of_an_array(void **state)
{
    struct executor_options options = slurm_executor_options;
    struct bench bench;

    (void)state;
    options.slurm = &slurm_array_options;
    open_cluster_of(&bench, &options);
    for (int i = 1; i <= 3; i++)
        start_job(&bench, i);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 3);
    restart(&bench);
    assert_int_equal(reattach(&bench, 3), 0);
    assert_int_equal(reattach(&bench, 1), 0);
    exit_in(&bench, 3, CAUSE_OK);
    cluster.jobs[0].word = "CANCELLED";
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    assert_int_equal(bench_end_of(&bench, 3)->cause, CAUSE_OK);
    assert_int_equal(bench_end_of(&bench, 1)->cause, CAUSE_CANCELLED);
    close_cluster(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_reattach__never_submitted),
        cmocka_unit_test(test_slurm_reattach__killed_before_the_submission),
        cmocka_unit_test(test_slurm_reattach__killed_before_the_answer),
        cmocka_unit_test(test_slurm_reattach__one_that_waits),
        cmocka_unit_test(test_slurm_reattach__one_that_ended_meanwhile),
        cmocka_unit_test(test_slurm_reattach__one_that_vanished),
        cmocka_unit_test(test_slurm_reattach__one_that_nobody_wants),
        cmocka_unit_test(test_slurm_reattach__tasks_of_an_array),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
