/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ranks/seat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"

static const char *const names[] = {
    "SLURM_JOB_ID",        "SLURM_JOB_NUM_NODES",
    "SLURM_STEP_ID",       "SLURM_JOB_NODELIST",
    "SLURMD_NODENAME",     "SLURM_NTASKS",
    "SLURM_PROCID",        "SLURM_LOCALID",
    "SLURM_NODEID",        "SLURM_STEP_NUM_NODES",
    "SLURM_CPUS_ON_NODE",  "SLURM_STEP_TASKS_PER_NODE",
    "SLURM_CPUS_PER_TASK", "SLURM_LAUNCH_NODE_IPADDR",
    "SMTUNE_CPUS",         "SLURM_JOB_CPUS_PER_NODE",
};

static int forget(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unsetenv(names[i]);
    return 0;
}

/* The last rank of five, of a step over two nodes. */
static void set_task(void)
{
    setenv("SLURM_NTASKS", "5", 1);
    setenv("SLURM_PROCID", "4", 1);
    setenv("SLURM_LOCALID", "1", 1);
    setenv("SLURM_NODEID", "1", 1);
    setenv("SLURM_STEP_NUM_NODES", "2", 1);
    setenv("SLURM_STEP_TASKS_PER_NODE", "3,2", 1);
    setenv("SLURM_LAUNCH_NODE_IPADDR", "10.0.0.7", 1);
}

static void test_rank_seat__counts_the_nodes_of_an_allocation(void **state)
{
    (void)state;
    assert_int_equal(rank_seat_nodes(), 1);
    setenv("SLURM_JOB_NUM_NODES", "3", 1);
    assert_int_equal(rank_seat_nodes(), 1);
    setenv("SLURM_JOB_ID", "17", 1);
    assert_int_equal(rank_seat_nodes(), 3);
    setenv("SLURM_STEP_ID", "0", 1);
    assert_int_equal(rank_seat_nodes(), 1);
    setenv("SLURM_STEP_ID", "4294967290", 1); /* salloc's shell */
    assert_int_equal(rank_seat_nodes(), 3);
    setenv("SLURM_JOB_NUM_NODES", "many", 1);
    assert_int_equal(rank_seat_nodes(), 1);
}

static void test_rank_seat__finds_the_first_of_nodes(void **state)
{
    static const struct {
        const char *list, *first;
    } cases[] = {
        {"", ""},
        {"n1", "n1"},
        {"n1,n2", "n1"},
        {"n[1-4]", "n1"},
        {"gpu[007-012,20],x", "gpu007"},
        {"a-b[3,5]c,d", "a-b3c"},
        {"r[1-2]n[5-6]", "r1n5"},
        {"n[1-", "n1"},
    };
    char name[RANK_ADDRESS_MAX], longest[1000] = "";
    int port;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        setenv("SLURM_JOB_NODELIST", cases[i].list, 1);
        assert_int_equal(rank_seat_arrange(name, &port, NULL), 0);
        assert_string_equal(name, cases[i].first);
    }
    memset(longest, 'n', sizeof(longest) - 1);
    setenv("SLURM_JOB_NODELIST", longest, 1);
    assert_int_equal(rank_seat_arrange(name, &port, NULL), 0);
    assert_int_equal(strlen(name), RANK_ADDRESS_MAX - 1);
}

static void test_rank_seat__counts_the_tasks_of_a_node(void **state)
{
    static const struct {
        const char *list;
        int node, tasks;
    } cases[] = {
        {"4", 0, 4},       {"4", 1, 0},       {"3,2", 1, 2},
        {"4(x2),1", 1, 4}, {"4(x2),1", 2, 1}, {"4(x2),1", 3, 0},
        {"", 0, 0},        {"x", 0, 0},       {"4(x", 0, 4},
    };

    (void)state;
    set_task();
    setenv("SLURM_STEP_NUM_NODES", "9", 1);
    setenv("SLURM_LOCALID", "0", 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rank_meeting meeting = {.port = 4711};
        char node[16];

        snprintf(node, sizeof(node), "%d", cases[i].node);
        setenv("SLURM_NODEID", node, 1);
        setenv("SLURM_STEP_TASKS_PER_NODE", cases[i].list, 1);
        assert_int_equal(rank_seat_take(&meeting, NULL),
                         cases[i].tasks > 0 ? 0 : -1);
        assert_int_equal(meeting.local_tasks, cases[i].tasks);
    }
}

static void test_rank_seat__divides_tasks_where_each_node_has_room(void **state)
{
    static const struct {
        const char *cpus, *each;
        int nodes, tasks, share;
    } cases[] = {
        {"4(x2)", NULL, 2, 8, 4},  {"7,1", NULL, 2, 8, 0},
        {"16(x2)", NULL, 2, 8, 4}, {"16(x2)", "4", 2, 8, 4},
        {"16,12", "4", 2, 8, 0},   {"16(x2)", NULL, 2, 5, 3},
        {"2(x3)", NULL, 2, 4, 2},  {"2", NULL, 2, 2, 0},
        {"", NULL, 1, 1, 0},
    };

    (void)state;
    assert_int_equal(rank_seat_share(2, 2), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        setenv("SLURM_JOB_CPUS_PER_NODE", cases[i].cpus, 1);
        if (cases[i].each != NULL)
            setenv("SLURM_CPUS_PER_TASK", cases[i].each, 1);
        else
            unsetenv("SLURM_CPUS_PER_TASK");
        assert_int_equal(rank_seat_share(cases[i].nodes, cases[i].tasks),
                         cases[i].share);
    }
}

