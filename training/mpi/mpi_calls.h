/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MPI_MPI_CALLS_H
#define SMTUNE_TRAINING_MPI_MPI_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The little that we want of MPI. It is behind a table, because the library
 * differs from host to host, as does what it must be compiled with:
 * smtrain-mpi.so, which the Makefile builds where it finds mpicc, is this file
 * and mpi_calls.c alone, and mpi.c loads it when it is asked for.
 */

struct mpi_way;

/* To or from a rank. Those between two ranks with one tag arrive in order. */
struct mpi_message {
    int rank, tag;
    bool is_out;
    void *bytes;
    size_t count; /* at most MPI_COUNT_MAX */
};

enum { MPI_COUNT_MAX = 1 << 30, MPI_TEXT_MAX = 512 };

struct mpi_calls {
    /* Once in a process. NULL with a text: why not. */
    struct mpi_way *(*start)(int *rank, int *size, char text[MPI_TEXT_MAX]);
    /* Begins all of them; those of the last time must be done. */
    int (*begin)(struct mpi_way *way, const struct mpi_message *messages,
                 int count, char text[MPI_TEXT_MAX]);
    /* 1: all are done; 0: not yet; -1 with a text. */
    int (*test)(struct mpi_way *way, char text[MPI_TEXT_MAX]);
    /* Waits for the others, unless something has failed. */
    void (*end)(struct mpi_way *way, bool has_failed);
};

/* What dlsym finds. */
#define MPI_CALLS_NAME "smtrain_mpi_calls"
extern const struct mpi_calls smtrain_mpi_calls;

#endif
