/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "tests/unit/world.h"

/* What becomes of the others when a rank dies, stands still, or does something
 * else: all end, and say who and where. */

static const struct way {
    const char *kind;
    int each;
} ways[] = {{"shm", 0}, {"tcp", 0}, {"ps", 0}, {"auto", 2}};

enum { RANKS = 4, COUNT = 1 << 18, STILL_MS = 6000 };

static int reduce_for_ever(struct comm *comm, struct world *world,
                           struct err *err)
{
    float *data = calloc(COUNT, sizeof(*data));
    int status = 0;

    comm_set_bucket(comm, 3);
    while (status == 0) {
        status = comm_all_reduce(comm, data, COUNT, err);
        atomic_fetch_add(&world->shared->calls, 1);
    }
    free(data);
    return status;
}

static void await_calls(const struct world *world)
{
    while (atomic_load(&world->shared->calls) < 5 * RANKS)
        usleep(1000);
}

/* The rank's own words are first, and these are among the others. */
static void assert_says(const struct world *world, int rank, const char *call,
                        const char *words)
{
    const char *text = world->ends[rank].text;
    char start[64];

    snprintf(start, sizeof(start), "rank %d on host host%d: %s", rank, rank,
             call);
    if (!world->ends[rank].is_done || strstr(text, words) == NULL ||
        strncmp(text, start, strlen(start)) != 0)
        fail_msg("%s, %d a host: rank %d says '%s', not '%s ... %s'",
                 world->kind, world->each, rank, text, start, words);
}

static void test_comm_faults__a_rank_that_dies_is_named(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
        struct world world = {
            .kind = ways[k].kind, .each = ways[k].each, .size = RANKS};

        world_start(&world, reduce_for_ever);
        await_calls(&world);
        kill(world.pids[1], SIGKILL);
        world_wait(&world);
        for (int i = 0; i < RANKS; i++) {
            if (i != 1)
                assert_says(&world, i, "all-reduce ",
                            "rank 1 on host host1 has died");
            if (i != 1)
                assert_says(&world, i, "all-reduce ", ", bucket 3: ");
        }
        world_clear(&world);
    }
}

static void wait_but_for(struct world *world, int rank)
{
    pid_t pid = world->pids[rank];

    world->pids[rank] = 0;
    world_wait(world);
    world->pids[rank] = pid;
}

static void test_comm_faults__a_rank_that_stands_still_is_named(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
        struct world world = {.kind = ways[k].kind,
                              .each = ways[k].each,
                              .size = RANKS,
                              .timeout_ms = STILL_MS};

        world_start(&world, reduce_for_ever);
        await_calls(&world);
        kill(world.pids[2], SIGSTOP);
        wait_but_for(&world, 2);
        kill(world.pids[2], SIGCONT);
        world_wait(&world);
        for (int i = 0; i < RANKS; i++) {
            if (i != 2)
                assert_says(&world, i, "all-reduce ",
                            "rank 2 on host host2 has not come for 6 s");
        }
        assert_says(&world, 2, "all-reduce ", "");
        world_clear(&world);
    }
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

static void test_comm_faults__another_call_is_told(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
        struct world world = {.kind = ways[k].kind,
                              .each = ways[k].each,
                              .size = RANKS,
                              .timeout_ms = STILL_MS};

        world_run(&world, call_differently);
        assert_one_says(&world, "has called something else: ");
        world_clear(&world);
        world_run(&world, call_with_another_size);
        assert_one_says(&world,
                        "rank 3 on host host3 has called something else: "
                        "all-reduce 1, 396 bytes");
        world_clear(&world);
    }
}

static int wait_for_last_words(struct comm *comm, struct world *world,
                               struct err *err)
{
    if (comm_barrier(comm, err) != 0)
        return -1;
    if (world->rank != 2)
        return comm_barrier(comm, err);
    comm_abort(comm, "the loss is nan");
    return 0;
}

static void test_comm_faults__who_gives_up_says_why(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
        struct world world = {
            .kind = ways[k].kind, .each = ways[k].each, .size = RANKS};

        world_run(&world, wait_for_last_words);
        for (int i = 0; i < RANKS; i++) {
            if (i != 2)
                assert_says(&world, i, "barrier 2",
                            "rank 2 on host host2 gave up: the loss is nan");
        }
        world_clear(&world);
    }
}

static int fail_again(struct comm *comm, struct world *world, struct err *err)
{
    if (world->rank == 0) {
        comm_abort(comm, "enough");
        return 0;
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
    assert_says(&world, 1, "barrier 2", "an earlier call has failed");
    world_clear(&world);
}

static int do_nothing(struct comm *comm, struct world *world, struct err *err)
{
    (void)comm;
    (void)world;
    (void)err;
    return 0;
}

static void test_comm_faults__another_number_of_ranks_is_told(void **state)
{
    struct world world = {.kind = "auto", .size = 3, .told_size = {[2] = 5}};

    (void)state;
    world_run(&world, do_nothing);
    for (int i = 0; i < 3; i++) {
        if (strstr(world.ends[i].text,
                   "rank 2 on host host2 was told of 4 "
                   "ranks, rank 0 on host host0 of 3") == NULL)
            fail_msg("rank %d: %s", i, world.ends[i].text);
    }
    world_clear(&world);
}

static void test_comm_faults__two_of_one_number_are_told(void **state)
{
    struct world world = {.kind = "auto", .size = 3, .told_rank = {[2] = 2}};

    (void)state;
    world_run(&world, do_nothing);
    assert_one_says(&world, "two processes are rank 1: one on host host");
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
                   "ranks 1, 3 of 4 have not come in time") == NULL)
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
        cmocka_unit_test(test_comm_faults__another_number_of_ranks_is_told),
        cmocka_unit_test(test_comm_faults__two_of_one_number_are_told),
        cmocka_unit_test(test_comm_faults__who_does_not_come_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
