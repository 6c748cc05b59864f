/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "orchestrator/ranks/env.h"

static void test_rank_env__names_each_rank(void **state)
{
    struct rank_meeting meeting = {.tasks = 4,
                                   .local_tasks = 4,
                                   .nodes = 1,
                                   .address = "127.0.0.1",
                                   .port = 4711,
                                   .threads = 2};
    struct env_list env = {0};

    (void)state;
    env_list_set(&env, "RANK", "7");
    env_list_set(&env, "SMTUNE_METRICS", "/m");
    rank_env_set(&env, &meeting, 0);
    assert_string_equal(env_list_get(&env, "RANK"), "0");
    assert_string_equal(env_list_get(&env, "SMTUNE_METRICS"), "/m");
    rank_env_set(&env, &meeting, 3);
    assert_string_equal(env_list_get(&env, "RANK"), "3");
    assert_string_equal(env_list_get(&env, "LOCAL_RANK"), "3");
    assert_string_equal(env_list_get(&env, "WORLD_SIZE"), "4");
    assert_string_equal(env_list_get(&env, "LOCAL_WORLD_SIZE"), "4");
    assert_string_equal(env_list_get(&env, "MASTER_ADDR"), "127.0.0.1");
    assert_string_equal(env_list_get(&env, "MASTER_PORT"), "4711");
    assert_string_equal(env_list_get(&env, "OMP_NUM_THREADS"), "2");
    assert_string_equal(env_list_get(&env, "SMTUNE_METRICS"), "/dev/null");
    assert_null(env_list_get(&env, "CUDA_VISIBLE_DEVICES"));
    env_list_clear(&env);
}

static void test_rank_env__leaves_a_choice_of_threads(void **state)
{
    struct rank_meeting meeting = {.tasks = 2, .port = 1, .threads = 2};
    struct env_list env = {0};

    (void)state;
    env_list_set(&env, "OMP_NUM_THREADS", "5");
    rank_env_set(&env, &meeting, 1);
    assert_string_equal(env_list_get(&env, "OMP_NUM_THREADS"), "5");
    assert_null(env_list_get(&env, "SMTUNE_METRICS"));
    env_list_clear(&env);
}

static void test_rank_env__shares_a_trials_cpus(void **state)
{
    struct rank_meeting meeting;
    struct err err;

    (void)state;
    setenv("SMTUNE_CPUS", "6", 1);
    assert_int_equal(rank_meeting_arrange(&meeting, 2, false, &err), 0);
    assert_int_equal(meeting.threads, 3);
    assert_true(meeting.port > 0 && meeting.port < 65536);
    assert_int_equal(rank_meeting_arrange(&meeting, 100, false, &err), 0);
    assert_int_equal(meeting.threads, 1);
    unsetenv("SMTUNE_CPUS");
    assert_int_equal(rank_meeting_arrange(&meeting, 1, false, &err), 0);
    assert_true(meeting.threads >= 1);
}

static void test_rank_env__local_rank_is_a_gpu_that_is_seen(void **state)
{
    static const struct {
        const char *visible, *seen, *local_rank, *local_size;
        bool splits;
    } cases[] = {
        {"0,1,2,3", "2,3", "0", "1", true},
        {"4", "4", "0", "1", true},
        {"GPU-a,GPU-b", "GPU-b", "0", "1", true},
        {"", NULL, "1", "2", true},
        {"0,1,2,3", NULL, "1", "2", false},
        /* of both a process would use the first one */
        {"MIG-a,MIG-b", "MIG-b", "0", "1", false},
        {"MIG-GPU-a/1/0,MIG-GPU-a/2/0", "MIG-GPU-a/2/0", "0", "1", false},
        {"0,MIG-b", "MIG-b", "0", "1", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct rank_meeting meeting = {.tasks = 2,
                                             .local_tasks = 2,
                                             .nodes = 1,
                                             .split_gpus = cases[i].splits};
        struct env_list env = {0};
        const char *seen;

        setenv("CUDA_VISIBLE_DEVICES", cases[i].visible, 1);
        rank_env_set(&env, &meeting, 1);
        seen = env_list_get(&env, "CUDA_VISIBLE_DEVICES");
        assert_true((seen == NULL) == (cases[i].seen == NULL));
        if (seen != NULL)
            assert_string_equal(seen, cases[i].seen);
        assert_string_equal(env_list_get(&env, "RANK"), "1");
        assert_string_equal(env_list_get(&env, "LOCAL_RANK"),
                            cases[i].local_rank);
        assert_string_equal(env_list_get(&env, "LOCAL_WORLD_SIZE"),
                            cases[i].local_size);
        env_list_clear(&env);
    }
    unsetenv("CUDA_VISIBLE_DEVICES");
}

static void test_rank_env__shares_gpus(void **state)
{
    static const struct {
        int tasks, count, rank, first, end;
    } cases[] = {
        {4, 4, 0, 0, 1}, {4, 4, 3, 3, 4}, {2, 4, 1, 2, 4}, {2, 5, 0, 0, 2},
        {2, 5, 1, 2, 5}, {4, 2, 0, 0, 1}, {4, 2, 1, 0, 1}, {4, 2, 2, 1, 2},
        {4, 2, 3, 1, 2}, {3, 1, 2, 0, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int first, end;

        rank_share(cases[i].rank, cases[i].tasks, cases[i].count, &first, &end);
        assert_int_equal(first, cases[i].first);
        assert_int_equal(end, cases[i].end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank_env__names_each_rank),
        cmocka_unit_test(test_rank_env__leaves_a_choice_of_threads),
        cmocka_unit_test(test_rank_env__shares_a_trials_cpus),
        cmocka_unit_test(test_rank_env__local_rank_is_a_gpu_that_is_seen),
        cmocka_unit_test(test_rank_env__shares_gpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
