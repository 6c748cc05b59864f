/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executors/slurm/slurm_cluster.h"

enum { NEXT = 2 }; /* the attempt that follows has this directory */

static char program[] = "/bin/true";
static char *const argv[] = {program, NULL};

/* Starts attempt 1 with a reserve in the directory of the next one. */
static void start_chain(struct bench *bench)
{
    struct attempt_spec spec = bench_spec(bench, 1);
    struct attempt_spec reserve = bench_spec(bench, NEXT);
    char *directory = bench_path(bench, NEXT, NULL);
    union {
        const char *constant;
        char *owned;
    } made = {.constant = reserve.directory};

    free(made.owned);
    spec.argv = reserve.argv = argv;
    reserve.attempt = -7;
    reserve.directory = directory;
    spec.reserves = &reserve;
    spec.reserve_count = 1;
    assert_int_equal(bench_start(bench, &spec, NULL), START_OK);
    free(directory);
    BENCH_RUN_UNTIL(bench, cluster.submits == 2);
    pass(bench, 3 * POLL_MS, 0);
}

static enum start_result start_next(struct bench *bench)
{
    struct attempt_spec spec = bench_spec(bench, NEXT);

    spec.argv = argv;
    spec.reserve = -7;
    return bench_start(bench, &spec, NULL);
}

static void run_to(struct bench *bench, enum attempt_cause cause)
{
    claim_in(bench, 1, 101, "n1");
    exit_in(bench, 1, cause);
    BENCH_RUN_UNTIL(bench, bench->end_count == 1);
}

static void test_slurm_reserve__waits_behind_its_attempt(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_chain(&bench);
    assert_int_equal(cluster.job_count, 2);
    assert_int_equal(cluster.jobs[1].after, 101);
    assert_non_null(strstr(cluster.jobs[1].name, "-r"));
    assert_non_null(strstr(cluster.script, "'--reserve-of' '"));
    assert_non_null(strstr(cluster.script, "'--engine' '"));
    assert_true(bench_has(&bench, NEXT, "order"));
    assert_int_equal(bench.end_count, 0);
    close_cluster(&bench);
}

static void test_slurm_reserve__is_told_to_go(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_chain(&bench);
    run_to(&bench, CAUSE_TIMEOUT);
    assert_false(bench_has(&bench, NEXT, "go"));
    assert_int_equal(start_next(&bench), START_OK);
    assert_true(bench_has(&bench, NEXT, "go"));
    claim_in(&bench, NEXT, 102, "n2");
    exit_in(&bench, NEXT, CAUSE_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    assert_int_equal(bench_end_of(&bench, NEXT)->cause, CAUSE_OK);
    assert_int_equal(cluster.submits, 2);
    assert_int_equal(cluster.jobs[1].cancels, 0);
    close_cluster(&bench);
}

/* Another end than a time limit: nothing is to follow. */
static void test_slurm_reserve__is_dropped_where_the_chain_ends(void **state)
{
    struct bench bench;
    char *directory;
    struct claim claim;

    (void)state;
    open_cluster(&bench);
    start_chain(&bench);
    run_to(&bench, CAUSE_OK);
    directory = bench_path(&bench, NEXT, NULL);
    assert_int_equal(claim_read(directory, &claim), 1);
    assert_int_equal(claim.pid, 0);
    free(directory);
    BENCH_RUN_UNTIL(&bench, cluster.jobs[1].cancels > 0);
    close_cluster(&bench);
}

/* The run ends before anybody wanted it. */
static void test_slurm_reserve__none_is_left_at_the_end(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_chain(&bench);
    run_to(&bench, CAUSE_TIMEOUT);
    assert_string_equal(cluster.jobs[1].word, "PENDING");
    bench_disconnect(&bench);
    assert_string_equal(cluster.jobs[1].word, "CANCELLED");
    close_cluster(&bench);
}

/* It ran while nobody was there, and ended. */
static void test_slurm_reserve__is_found_by_the_engine_that_comes_back(
    void **state)
{
    struct bench bench;
    struct attempt_exit end = {.attempt = -7, .cause = CAUSE_OK};
    char *directory;

    (void)state;
    open_cluster(&bench);
    start_chain(&bench);
    bench_disconnect(&bench);
    claim_in(&bench, NEXT, 102, "n2");
    directory = bench_path(&bench, NEXT, NULL);
    assert_int_equal(exit_write(directory, &end, NULL), 0);
    free(directory);
    bench_connect(&bench, &slurm_executor_options);
    assert_int_equal(start_next(&bench), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench_end_of(&bench, NEXT)->cause, CAUSE_OK);
    assert_int_equal(cluster.submits, 2);
    close_cluster(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_reserve__waits_behind_its_attempt),
        cmocka_unit_test(test_slurm_reserve__is_told_to_go),
        cmocka_unit_test(test_slurm_reserve__is_dropped_where_the_chain_ends),
        cmocka_unit_test(test_slurm_reserve__none_is_left_at_the_end),
        cmocka_unit_test(
            test_slurm_reserve__is_found_by_the_engine_that_comes_back),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
