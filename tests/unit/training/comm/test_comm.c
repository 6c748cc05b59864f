/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/comm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "tests/unit/training/world.h"
#include "training/comm/tree.h"

/* Every kind does every collective, as a loop over all ranks would. */

/* A kind, and how many ranks share a host; 0: all. */
static const struct way {
    const char *kind;
    int each;
} ways[] = {{"shm", 0},  {"tcp", 0},  {"ps", 0},
            {"nccl", 0}, {"auto", 2}, {"auto", 4}};

static const int worlds[] = {1, 2, 3, 4, 5, 7, 8};
static const size_t counts[] = {0, 1, 17, 4096, 40000, 70001};

/* A number of a rank's. Its sums depend on their order. */
static float value_of(int rank, size_t i)
{
    uint32_t bits = (uint32_t)i * 2654435761U + (uint32_t)rank * 40503U;

    return ((float)(bits % 20011U) - 10005) / (float)(1 + bits % 97);
}

static float tree_sum(int first, int n, size_t i)
{
    int m;

    if (n == 1)
        return value_of(first, i);
    m = comm_tree_split(n);
    return tree_sum(first, m, i) + tree_sum(first + m, n - m, i);
}

static int fill(float *data, int rank, size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = value_of(rank, i);
    return 0;
}

static int check_sum(const float *data, size_t first, size_t count, int size,
                     struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        float sum = tree_sum(0, size, first + i);

        if (memcmp(&data[i], &sum, sizeof(sum)) != 0)
            return err_set(err, ERR_FAILED, "%zu of %zu from %zu: %a, not %a",
                           i, count, first, (double)data[i], (double)sum);
    }
    return 0;
}

static int check_all_reduce(struct comm *comm, struct world *world,
                            struct err *err)
{
    for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
        float *data = malloc(counts[c] * sizeof(*data) + 1);
        int status = fill(data, world->rank, counts[c]);

        status = comm_all_reduce(comm, data, counts[c], err);
        if (status == 0)
            status = check_sum(data, 0, counts[c], world->size, err);
        free(data);
        if (status != 0)
            return -1;
    }
    return 0;
}

static int check_reduce_scatter(struct comm *comm, struct world *world,
                                struct err *err)
{
    for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
        size_t share = counts[c] / (size_t)world->size;
        size_t all = share * (size_t)world->size;
        size_t own = share * (size_t)world->rank;
        float *data = malloc(all * sizeof(*data) + 1);
        int status = fill(data, world->rank, all);

        status = comm_reduce_scatter(comm, data, share, err);
        if (status == 0)
            status = check_sum(data + own, own, share, world->size, err);
        free(data);
        if (status != 0)
            return -1;
    }
    return 0;
}

/* In the window, at a place that no vector begins at. */
static int check_window(struct comm *comm, struct world *world, struct err *err)
{
    enum { FIRST = 3, COUNT = 70001 };
    float *data = comm_window(comm, (FIRST + COUNT) * sizeof(*data), err);
    size_t share = COUNT / (size_t)world->size;
    size_t own = share * (size_t)world->rank;

    if (data == NULL)
        return -1;
    for (size_t i = 0; i < FIRST + COUNT; i++) {
        if (memcmp(&data[i], &(float){0}, sizeof(*data)) != 0)
            return err_set(err, ERR_FAILED, "a window begins with zeroes");
    }
    data += FIRST;
    for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
        fill(data, world->rank, counts[c]);
        if (comm_all_reduce(comm, data, counts[c], err) != 0 ||
            check_sum(data, 0, counts[c], world->size, err) != 0)
            return -1;
    }
    fill(data, world->rank, COUNT);
    return comm_reduce_scatter(comm, data, share, err) != 0
               ? -1
               : check_sum(data + own, own, share, world->size, err);
}

static unsigned char byte_of(int rank, size_t i)
{
    return (unsigned char)((size_t)rank * 31 + i * 7 + i / 251);
}

static int check_all_gather(struct comm *comm, struct world *world,
                            struct err *err)
{
    for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
        size_t share = counts[c];
        unsigned char *data = calloc((size_t)world->size, share + 1);
        int status;

        for (size_t i = 0; i < share; i++)
            data[(size_t)world->rank * share + i] = byte_of(world->rank, i);
        status = comm_all_gather(comm, data, share, err);
        for (size_t i = 0; status == 0 && i < share * (size_t)world->size;
             i++) {
            if (data[i] != byte_of((int)(i / share), i % share))
                status = err_set(err, ERR_FAILED, "gathered %zu is wrong", i);
        }
        free(data);
        if (status != 0)
            return -1;
    }
    return 0;
}

static int check_broadcast(struct comm *comm, struct world *world,
                           struct err *err)
{
    for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
        int root = (int)c % world->size, status;
        unsigned char *data = malloc(counts[c] + 1);

        for (size_t i = 0; i < counts[c]; i++)
            data[i] = byte_of(world->rank, i);
        status = comm_broadcast(comm, data, counts[c], root, err);
        for (size_t i = 0; status == 0 && i < counts[c]; i++) {
            if (data[i] != byte_of(root, i))
                status = err_set(err, ERR_FAILED, "received %zu is wrong", i);
        }
        free(data);
        if (status != 0 || comm_barrier(comm, err) != 0)
            return -1;
    }
    return 0;
}

