/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executors/slurm/slurm_cluster.h"

static void test_slurm_wave__a_job_goes_its_way(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_cluster(&bench);
    assert_int_equal(start_job(&bench, 1), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.queue_count > 0);
    assert_int_equal(bench.start_count, 0);
    assert_non_null(strstr(cluster.script, "exec '/"));
    assert_non_null(strstr(cluster.script, "'--order' '/tmp/smtune-test-"));
    claim_in(&bench, 1, 101, "n7");
    BENCH_RUN_UNTIL(&bench, bench.start_count == 1);
    assert_int_equal(bench.pids[0], 4001);
    exit_in(&bench, 1, CAUSE_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    end = bench_end_of(&bench, 1);
    assert_int_equal(end->cause, CAUSE_OK);
    assert_string_equal(end->node, "n7");
    assert_int_equal(cluster.submits, 1);
    assert_int_equal(cluster.cancels, 0);
    close_cluster(&bench);
}

static void test_slurm_wave__words_of_a_script_are_quoted(void **state)
{
    static const char beginning[] = "#!/bin/sh\nexec '/";
    struct slurm_options options = slurm_test_options;
    struct executor_options executor = slurm_executor_options;
    struct bench bench;

    (void)state;
    options.health = "it's; $(reboot)";
    executor.slurm = &options;
    open_cluster_of(&bench, &executor);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, cluster.submits == 1);
    assert_ptr_equal(strstr(cluster.script, beginning), cluster.script);
    assert_non_null(strstr(cluster.script, " --health 'it'\\''s; $(reboot)'"));
    close_cluster(&bench);
}

static void test_slurm_wave__arrays_gather_and_are_split(void **state)
{
    struct executor_options options = slurm_executor_options;
    struct bench bench;

    (void)state;
    options.slurm = &slurm_array_options;
    open_cluster_of(&bench, &options);
    cluster.array_max = 3;
    pass(&bench, 20, 0);
    bench_disconnect(&bench);
    bench_connect(&bench, &options); /* asks the cluster anew */
    for (int i = 1; i <= 5; i++)
        assert_int_equal(start_job(&bench, i), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 5);
    assert_int_equal(cluster.submits, 2);
    assert_int_equal(cluster.job_count, 5);
    assert_int_equal(cluster.jobs[4].task, 1);
    for (int i = 1; i <= 5; i++)
        exit_in(&bench, i, CAUSE_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 5);
    close_cluster(&bench);
}

static void test_slurm_wave__one_task_of_an_array_is_cancelled(void **state)
{
    struct executor_options options = slurm_executor_options;
    struct bench bench;

    (void)state;
    options.slurm = &slurm_array_options;
    open_cluster_of(&bench, &options);
    for (int i = 1; i <= 3; i++)
        start_job(&bench, i);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 3);
    executor_cancel(bench.executor, 2, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench_end_of(&bench, 2)->cause, CAUSE_CANCELLED);
    assert_int_equal(cluster.jobs[0].cancels, 0);
    assert_int_equal(cluster.jobs[1].cancels, 1);
    assert_int_equal(cluster.jobs[2].cancels, 0);
    close_cluster(&bench);
}

static void test_slurm_wave__a_refusal_says_why(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    cluster.submit_answer = SLURM_REFUSED;
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LAUNCH_ERROR);
    assert_non_null(
        strstr(bench.ends[0].text, "refused the job: as the test says"));
    close_cluster(&bench);
}

static void test_slurm_wave__a_limit_is_waited_for(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    cluster.submit_answer = SLURM_LATER;
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, strstr(bench.note, "as the test says") != NULL);
    assert_int_equal(start_job(&bench, 2), START_FULL);
    cluster.submit_answer = SLURM_DONE;
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1 && bench.room_count > 0);
    assert_int_equal(bench.end_count, 0);
    assert_int_equal(start_job(&bench, 2), START_OK);
    close_cluster(&bench);
}

static void test_slurm_wave__what_ends_makes_room_at_a_limit(void **state)
{
    struct slurm_options options = slurm_test_options;
    struct executor_options executor = slurm_executor_options;
    struct bench bench;

    (void)state;
    options.poll_ms = 60000;
    executor.slurm = &options;
    open_cluster_of(&bench, &executor);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    cluster.submit_answer = SLURM_LATER;
    start_job(&bench, 2);
    BENCH_RUN_UNTIL(&bench, strstr(bench.note, "as the test says") != NULL);
    cluster.submit_answer = SLURM_DONE;
    claim_in(&bench, 1, 101, "n1");
    exit_in(&bench, 1, CAUSE_OK);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 2);
    close_cluster(&bench);
}

