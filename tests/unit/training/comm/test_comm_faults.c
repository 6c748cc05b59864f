/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "tests/unit/await.h"
#include "tests/unit/training/world.h"
#include "training/comm/nccl_calls.h"
#include "training/ops/backend.h"

/* What becomes of the others when a rank dies, stands still, or does something
 * else: all end, and say who and where. */

static const struct way {
    const char *kind;
    int each;
} ways[] = {{"shm", 0}, {"tcp", 0}, {"ps", 0}, {"nccl", 0}, {"auto", 2}};

enum { RANKS = 4, COUNT = 1 << 18, STILL_MS = 6000 };

static int reduce_for_ever(struct comm *comm, struct world *world,
                           struct err *err)
{
    float *data = calloc(COUNT, sizeof(*data));
    float *window = comm_window(comm, COUNT * sizeof(*data), err);
    int status = window != NULL ? 0 : -1;

    comm_set_bucket(comm, 3);
    for (int i = 0; status == 0; i++) {
        status = comm_all_reduce(comm, i % 2 == 0 ? data : window, COUNT, err);
        atomic_fetch_add(&world->shared->calls, 1);
    }
    free(data);
    return status;
}

static void await_calls(const struct world *world)
{
    AWAIT(atomic_load(&world->shared->calls) >= 5 * RANKS);
}

static void wait_but_for(struct world *world, int rank)
{
    pid_t pid = world->pids[rank];

    world->pids[rank] = 0;
    world_wait(world);
    world->pids[rank] = pid;
}

/* What ranks do, and the signal that one of them gets in the middle of it. */
struct fault {
    world_fn *run;
    void (*check)(struct world *world); /* after all have ended */
    int64_t timeout_ms;                 /* 0: as usual */
    int signal, rank;                   /* 0: none */
};

/* In all ways at once, as most of it is waiting. */
static void try_fault(const struct fault *fault)
{
    struct world worlds[ARRAY_LEN(ways)];

    for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
        worlds[k] = (struct world){.kind = ways[k].kind,
                                   .each = ways[k].each,
                                   .size = RANKS,
                                   .timeout_ms = fault->timeout_ms};
        world_start(&worlds[k], fault->run);
    }
    for (size_t k = 0; k < ARRAY_LEN(ways) && fault->signal != 0; k++) {
        await_calls(&worlds[k]);
        kill(worlds[k].pids[fault->rank], fault->signal);
    }
    for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
        if (fault->signal == SIGSTOP) {
            wait_but_for(&worlds[k], fault->rank);
            kill(worlds[k].pids[fault->rank], SIGCONT);
        }
        world_wait(&worlds[k]);
        fault->check(&worlds[k]);
        world_clear(&worlds[k]);
    }
}

/* The rank's own words are first, and these are among the others. */
static void assert_says(const struct world *world, int rank, const char *call,
                        const char *words)
{
    const char *text = world->ends[rank].text;
    char start[64];

    snprintf(start, sizeof(start), "rank %d on host host%d%s", rank, rank,
             call);
    if (!world->ends[rank].is_done || strstr(text, words) == NULL ||
        strncmp(text, start, strlen(start)) != 0)
        fail_msg("%s, %d a host: rank %d says '%s', not '%s ... %s'",
                 world->kind, world->each, rank, text, start, words);
}

static void assert_others_say(const struct world *world, int rank,
                              const char *call, const char *words)
{
    for (int i = 0; i < world->size; i++) {
        if (i != rank)
            assert_says(world, i, call, words);
    }
}

static void check_killed(struct world *world)
{
    assert_others_say(world, 1, ": all-reduce ",
                      "rank 1 on host host1 crashed or exited");
    assert_others_say(world, 1, ": all-reduce ", ", bucket 3: ");
}

static void test_comm_faults__a_rank_that_dies_is_named(void **state)
{
    (void)state;
    try_fault(&(struct fault){.run = reduce_for_ever,
                              .check = check_killed,
                              .signal = SIGKILL,
                              .rank = 1});
}

static void check_stopped(struct world *world)
{
    assert_others_say(world, 2, ": all-reduce ",
                      "no answer from rank 2 on host host2 for 6 s");
    assert_says(world, 2, ": all-reduce ", "");
}

static void test_comm_faults__a_rank_that_stands_still_is_named(void **state)
{
    (void)state;
    try_fault(&(struct fault){.run = reduce_for_ever,
                              .check = check_stopped,
                              .timeout_ms = STILL_MS,
                              .signal = SIGSTOP,
                              .rank = 2});
}

static int call_differently(struct comm *comm, struct world *world,
                            struct err *err)
{
    float data[100] = {0};

    if (comm_barrier(comm, err) != 0)
        return -1;
    return world->rank == 1 ? comm_broadcast(comm, data, sizeof(data), 0, err)
                            : comm_all_reduce(comm, data, 100, err);
}

static int call_with_another_size(struct comm *comm, struct world *world,
                                  struct err *err)
{
    float data[100] = {0};

    return comm_all_reduce(comm, data, world->rank == 3 ? 99 : 100, err);
}

/* All end, and at least one says this. */
static void assert_one_says(struct world *world, const char *words)
{
    int count = 0;

    for (int i = 0; i < world->size; i++) {
        assert_true(world->ends[i].is_done);
        assert_string_not_equal(world->ends[i].text, "");
        count += strstr(world->ends[i].text, words) != NULL;
    }
    if (count == 0)
        fail_msg("%s, %d a host: nobody says '%s', but '%s'", world->kind,
                 world->each, words, world->ends[0].text);
}

