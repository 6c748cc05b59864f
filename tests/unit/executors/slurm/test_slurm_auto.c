/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
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
    const struct slurm_scene scene = {options, pace, NULL, parallel};
    int choice = slurm_choose(spec, &scene, &why, &err);

    assert_true(choice >= 0);
    assert_int_equal(why != NULL,
                     spec->slurm == NULL && options->ask.mode == NULL);
    return choice;
}

static void test_slurm_auto__several_nodes_take_a_job(void **state)
{
    const struct attempt_spec nodes = {.nodes = 2, .time_ms = MINUTE_MS};
    const struct attempt_spec ranks = {.tasks = 4, .time_ms = MINUTE_MS};
    const struct attempt_spec one = {.time_ms = MINUTE_MS};

    (void)state;
    assert_int_equal(choose(&nodes, &plain, &nothing_seen, 64), SLURM_BY_JOB);
    assert_int_equal(choose(&ranks, &plain, &nothing_seen, 64),
                     choose(&one, &plain, &nothing_seen, 64));
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

/* What trials in one allocation cannot each have makes jobs. */
static void test_slurm_auto__extra_of_a_trial_makes_a_job(void **state)
{
    static const char *const own[] = {"--gres=gpu:a100:2", "--gpus-per-node=1",
                                      "--exclusive",       "--mem-per-cpu=2G",
                                      "--mem-per-gpu=8G",  "--licenses=matlab",
                                      "-Lmatlab",          "--cpus-per-gpu=4",
                                      "--partition=other", "--excl",
                                      "--unheard-of=1"};
    static const char *const shared[] = {
        "--mail-type=FAIL", "--constraint=fast", "-Cfast", "-wn[1-2]", "--nice",
        "--hold",           "--account=lab"};
    const char *extra[] = {"--mail-user=me", NULL};
    const struct slurm_ask ask = {.extra = extra, .extra_count = 2};
    const struct slurm_options options = {.ask = ask};
    const struct slurm_scene scene = {&options, &nothing_seen, NULL, 8};
    const struct attempt_spec spec = {.time_ms = MINUTE_MS};
    const char *why;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        extra[1] = own[i];
        assert_int_equal(slurm_choose(&spec, &scene, &why, NULL), SLURM_BY_JOB);
        assert_non_null(strstr(why, "cannot divide"));
    }
    for (size_t i = 0; i < ARRAY_LEN(shared); i++) {
        extra[1] = shared[i];
        assert_int_equal(slurm_choose(&spec, &scene, &why, NULL),
                         SLURM_BY_PILOT);
    }
}

static void test_slurm_auto__what_leaves_no_time_for_a_pilot_takes_a_job(
    void **state)
{
    char name[] = "short";
    struct slurm_partition partition = {
        .name = name, .is_default = true, .max_time_ms = 2 * MINUTE_MS};
    const struct slurm_site site = {.partitions = &partition,
                                    .partition_count = 1};
    const struct slurm_scene scene = {&plain, &nothing_seen, &site, 8};
    const struct attempt_spec all = {.time_ms = 2 * MINUTE_MS};
    const struct attempt_spec less = {.time_ms = MINUTE_MS};
    const char *why;

    (void)state;
    assert_int_equal(slurm_choose(&all, &scene, &why, NULL), SLURM_BY_JOB);
    assert_int_equal(slurm_choose(&less, &scene, &why, NULL), SLURM_BY_PILOT);
}

static void expect_refused(const struct attempt_spec *spec,
                           const struct slurm_options *options,
                           const char *text)
{
    const struct slurm_scene scene = {options, &nothing_seen, NULL, 8};
    struct err err = {.text = ""};
    const char *why;

    assert_int_equal(slurm_choose(spec, &scene, &why, &err), -1);
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
    const struct attempt_spec ranks = {.tasks = 8};
    const struct attempt_spec gpus = {.gpus = 3};
    const struct attempt_spec memory = {.memory_bytes = 2 << 20};
    const struct attempt_spec length = {.time_ms = 2 * HOUR_MS};

    (void)state;
    expect_refused(&nodes, &options, "needs 2 nodes, and a pilot has one");
    expect_refused(&ranks, &options, "needs 8 CPUs, a pilot has 4");
    expect_refused(&cpus, &options, "needs 5 CPUs, a pilot has 4");
    expect_refused(&gpus, &options, "needs 3 GPUs, a pilot has 2");
    expect_refused(&memory, &options,
                   "needs 2.0 MiB of memory, a pilot has 1.0 MiB");
    expect_refused(&length, &options, "2h 00m is longer than a pilot's time");
    expect_refused(&cpus, &misspelt, "'pilot'");
}

/* A pilot may have a node for itself, but a trial in it may not. */
static void test_slurm_auto__refuses_extra_that_a_pilot_cannot_divide(
    void **state)
{
    static const char *const exclusive[] = {"--exclusive"};
    static const char *const gres[] = {"--gres=gpu:2"};
    const struct slurm_ask own = {.extra = exclusive, .extra_count = 1};
    const struct slurm_options node = {
        .ask = {.mode = "pilot", .extra = exclusive, .extra_count = 1}};
    const struct slurm_options gpus = {
        .ask = {.mode = "pilot", .extra = gres, .extra_count = 1}};
    const struct attempt_spec plain_one = {.cpus = 1};
    const struct attempt_spec alone = {.cpus = 1, .slurm = &own};

    (void)state;
    assert_int_equal(choose(&plain_one, &node, &nothing_seen, 8),
                     SLURM_BY_PILOT);
    expect_refused(&alone, &node, "extra: '--exclusive' is for one trial");
    expect_refused(&plain_one, &gpus, "extra: '--gres=gpu:2' is for one trial");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_auto__several_nodes_take_a_job),
        cmocka_unit_test(test_slurm_auto__a_chain_takes_jobs),
        cmocka_unit_test(test_slurm_auto__the_unknown_is_seen_first),
        cmocka_unit_test(
            test_slurm_auto__what_was_seen_counts_more_than_a_limit),
        cmocka_unit_test(test_slurm_auto__a_slow_queue_is_waited_in_once),
        cmocka_unit_test(test_slurm_auto__what_fits_no_pilot_takes_a_job),
        cmocka_unit_test(test_slurm_auto__the_attempt_says_first),
        cmocka_unit_test(test_slurm_auto__refuses_what_a_pilot_cannot_run),
        cmocka_unit_test(test_slurm_auto__extra_of_a_trial_makes_a_job),
        cmocka_unit_test(
            test_slurm_auto__what_leaves_no_time_for_a_pilot_takes_a_job),
        cmocka_unit_test(
            test_slurm_auto__refuses_extra_that_a_pilot_cannot_divide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