static void test_slurm_wave__a_lost_answer_is_found_by_name(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    cluster.submit_answer = SLURM_SILENT;
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    assert_int_equal(cluster.submits, 1);
    assert_int_equal(cluster.job_count, 1);
    close_cluster(&bench);
}

static void test_slurm_wave__what_never_arrived_is_submitted_again(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    cluster.submit_answer = SLURM_SILENT;
    cluster.loses_jobs = true;
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, cluster.submits == 1);
    cluster.submit_answer = SLURM_DONE;
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    assert_int_equal(cluster.submits, 2);
    assert_true(cluster.lists >= 2);
    close_cluster(&bench);
}

/* The first submission surfaces after the second one. */
static void test_slurm_wave__a_twin_is_cancelled(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    cluster.jobs[1] = cluster.jobs[0];
    cluster.jobs[1].id = 90;
    cluster.job_count = 2;
    BENCH_RUN_UNTIL(&bench, cluster.jobs[1].cancels > 0);
    assert_int_equal(cluster.jobs[0].cancels, 0);
    assert_int_equal(bench.end_count, 0);
    close_cluster(&bench);
}

/* The one that has claimed it counts, whichever that is. */
static void test_slurm_wave__the_twin_with_the_claim_counts(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    cluster.jobs[1] = cluster.jobs[0];
    cluster.jobs[1].id = 90;
    cluster.jobs[1].word = "RUNNING";
    cluster.job_count = 2;
    claim_in(&bench, 1, 90, "n1");
    cluster.jobs[0].word = "COMPLETED"; /* it found the claim */
    pass(&bench, 10 * POLL_MS, 1);
    assert_int_equal(bench.end_count, 0);
    exit_in(&bench, 1, CAUSE_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_OK);
    assert_int_equal(cluster.jobs[1].cancels, 0);
    close_cluster(&bench);
}

/* The controller forgot it, and gave its id to somebody else's. */
static void test_slurm_wave__an_id_alone_proves_nothing(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    snprintf(cluster.jobs[0].name, sizeof(cluster.jobs[0].name), "important");
    cluster.jobs[0].word = "RUNNING";
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_true(bench.ends[0].is_displaced);
    assert_false(bench_has(&bench, 1, "exit"));
    assert_int_equal(cluster.jobs[0].cancels, 0);
    close_cluster(&bench);
}

static void test_slurm_wave__the_accounting_tells_of_what_vanished(void **state)
{
    struct bench bench;

    (void)state;
    memset(&cluster, 0, sizeof(cluster));
    open_cluster(&bench);
    bench_disconnect(&bench);
    cluster.has_accounting = true;
    bench_connect(&bench, &slurm_executor_options);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    claim_in(&bench, 1, 101, "n1");
    BENCH_RUN_UNTIL(&bench, bench.start_count == 1);
    cluster.jobs[0].word = "OUT_OF_MEMORY";
    cluster.jobs[0].is_hidden = true;
    while (bench.end_count == 0)
        pass(&bench, POLL_MS, 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_OOM);
    assert_int_equal(cluster.accounts, 1);
    close_cluster(&bench);
}

static void test_slurm_wave__without_accounting_the_pulse_tells(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    claim_in(&bench, 1, 101, "n1");
    beat_in(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 1);
    cluster.jobs[0].is_hidden = true;
    pass(&bench, 2 * (int64_t)SILENCE_MS, 1);
    assert_int_equal(bench.end_count, 0); /* it beats */
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LOST);
    close_cluster(&bench);
}

static void test_slurm_wave__a_state_that_is_not_known_is_waited_out(
    void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    cluster.jobs[0].word = "TELEPORTING";
    BENCH_RUN_UNTIL(&bench, strstr(bench.note, "TELEPORTING") != NULL);
    pass(&bench, 5 * POLL_MS, 0);
    assert_int_equal(bench.end_count, 0);
    exit_in(&bench, 1, CAUSE_EXIT);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_EXIT);
    close_cluster(&bench);
}

static void test_slurm_wave__what_never_can_start_ends(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    cluster.jobs[0].reason = "PartitionTimeLimit";
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LAUNCH_ERROR);
    assert_non_null(strstr(bench.ends[0].text, "PartitionTimeLimit"));
    BENCH_RUN_UNTIL(&bench, cluster.jobs[0].cancels > 0);
    close_cluster(&bench);
}

