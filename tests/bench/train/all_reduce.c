/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/compiler.h"
#include "training/comm/comm.h"

/*
 * All-reduce, ours against Open MPI's, in the same processes, turn by turn:
 * `mpirun -n 2 all_reduce`. Ours is of the communicator's window, where the
 * trainer has its gradients; Open MPI's of memory as it is usually had. A line
 * for each size: the median times of the slowest rank, and how many times as
 * fast ours is.
 */

enum { ROUNDS_MAX = 301 };

static const struct {
    size_t bytes;
    int rounds, calls; /* timed; in each of which so many calls */
} cases[] = {
    {4 << 10, 301, 20},  {16 << 10, 301, 20}, {64 << 10, 201, 10},
    {256 << 10, 101, 1}, {1 << 20, 101, 1},   {4 << 20, 61, 1},
    {25 << 20, 31, 1},   {100 << 20, 15, 1},
};

static void fail(const char *text)
{
    fprintf(stderr, "all_reduce: %s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Of one call, as the slowest rank sees it, on what each rank has just written,
 * as it has its gradients. `comm` NULL: Open MPI's. */
static double time_us(struct comm *comm, float *data, size_t count, int calls)
{
    struct err err;
    double start, own, most;

    for (size_t i = 0; i < count; i++)
        data[i] = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    start = now_us();
    for (int i = 0; i < calls; i++) {
        if (comm == NULL)
            MPI_Allreduce(MPI_IN_PLACE, data, (int)count, MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
        else if (comm_all_reduce(comm, data, count, &err) != 0)
            fail(err.text);
    }
    own = (now_us() - start) / calls;
    MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void run_case(struct comm *comm, float *window, size_t bytes, int rounds,
                     int calls)
{
    static double ours[ROUNDS_MAX], theirs[ROUNDS_MAX];
    size_t count = bytes / sizeof(float);
    float *data = malloc(bytes);
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (data == NULL)
        fail("no memory");
    for (int i = -2; i < rounds; i++) {
        double our_us = time_us(comm, window, count, calls);
        double their_us = time_us(NULL, data, count, calls);

        if (i >= 0) {
            ours[i] = our_us;
            theirs[i] = their_us;
        }
    }
    qsort(ours, (size_t)rounds, sizeof(*ours), compare);
    qsort(theirs, (size_t)rounds, sizeof(*theirs), compare);
    if (rank == 0)
        printf("all-reduce ranks=%d kb=%zu ours_us=%.1f openmpi_us=%.1f "
               "times_as_fast=%.2f\n",
               size, bytes >> 10, ours[rounds / 2], theirs[rounds / 2],
               theirs[rounds / 2] / ours[rounds / 2]);
    fflush(stdout);
    free(data);
}

int main(int argc, char **argv)
{
    const struct comm_options options = {.name = argc > 1 ? argv[1] : "auto"};
    struct ranks ranks;
    struct comm *comm;
    float *window;
    struct err err;

    MPI_Init(&argc, &argv);
    if (ranks_read(&ranks, &err) != 0)
        fail(err.text);
    comm = comm_create(&ranks, &options, &err);
    if (comm == NULL)
        fail(err.text);
    window = comm_window(comm, cases[ARRAY_LEN(cases) - 1].bytes, &err);
    if (window == NULL)
        fail(err.text);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        run_case(comm, window, cases[i].bytes, cases[i].rounds, cases[i].calls);
    comm_destroy(comm);
    MPI_Finalize();
    return 0;
}
