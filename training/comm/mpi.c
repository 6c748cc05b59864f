/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "training/comm/wire.h"
#include "training/mpi/mpi_calls.h"

/*
 * Over an MPI library, which knows networks that we do not. It takes messages;
 * what is sent to whom, and in which order it is added up, is as over TCP.
 */

/* Looks between two at what else may have happened. */
enum { LOOKS = 256, PARTS = 4 };

struct mpi {
    struct wire wire; /* first */
    void *library;
    const struct mpi_calls *calls;
    struct mpi_way *way;
    struct mpi_message *messages; /* [PARTS * size] */
};

static struct mpi *mpi_of(struct comm *comm)
{
    return (struct mpi *)(void *)comm;
}

enum { TAG_CALL, TAG_DATA };

static int begin(struct mpi *mpi, struct transfer *transfers, int count,
                 struct err *err)
{
    struct comm_call *call = &mpi->wire.comm.call;
    char text[MPI_TEXT_MAX];
    int used = 0;

    for (int i = 0; i < count; i++) {
        struct transfer *it = &transfers[i];
        void *out = (void *)(uintptr_t)it->out;

        if (it->out_bytes > MPI_COUNT_MAX || it->in_bytes > MPI_COUNT_MAX)
            return err_set(err, ERR_FAILED, "more than 1 GiB for one rank");
        if (it->receives) {
            mpi->messages[used++] = (struct mpi_message){
                it->rank, TAG_CALL, false, &it->theirs, sizeof(it->theirs)};
            mpi->messages[used++] = (struct mpi_message){
                it->rank, TAG_DATA, false, it->in, it->in_bytes};
        }
        if (it->sends) {
            mpi->messages[used++] = (struct mpi_message){
                it->rank, TAG_CALL, true, call, sizeof(*call)};
            mpi->messages[used++] = (struct mpi_message){
                it->rank, TAG_DATA, true, out, it->out_bytes};
        }
    }
    return mpi->calls->begin(mpi->way, mpi->messages, used, text) == 0
               ? 0
               : err_set(err, ERR_FAILED, "mpi: %s", text);
}

/* Those that have come, which is where a call has a number. */
static int compare(struct mpi *mpi, const struct transfer *transfers, int count,
                   struct err *err)
{
    for (int i = 0; i < count; i++) {
        const struct transfer *it = &transfers[i];

        if (it->receives && it->theirs.number != 0 &&
            comm_compare(&mpi->wire.comm, it->rank, &it->theirs, err) != 0)
            return -1;
    }
    return 0;
}

static int look_around(struct mpi *mpi, const struct transfer *transfers,
                       int count, int64_t deadline_ms, struct err *err)
{
    if (compare(mpi, transfers, count, err) != 0 ||
        comm_check(&mpi->wire.comm, err) != 0)
        return -1;
    if (clock_monotonic_ms() < deadline_ms)
        return 0;
    for (int i = 0; i < count; i++) {
        if (transfers[i].receives && transfers[i].theirs.number == 0)
            return comm_say_late(&mpi->wire.comm, transfers[i].rank, err);
    }
    return comm_say_late(&mpi->wire.comm, transfers[0].rank, err);
}

static int mpi_run(struct wire *wire, struct transfer *transfers, int count,
                   struct err *err)
{
    struct mpi *mpi = mpi_of(&wire->comm);
    int64_t deadline_ms = clock_monotonic_ms() + wire->comm.timeout_ms;
    char text[MPI_TEXT_MAX];
    int status = 0;

    if (begin(mpi, transfers, count, err) != 0)
        return -1;
    for (int looks = 1; status == 0; looks++) {
        status = mpi->calls->test(mpi->way, text);
        if (status == 0)
            sched_yield();
        if (status == 0 && looks % LOOKS == 0 &&
            look_around(mpi, transfers, count, deadline_ms, err) != 0)
            return -1;
    }
    if (compare(mpi, transfers, count, err) != 0)
        return -1;
    return status > 0 ? 0 : err_set(err, ERR_FAILED, "mpi: %s", text);
}

static int load(struct mpi *mpi, struct err *err)
{
    char *folder = fs_program_directory();
    char *path = fs_join(folder, "smtrain-mpi.so");

    if (fs_exists(path))
        mpi->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    else
        err_set(err, ERR_FAILED,
                "smtrain was built without mpi: no such file '%s' (build it "
                "with mpicc: make MPI=yes)",
                path);
    if (mpi->library != NULL)
        mpi->calls = dlsym(mpi->library, MPI_CALLS_NAME);
    else if (fs_exists(path))
        err_set(err, ERR_FAILED, "cannot load mpi: %s", dlerror());
    free(path);
    free(folder);
    if (mpi->library != NULL && mpi->calls == NULL)
        err_set(err, ERR_FAILED,
                "smtrain-mpi.so is from another version: run make again");
    return mpi->calls != NULL ? 0 : -1;
}

static int join(struct mpi *mpi, struct err *err)
{
    const struct comm *comm = &mpi->wire.comm;
    char text[MPI_TEXT_MAX];
    int rank = 0, size = 0;

    /* By itself, MPI would start a world of one. */
    if (getenv("OMPI_COMM_WORLD_SIZE") == NULL && getenv("PMI_SIZE") == NULL &&
        getenv("PMIX_RANK") == NULL)
        return err_set(err, ERR_FAILED,
                       "mpi needs ranks started by mpirun: mpirun -n %d",
                       comm->size);
    mpi->way = mpi->calls->start(&rank, &size, text);
    if (mpi->way == NULL)
        return err_set(err, ERR_FAILED, "mpi: %s", text);
    if (rank != comm->rank || size != comm->size)
        return err_set(err, ERR_FAILED, "rank %d of %d is rank %d of %d in mpi",
                       comm->rank, comm->size, rank, size);
    return 0;
}

static void mpi_destroy(struct comm *comm)
{
    struct mpi *mpi = mpi_of(comm);

    if (mpi->way != NULL)
        mpi->calls->end(mpi->way, comm->is_broken);
    /* The library stays: what it has started may still run. */
    free(mpi->messages);
    wire_clear(&mpi->wire);
    free(mpi);
}

static struct comm *mpi_create(const struct rendezvous *rendezvous,
                               const struct comm_options *options,
                               struct err *err)
{
    struct mpi *mpi = mem_zero(sizeof(*mpi));
    struct comm *comm = &mpi->wire.comm;

    comm_init(comm, &comm_mpi, rendezvous, options);
    mpi->messages =
        mem_array((size_t)comm->size * PARTS, sizeof(*mpi->messages));
    if (wire_init(&mpi->wire, mpi_run, options, err) == 0 &&
        load(mpi, err) == 0 && join(mpi, err) == 0)
        return comm;
    comm->is_broken = true;
    mpi_destroy(comm);
    return NULL;
}

const struct comm_kind comm_mpi = {
    .name = "mpi",
    .create = mpi_create,
    .destroy = mpi_destroy,
    .all_reduce = wire_all_reduce,
    .reduce_scatter = wire_reduce_scatter,
    .all_gather = wire_all_gather,
    .broadcast = wire_broadcast,
    .barrier = wire_barrier,
};