/* As Slurm 23.11 without accounting does to each job. */
static void test_slurm_wave__a_reason_of_a_moment_is_no_refusal(void **state)
{
    struct bench bench;
    int lists;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    cluster.jobs[0].reason = "InvalidAccount";
    lists = cluster.lists;
    BENCH_RUN_UNTIL(&bench, cluster.lists > lists + 1);
    cluster.jobs[0].reason = "";
    claim_in(&bench, 1, 101, "n1");
    exit_in(&bench, 1, CAUSE_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_OK);
    assert_int_equal(cluster.cancels, 0);
    close_cluster(&bench);
}

/* -- Ends that Slurm explains ---------------------------------------------*/

static void test_slurm_wave__a_preempted_one_is_displaced(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    claim_in(&bench, 1, 101, "n1");
    exit_in(&bench, 1, CAUSE_CANCELLED); /* it got SIGTERM, not from us */
    pass(&bench, 3 * POLL_MS, 0);
    assert_int_equal(bench.end_count, 0);
    cluster.jobs[0].word = "PREEMPTED";
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_PREEMPTED);
    assert_true(bench.ends[0].is_displaced);
    close_cluster(&bench);
}

static void test_slurm_wave__a_script_that_fails_early_says_so(void **state)
{
    struct bench bench;
    char *path;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    path = mem_printf("%s/slurm/%s/log", state_directory, cluster.jobs[0].name);
    fs_write_atomic(path, "a\nno module\n", 12, 0600, NULL);
    free(path);
    cluster.jobs[0].word = "FAILED";
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LAUNCH_ERROR);
    assert_non_null(strstr(bench.ends[0].text, "no module"));
    close_cluster(&bench);
}

/* -- Cancelling -----------------------------------------------------------*/

static void test_slurm_wave__a_cancellation_is_verified(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    cluster.ignores_cancels = true;
    cluster.cancel_answer = SLURM_SILENT;
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, cluster.jobs[0].cancels >= 2); /* said again */
    assert_int_equal(bench.end_count, 0);
    cluster.ignores_cancels = false;
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_CANCELLED);
    assert_string_equal(cluster.jobs[0].word, "CANCELLED");
    close_cluster(&bench);
}

static void test_slurm_wave__what_runs_gets_a_signal(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    cluster.jobs[0].word = "RUNNING";
    claim_in(&bench, 1, 101, "n1");
    BENCH_RUN_UNTIL(&bench, bench.start_count == 1);
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, cluster.jobs[0].cancels == 1);
    assert_int_equal(cluster.jobs[0].signal, SIGTERM);
    exit_in(&bench, 1, CAUSE_CANCELLED);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_CANCELLED);
    close_cluster(&bench);
}

/* It is not waited for what Slurm may say some day. */
static void test_slurm_wave__a_mute_controller_holds_nobody_up(void **state)
{
    char *first, *second;
    struct bench bench;
    struct claim claim;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    start_job(&bench, 2);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 2);
    first = bench_path(&bench, 1, NULL);
    second = bench_path(&bench, 2, NULL);
    claim_in(&bench, 2, 102, "n1");
    BENCH_RUN_UNTIL(&bench, bench.start_count == 1);
    cluster.list_answer = cluster.cancel_answer = SLURM_SILENT;
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    executor_cancel(bench.executor, 2, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench_end_of(&bench, 1)->cause, CAUSE_CANCELLED);
    assert_int_equal(claim_read(first, &claim), 1);
    assert_int_equal(claim.pid, 0); /* its job will start nothing */
    BENCH_RUN_UNTIL(&bench, pulse_is_marked(second, PULSE_CANCELLED));
    executor_cancel(bench.executor, 2, CANCEL_KILL);
    BENCH_RUN_UNTIL(&bench, pulse_is_marked(second, PULSE_REVOKED));
    exit_in(&bench, 2, CAUSE_CANCELLED);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    free(first);
    free(second);
    close_cluster(&bench);
}

static void test_slurm_wave__cancelled_before_the_answer(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_CANCELLED);
    assert_string_equal(cluster.jobs[0].word, "CANCELLED");
    close_cluster(&bench);
}

/* -- Nodes ----------------------------------------------------------------*/

static void test_slurm_wave__a_silent_node_is_held_for_dead(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    cluster.jobs[0].word = "RUNNING";
    claim_in(&bench, 1, 101, "n3");
    pass(&bench, 2 * (int64_t)SILENCE_MS, 1);
    assert_int_equal(bench.node_count, 0);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_NODE_FAIL);
    assert_string_equal(bench.ends[0].node, "n3");
    assert_string_equal(bench.node, "n3");
    assert_int_equal(bench.trouble, NODE_DIED);
    assert_true(bench_has(&bench, 1, "revoked"));
    BENCH_RUN_UNTIL(&bench, cluster.jobs[0].cancels > 0);
    start_job(&bench, 2);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 2);
    assert_string_equal(cluster.avoid, "n3");
    close_cluster(&bench);
}

