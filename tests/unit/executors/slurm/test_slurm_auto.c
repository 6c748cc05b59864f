/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "executors/slurm/slurm_impl.h"

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS };

static const struct slurm_pace nothing_seen = {.ended = 0};
static const struct slurm_options plain = {.pilot_max = 0};

static int choose(const struct attempt_spec *spec,
                  const struct slurm_options *options,
                  const struct slurm_pace *pace, int parallel)
{
    struct err err;
    const char *why = "";
    int choice = slurm_choose(spec, options, pace, parallel, &why, &err);

    assert_true(choice >= 0);
    assert_int_equal(why != NULL,
                     spec->slurm == NULL && options->ask.mode == NULL);
    return choice;
}

static void test_slurm_auto__several_nodes_or_tasks_take_a_job(void **state)
{
    const struct attempt_spec nodes = {.nodes = 2, .time_ms = MINUTE_MS};
    const struct attempt_spec tasks = {.tasks = 4, .time_ms = MINUTE_MS};

    (void)state;
    assert_int_equal(choose(&nodes, &plain, &nothing_seen, 64), SLURM_BY_JOB);
    assert_int_equal(choose(&tasks, &plain, &nothing_seen, 64), SLURM_BY_JOB);
}

static void test_slurm_auto__a_chain_takes_jobs(void **state)
{
    const struct attempt_spec next = {.attempt = -1};
    const struct attempt_spec spec = {
        .time_ms = MINUTE_MS, .reserves = &next, .reserve_count = 1};

    (void)state;
    assert_int_equal(choose(&spec, &plain, &nothing_seen, 64), SLURM_BY_JOB);
}

static void test_slurm_auto__the_unknown_is_seen_first(void **state)
{
    const struct attempt_spec spec = {.cpus = 1};
    struct slurm_pace pace = {.ended = 2, .mean_ms = 1000};

    (void)state;
    assert_int_equal(choose(&spec, &plain, &pace, 64), SLURM_BY_ARRAY);
    assert_int_equal(choose(&spec, &plain, &pace, 8), SLURM_BY_JOB);
    pace.ended = 3;
    assert_int_equal(choose(&spec, &plain, &pace, 64), SLURM_BY_PILOT);
    assert_int_equal(choose(&spec, &plain, &pace, 1), SLURM_BY_PILOT);
}

static void test_slurm_auto__what_was_seen_counts_more_than_a_limit(
    void **state)
{
    const struct attempt_spec brief = {.time_ms = MINUTE_MS};
    const struct attempt_spec lengthy = {.time_ms = HOUR_MS};
    const struct slurm_pace quick = {.ended = 9, .mean_ms = 1000};
    const struct slurm_pace slow = {.ended = 9, .mean_ms = 30 * MINUTE_MS};

    (void)state;
    assert_int_equal(choose(&brief, &plain, &nothing_seen, 8), SLURM_BY_PILOT);
    assert_int_equal(choose(&lengthy, &plain, &nothing_seen, 8), SLURM_BY_JOB);
    assert_int_equal(choose(&lengthy, &plain, &quick, 8), SLURM_BY_PILOT);
    assert_int_equal(choose(&lengthy, &plain, &slow, 64), SLURM_BY_ARRAY);
}

static void test_slurm_auto__a_slow_queue_is_waited_in_once(void **state)
{
    const struct attempt_spec spec = {.time_ms = HOUR_MS};
    const struct slurm_pace pace = {
        .ended = 9, .mean_ms = HOUR_MS, .mean_queue_ms = HOUR_MS};

    (void)state;
    assert_int_equal(choose(&spec, &plain, &pace, 8), SLURM_BY_PILOT);
}

static void test_slurm_auto__what_fits_no_pilot_takes_a_job(void **state)
{
    const struct slurm_options options = {.pilot_cpus = 4,
                                          .pilot_time_ms = HOUR_MS};
    const struct slurm_pace quick = {.ended = 9, .mean_ms = 1000};
    const struct attempt_spec wide = {.cpus = 5};
    const struct attempt_spec lengthy = {.cpus = 4, .time_ms = HOUR_MS + 1};
    const struct attempt_spec fits = {.cpus = 4, .time_ms = HOUR_MS};

    (void)state;
    assert_int_equal(choose(&wide, &options, &quick, 8), SLURM_BY_JOB);
    assert_int_equal(choose(&lengthy, &options, &quick, 8), SLURM_BY_JOB);
    assert_int_equal(choose(&fits, &options, &quick, 8), SLURM_BY_PILOT);
}

static void test_slurm_auto__the_attempt_says_first(void **state)
{
    const struct slurm_ask job = {.mode = "job"}, array = {.mode = "array"};
    const struct slurm_options options = {.ask = {.mode = "pilot"}};
    const struct attempt_spec silent = {.cpus = 1};
    const struct attempt_spec as_job = {.cpus = 1, .slurm = &job};
    const struct attempt_spec as_array = {.cpus = 1, .slurm = &array};

    (void)state;
    assert_int_equal(choose(&silent, &options, &nothing_seen, 8),
                     SLURM_BY_PILOT);
    assert_int_equal(choose(&as_job, &options, &nothing_seen, 8), SLURM_BY_JOB);
    assert_int_equal(choose(&as_array, &options, &nothing_seen, 8),
                     SLURM_BY_ARRAY);
}

static void expect_refused(const struct attempt_spec *spec,
                           const struct slurm_options *options,
                           const char *text)
{
    struct err err = {.text = ""};
    const char *why;

    assert_int_equal(slurm_choose(spec, options, &nothing_seen, 8, &why, &err),
                     -1);
    assert_non_null(strstr(err.text, text));
}

static void test_slurm_auto__refuses_what_a_pilot_cannot_run(void **state)
{
    const struct slurm_options options = {.ask = {.mode = "pilot"},
                                          .pilot_cpus = 4,
                                          .pilot_gpus = 2,
                                          .pilot_memory_bytes = 1 << 20,
                                          .pilot_time_ms = HOUR_MS};
    const struct slurm_options misspelt = {.ask = {.mode = "pilto"}};
    const struct attempt_spec nodes = {.nodes = 2}, cpus = {.cpus = 5};
    const struct attempt_spec gpus = {.gpus = 3};
    const struct attempt_spec memory = {.memory_bytes = 2 << 20};
    const struct attempt_spec length = {.time_ms = 2 * HOUR_MS};

    (void)state;
    expect_refused(&nodes, &options, "needs 2 nodes and 1 task, and");
    expect_refused(&cpus, &options, "needs 5 CPUs, a pilot has 4");
    expect_refused(&gpus, &options, "needs 3 GPUs, a pilot has 2");
    expect_refused(&memory, &options,
                   "needs 2.0 MiB of memory, a pilot has 1.0 MiB");
    expect_refused(&length, &options, "2h 00m is longer than a pilot's time");
    expect_refused(&cpus, &misspelt, "'pilot'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_auto__several_nodes_or_tasks_take_a_job),
        cmocka_unit_test(test_slurm_auto__a_chain_takes_jobs),
        cmocka_unit_test(test_slurm_auto__the_unknown_is_seen_first),
        cmocka_unit_test(
            test_slurm_auto__what_was_seen_counts_more_than_a_limit),
        cmocka_unit_test(test_slurm_auto__a_slow_queue_is_waited_in_once),
        cmocka_unit_test(test_slurm_auto__what_fits_no_pilot_takes_a_job),
        cmocka_unit_test(test_slurm_auto__the_attempt_says_first),
        cmocka_unit_test(test_slurm_auto__refuses_what_a_pilot_cannot_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