static void test_rank_seat__takes_its_place_from_the_step(void **state)
{
    struct rank_meeting meeting = {.port = 4711};
    struct err err;

    (void)state;
    set_task();
    assert_int_equal(rank_seat_take(&meeting, &err), 0);
    assert_int_equal(meeting.tasks, 5);
    assert_int_equal(meeting.local_tasks, 2);
    assert_int_equal(meeting.first, 4);
    assert_int_equal(meeting.first_local, 1);
    assert_int_equal(meeting.nodes, 2);
    assert_int_equal(meeting.node, 1);
    assert_int_equal(meeting.port, 4711);
    assert_int_equal(meeting.threads, 1);
    assert_string_equal(meeting.address, "10.0.0.7");
    setenv("SLURM_CPUS_ON_NODE", "8", 1);
    assert_int_equal(rank_seat_take(&meeting, &err), 0);
    assert_int_equal(meeting.threads, 4);
    setenv("SLURM_CPUS_PER_TASK", "3", 1);
    assert_int_equal(rank_seat_take(&meeting, &err), 0);
    assert_int_equal(meeting.threads, 3);
    setenv("SMTUNE_CPUS", "10", 1);
    assert_int_equal(rank_seat_take(&meeting, &err), 0);
    assert_int_equal(meeting.threads, 2);
}

static void test_rank_seat__refuses_what_is_no_task(void **state)
{
    static const struct {
        const char *name, *value;
    } wrong[] = {
        {"SLURM_PROCID", "5"},      {"SLURM_NTASKS", "x"},
        {"SLURM_NTASKS", "999999"}, {"SLURM_LOCALID", "2"},
        {"SLURM_NODEID", "2"},      {"SLURM_STEP_TASKS_PER_NODE", ""},
    };
    struct rank_meeting meeting;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        set_task();
        meeting = (struct rank_meeting){.port = 1};
        setenv(wrong[i].name, wrong[i].value, 1);
        assert_int_equal(rank_seat_take(&meeting, &err), -1);
        assert_int_equal(err.kind, ERR_USAGE);
    }
}

static void test_rank_seat__meets_on_the_first_node(void **state)
{
    char name[RANK_ADDRESS_MAX];
    struct err err;
    int port;

    (void)state;
    setenv("SLURM_JOB_NODELIST", "n[2-3]", 1);
    assert_int_equal(rank_seat_arrange(name, &port, &err), 0);
    assert_string_equal(name, "n2");
    assert_true(port > 0 && port < 65536);
    setenv("SLURMD_NODENAME", "n2", 1);
    assert_int_equal(rank_seat_arrange(name, &port, &err), 0);
    assert_string_equal(name, "");
}

static void test_rank_seat__nodes_are_hosts_to_ranks(void **state)
{
    struct rank_meeting meeting = {.port = 4711};
    struct env_list env = {0};
    struct err err;

    (void)state;
    set_task();
    assert_int_equal(rank_seat_take(&meeting, &err), 0);
    env_list_set(&env, "SM_HOSTS", "[\"algo-1\"]");
    rank_env_set(&env, &meeting, 0);
    assert_string_equal(env_list_get(&env, "RANK"), "4");
    assert_string_equal(env_list_get(&env, "LOCAL_RANK"), "1");
    assert_string_equal(env_list_get(&env, "WORLD_SIZE"), "5");
    assert_string_equal(env_list_get(&env, "LOCAL_WORLD_SIZE"), "2");
    assert_string_equal(env_list_get(&env, "MASTER_ADDR"), "10.0.0.7");
    assert_string_equal(env_list_get(&env, "SM_CURRENT_HOST"), "algo-2");
    assert_non_null(strstr(env_list_get(&env, "SM_HOSTS"), "algo-2"));
    env_list_set(&env, "SM_HOSTS", "[\"algo-1\",\"algo-2\",\"algo-3\"]");
    env_list_set(&env, "SM_CURRENT_HOST", "algo-3");
    rank_env_set(&env, &meeting, 0);
    assert_string_equal(env_list_get(&env, "SM_CURRENT_HOST"), "algo-3");
    env_list_clear(&env);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(test_rank_seat__##name, forget)
    const struct CMUnitTest tests[] = {
        TEST(counts_the_nodes_of_an_allocation),
        TEST(finds_the_first_of_nodes),
        TEST(counts_the_tasks_of_a_node),
        TEST(divides_tasks_where_each_node_has_room),
        TEST(takes_its_place_from_the_step),
        TEST(refuses_what_is_no_task),
        TEST(meets_on_the_first_node),
        TEST(nodes_are_hosts_to_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
#undef TEST
}