static void check_called_differently(struct world *world)
{
    assert_one_says(world, "made a different call: ");
}

static void check_called_with_another_size(struct world *world)
{
    assert_one_says(world, "rank 3 on host host3 made a different call: "
                           "all-reduce 1, 396 bytes");
}

static void test_comm_faults__another_call_is_told(void **state)
{
    (void)state;
    try_fault(&(struct fault){.run = call_differently,
                              .check = check_called_differently,
                              .timeout_ms = STILL_MS});
    try_fault(&(struct fault){.run = call_with_another_size,
                              .check = check_called_with_another_size,
                              .timeout_ms = STILL_MS});
}

static int give_up_in_the_middle(struct comm *comm, struct world *world,
                                 struct err *err)
{
    if (comm_barrier(comm, err) != 0)
        return -1;
    if (world->rank != 2)
        return comm_barrier(comm, err);
    err_set(err, ERR_FAILED, "the disk is full");
    return comm_give_up(comm, err);
}

static void check_given_up(struct world *world)
{
    assert_others_say(world, 2, ": barrier 2",
                      "rank 2 on host host2 failed: the disk is full");
    assert_says(world, 2, ", after barrier 1: the disk is full", "");
}

static void test_comm_faults__who_gives_up_says_why(void **state)
{
    (void)state;
    try_fault(
        &(struct fault){.run = give_up_in_the_middle, .check = check_given_up});
}

static int fail_again(struct comm *comm, struct world *world, struct err *err)
{
    if (world->rank == 0) {
        err_set(err, ERR_FAILED, "enough");
        return comm_give_up(comm, err);
    }
    if (comm_barrier(comm, err) == 0)
        return err_set(err, ERR_FAILED, "the barrier let rank 1 through");
    return comm_barrier(comm, err);
}

static void test_comm_faults__after_a_failure_all_calls_fail(void **state)
{
    struct world world = {.kind = "auto", .size = 2};

    (void)state;
    world_run(&world, fail_again);
    assert_says(&world, 1, ": barrier 2", "an earlier call failed");
    world_clear(&world);
}

static int do_nothing(struct comm *comm, struct world *world, struct err *err)
{
    (void)comm;
    (void)world;
    (void)err;
    return 0;
}

struct nccl_way {
    int uses;
};

static struct nccl_way *open_way(char device[NCCL_DEVICE_MAX], struct err *err)
{
    (void)err;
    snprintf(device, NCCL_DEVICE_MAX, "a GPU");
    return calloc(1, sizeof(struct nccl_way));
}

static void close_way(struct nccl_way *way)
{
    free(way);
}

static int find_devices(struct comm *comm, struct world *world, struct err *err)
{
    static const struct nccl_calls calls = {.open = open_way,
                                            .close = close_way};
    static const struct backend backend = {.nccl = &calls};

    if (world->rank == 1)
        raise(SIGKILL);
    return comm_use_backend(comm, &backend, NULL, err);
}

/* What the others have opened by then is closed. */
static void test_comm_faults__a_rank_that_dies_before_devices_meet_is_named(
    void **state)
{
    struct world world = {.kind = "nccl", .size = 3};

    (void)state;
    world_start(&world, find_devices);
    world_wait(&world);
    assert_others_say(&world, 1, ": ",
                      "rank 1 on host host1 crashed or exited");
    world_clear(&world);
}

static void test_comm_faults__another_number_of_ranks_is_told(void **state)
{
    struct world world = {.kind = "auto", .size = 3, .told_size = {[2] = 5}};

    (void)state;
    world_run(&world, do_nothing);
    for (int i = 0; i < 3; i++) {
        if (strstr(world.ends[i].text,
                   "rank 2 on host host2 was started for 4 "
                   "ranks, rank 0 on host host0 for 3") == NULL)
            fail_msg("rank %d: %s", i, world.ends[i].text);
    }
    world_clear(&world);
}

static void test_comm_faults__two_of_one_number_are_told(void **state)
{
    struct world world = {.kind = "auto", .size = 3, .told_rank = {[2] = 2}};

    (void)state;
    world_run(&world, do_nothing);
    assert_one_says(&world, "duplicate rank 1: one process on host host");
    world_clear(&world);
}

/* Ranks 1 and 3 are somewhere else: nobody starts them here. */
static void test_comm_faults__who_does_not_come_is_named(void **state)
{
    struct world world = {.kind = "auto",
                          .size = 2,
                          .timeout_ms = STILL_MS,
                          .told_size = {5, 5},
                          .told_rank = {[1] = 3}};

    (void)state;
    world_run(&world, do_nothing);
    for (int i = 0; i < 2; i++) {
        if (strstr(world.ends[i].text,
                   "ranks 1, 3 of 4 did not connect in time") == NULL)
            fail_msg("process %d: %s", i, world.ends[i].text);
    }
    world_clear(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comm_faults__a_rank_that_dies_is_named),
        cmocka_unit_test(test_comm_faults__a_rank_that_stands_still_is_named),
        cmocka_unit_test(test_comm_faults__another_call_is_told),
        cmocka_unit_test(test_comm_faults__who_gives_up_says_why),
        cmocka_unit_test(test_comm_faults__after_a_failure_all_calls_fail),
        cmocka_unit_test(
            test_comm_faults__a_rank_that_dies_before_devices_meet_is_named),
        cmocka_unit_test(test_comm_faults__another_number_of_ranks_is_told),
        cmocka_unit_test(test_comm_faults__two_of_one_number_are_told),
        cmocka_unit_test(test_comm_faults__who_does_not_come_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