/* By an administrator, for example, though it was asked not to. */
static void test_slurm_wave__what_slurm_put_back_is_fenced(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    claim_in(&bench, 1, 101, "n3");
    beat_in(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 1);
    cluster.jobs[0].word = "PENDING";
    bench_await_file(&bench, 1, "revoked");
    BENCH_RUN_UNTIL(&bench, cluster.jobs[0].cancels > 0);
    exit_in(&bench, 1, CAUSE_CANCELLED);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_NODE_FAIL);
    close_cluster(&bench);
}

/* Its daemon died, and what runs there beats on until it sees the mark. */
static void test_slurm_wave__a_failed_node_is_fenced(void **state)
{
    struct bench bench;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    claim_in(&bench, 1, 101, "n3");
    beat_in(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 1);
    cluster.jobs[0].word = "NODE_FAIL";
    bench_await_file(&bench, 1, "revoked");
    assert_int_equal(bench.end_count, 0);
    exit_in(&bench, 1, CAUSE_NODE_FAIL);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_NODE_FAIL);
    assert_string_equal(bench.node, "n3");
    close_cluster(&bench);
}

static void test_slurm_wave__an_unfit_node_is_told_of(void **state)
{
    struct bench bench;
    char *path;

    (void)state;
    open_cluster(&bench);
    start_job(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    path = bench_path(&bench, 1, "unhealthy");
    fs_write_atomic(path, "no disk\n", 8, 0600, NULL);
    free(path);
    cluster.jobs[0].node = "n2";
    cluster.jobs[0].word = "FAILED";
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_true(bench.ends[0].is_displaced);
    assert_int_equal(bench.trouble, NODE_UNHEALTHY);
    assert_string_equal(bench.node, "n2");
    close_cluster(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_wave__a_job_goes_its_way),
        cmocka_unit_test(test_slurm_wave__words_of_a_script_are_quoted),
        cmocka_unit_test(test_slurm_wave__arrays_gather_and_are_split),
        cmocka_unit_test(test_slurm_wave__one_task_of_an_array_is_cancelled),
        cmocka_unit_test(test_slurm_wave__a_refusal_says_why),
        cmocka_unit_test(test_slurm_wave__a_limit_is_waited_for),
        cmocka_unit_test(test_slurm_wave__what_ends_makes_room_at_a_limit),
        cmocka_unit_test(test_slurm_wave__a_lost_answer_is_found_by_name),
        cmocka_unit_test(
            test_slurm_wave__what_never_arrived_is_submitted_again),
        cmocka_unit_test(test_slurm_wave__a_twin_is_cancelled),
        cmocka_unit_test(test_slurm_wave__the_twin_with_the_claim_counts),
        cmocka_unit_test(test_slurm_wave__an_id_alone_proves_nothing),
        cmocka_unit_test(
            test_slurm_wave__the_accounting_tells_of_what_vanished),
        cmocka_unit_test(test_slurm_wave__without_accounting_the_pulse_tells),
        cmocka_unit_test(
            test_slurm_wave__a_state_that_is_not_known_is_waited_out),
        cmocka_unit_test(test_slurm_wave__what_never_can_start_ends),
        cmocka_unit_test(test_slurm_wave__a_reason_of_a_moment_is_no_refusal),
        cmocka_unit_test(test_slurm_wave__a_preempted_one_is_displaced),
        cmocka_unit_test(test_slurm_wave__a_script_that_fails_early_says_so),
        cmocka_unit_test(test_slurm_wave__a_cancellation_is_verified),
        cmocka_unit_test(test_slurm_wave__what_runs_gets_a_signal),
        cmocka_unit_test(test_slurm_wave__a_mute_controller_holds_nobody_up),
        cmocka_unit_test(test_slurm_wave__cancelled_before_the_answer),
        cmocka_unit_test(test_slurm_wave__a_silent_node_is_held_for_dead),
        cmocka_unit_test(test_slurm_wave__what_slurm_put_back_is_fenced),
        cmocka_unit_test(test_slurm_wave__a_failed_node_is_fenced),
        cmocka_unit_test(test_slurm_wave__an_unfit_node_is_told_of),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
