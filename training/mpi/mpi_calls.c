/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/mpi/mpi_calls.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct mpi_way {
    MPI_Comm comm;
    MPI_Request *requests;
    int count, capacity;
};

static int explain(int code, char text[MPI_TEXT_MAX])
{
    char words[MPI_MAX_ERROR_STRING];
    int length;

    MPI_Error_string(code, words, &length);
    snprintf(text, MPI_TEXT_MAX, "%.*s", MPI_TEXT_MAX - 1, words);
    return -1;
}

static struct mpi_way *start(int *rank, int *size, char text[MPI_TEXT_MAX])
{
    struct mpi_way *way;
    int has_begun, level, code;

    MPI_Initialized(&has_begun);
    if (has_begun) {
        snprintf(text, MPI_TEXT_MAX, "already started in this process");
        return NULL;
    }
    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    if (code != MPI_SUCCESS) {
        explain(code, text);
        return NULL;
    }
    way = calloc(1, sizeof(*way));
    if (way == NULL)
        abort();
    MPI_Comm_dup(MPI_COMM_WORLD, &way->comm);
    MPI_Comm_set_errhandler(way->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(way->comm, rank);
    MPI_Comm_size(way->comm, size);
    return way;
}

static int begin(struct mpi_way *way, const struct mpi_message *messages,
                 int count, char text[MPI_TEXT_MAX])
{
    int code = MPI_SUCCESS;

    if (count > way->capacity) {
        free(way->requests);
        way->capacity = count;
        way->requests = calloc((size_t)count, sizeof(*way->requests));
        if (way->requests == NULL)
            abort();
    }
    way->count = 0;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
        const struct mpi_message *it = &messages[i];
        MPI_Request *request = &way->requests[way->count];

        code = it->is_out ? MPI_Isend(it->bytes, (int)it->count, MPI_BYTE,
                                      it->rank, it->tag, way->comm, request)
                          : MPI_Irecv(it->bytes, (int)it->count, MPI_BYTE,
                                      it->rank, it->tag, way->comm, request);
        way->count += code == MPI_SUCCESS;
    }
    return code == MPI_SUCCESS ? 0 : explain(code, text);
}

static int test(struct mpi_way *way, char text[MPI_TEXT_MAX])
{
    int is_done = 0;
    int code =
        MPI_Testall(way->count, way->requests, &is_done, MPI_STATUSES_IGNORE);

    return code == MPI_SUCCESS ? is_done : explain(code, text);
}

static void end(struct mpi_way *way, bool has_failed)
{
    if (!has_failed) {
        MPI_Comm_free(&way->comm);
        MPI_Finalize();
    }
    free(way->requests);
    free(way);
}

const struct mpi_calls smtrain_mpi_calls = {start, begin, test, end};