static int check_all(struct comm *comm, struct world *world, struct err *err)
{
    if (check_all_reduce(comm, world, err) != 0 ||
        check_reduce_scatter(comm, world, err) != 0 ||
        check_broadcast(comm, world, err) != 0 ||
        check_window(comm, world, err) != 0)
        return -1;
    return check_all_gather(comm, world, err);
}

static void test_comm__every_kind_does_every_collective(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
        for (size_t w = 0; w < ARRAY_LEN(worlds); w++)
            world_run_well((struct world){.kind = ways[k].kind,
                                          .each = ways[k].each,
                                          .size = worlds[w]},
                           check_all);
    }
}

static int reduce_long(struct comm *comm, struct world *world, struct err *err)
{
    size_t count = 1100003;
    float *data = malloc(count * sizeof(*data));
    int status = fill(data, world->rank, count);

    status = comm_all_reduce(comm, data, count, err);
    if (status == 0)
        status = check_sum(data, 0, count, world->size, err);
    free(data);
    return status;
}

static void test_comm__every_kind_adds_up_a_million_numbers(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(ways); k++)
        world_run_well((struct world){.kind = ways[k].kind,
                                      .each = ways[k].each,
                                      .size = 4},
                       reduce_long);
}

/* Each rank has added up the shares of `each` of eight. */
static int reduce_shares(struct comm *comm, struct world *world,
                         struct err *err)
{
    enum { COUNT = 5000 };
    static float data[COUNT];
    int each = 8 / world->size, status;

    for (size_t i = 0; i < COUNT; i++)
        data[i] = tree_sum(world->rank * each, each, i);
    status = comm_all_reduce(comm, data, COUNT, err);
    return status == 0 ? check_sum(data, 0, COUNT, 8, err) : -1;
}

static void test_comm__any_number_of_ranks_comes_to_the_same_sums(void **state)
{
    static const int sizes[] = {1, 2, 4, 8};

    (void)state;
    for (size_t w = 0; w < ARRAY_LEN(sizes); w++) {
        world_run_well((struct world){.kind = "auto", .size = sizes[w]},
                       reduce_shares);
    }
}

static int many_small(struct comm *comm, struct world *world, struct err *err)
{
    for (int i = 0; i < 1000; i++) {
        size_t count = (size_t)(i % 7) * 100;
        float data[600];

        fill(data, world->rank, count);
        if (comm_all_reduce(comm, data, count, err) != 0 ||
            check_sum(data, 0, count, world->size, err) != 0)
            return -1;
    }
    return 0;
}

static void test_comm__thousands_of_calls_stay_in_step(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(ways); k++)
        world_run_well((struct world){.kind = ways[k].kind,
                                      .each = ways[k].each,
                                      .size = 4},
                       many_small);
}

/* Rank 1 keeps to memory of its own. */
static int part_ways(struct comm *comm, struct world *world, struct err *err)
{
    enum { COUNT = 5000 };
    static float own[COUNT];
    float *window = comm_window(comm, sizeof(own), err);

    return window == NULL
               ? -1
               : comm_all_reduce(comm, world->rank == 1 ? own : window, COUNT,
                                 err);
}

static void test_comm__windows_are_used_by_all_or_none(void **state)
{
    struct world world = {.kind = "shm", .size = 3};

    (void)state;
    world_run(&world, part_ways);
    for (int i = 0; i < world.size; i++) {
        assert_non_null(strstr(world.ends[i].text, "made a different call"));
    }
    world_clear(&world);
}

static int tell_name(struct comm *comm, struct world *world, struct err *err)
{
    (void)world;
    return err_set(err, ERR_FAILED, "%s %d of %d", comm_name(comm),
                   comm_local_rank(comm), comm_local_size(comm));
}

static void test_comm__the_kind_fits_the_hosts(void **state)
{
    static const struct {
        int size, each;
        const char *last; /* what the last rank says */
    } cases[] = {{3, 0, "shm 2 of 3"},    {2, 1, "tcp 0 of 1"},
                 {4, 2, "hybrid 1 of 2"}, {8, 4, "hybrid 3 of 4"},
                 {6, 3, "tcp 2 of 3"},    {5, 2, "tcp 0 of 1"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world world = {
            .kind = "auto", .size = cases[i].size, .each = cases[i].each};

        world_run(&world, tell_name);
        assert_string_equal(world.ends[world.size - 1].text, cases[i].last);
        world_clear(&world);
    }
}

static void test_comm__an_unknown_kind_is_told_the_nearest(void **state)
{
    const struct ranks ranks = {.size = 1, .host = "here"};
    struct err err;

    (void)state;
    assert_null(
        comm_create(&ranks, &(struct comm_options){.name = "smh"}, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.text, "shm"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comm__every_kind_does_every_collective),
        cmocka_unit_test(test_comm__every_kind_adds_up_a_million_numbers),
        cmocka_unit_test(test_comm__any_number_of_ranks_comes_to_the_same_sums),
        cmocka_unit_test(test_comm__thousands_of_calls_stay_in_step),
        cmocka_unit_test(test_comm__windows_are_used_by_all_or_none),
        cmocka_unit_test(test_comm__the_kind_fits_the_hosts),
        cmocka_unit_test(test_comm__an_unknown_kind_is_told_the_nearest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
