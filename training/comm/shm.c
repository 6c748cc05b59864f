/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "training/comm/shm_meeting.h"
#include "training/comm/tree.h"

/*
 * Ranks of one host, through memory that they share (shm_meeting.h). Data that
 * is longer than a chunk flows with one meeting a chunk: while the sums of a
 * chunk are made, the next one is put, and the one before taken. Data in the
 * window is neither put nor taken: it is read and written where it lies.
 */

/* Up to here everybody adds up all, which saves a step. */
enum { CHUNK = MEETING_CHUNK_BYTES, SMALL = 16 * 1024, BLOCK_COUNT = 2048 };

struct shm {
    struct comm comm; /* first */
    struct shm_meeting meeting;
    const float **rows; /* [size] */
};

static struct shm *shm_of(struct comm *comm)
{
    return (struct shm *)(void *)comm;
}

static char *buffer_of(const struct shm *shm, int rank, unsigned step)
{
    return shm_meeting_buffer(&shm->meeting, rank, step);
}

static int meet(struct shm *shm, struct err *err)
{
    return shm_meet(&shm->meeting, err);
}

static int meet_first(struct shm *shm, struct err *err)
{
    return shm_meet_first(&shm->meeting, err);
}

/* Data in the window is worked on where it lies. */
static bool is_in_window(struct shm *shm, const void *data)
{
    shm->comm.call.place = shm_meeting_place(&shm->meeting, data);
    return shm->comm.call.place > 0;
}

/* What lies where `data` does in this rank's window. */
static float *row_of(const struct shm *shm, int rank, float *data)
{
    return shm_meeting_row(&shm->meeting, rank, data);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Of count numbers, those that a rank adds up: full cache lines but for the
 * last one's. */
static size_t slice_begin(const struct shm *shm, int rank, size_t count)
{
    size_t lines = (count + 15) / 16;
    size_t begin = lines * (size_t)rank / (size_t)shm->comm.size * 16;

    return begin < count ? begin : count;
}

static int reduce_small(struct shm *shm, float *data, size_t count,
                        struct err *err)
{
    int rank = shm->comm.rank;
    unsigned step = shm->meeting.step + 1;

    memcpy(buffer_of(shm, rank, step), data, count * sizeof(*data));
    if (meet_first(shm, err) != 0)
        return -1;
    for (int i = 0; i < shm->comm.size; i++)
        shm->rows[i] = (const float *)(const void *)buffer_of(shm, i, step);
    comm_tree_sum(data, shm->rows, shm->comm.size, count);
    return 0;
}

/* All but this rank's own slice, which nobody else reads. */
static void put_chunk(const struct shm *shm, const float *data, size_t count,
                      unsigned step)
{
    size_t begin = slice_begin(shm, shm->comm.rank, count);
    size_t end = slice_begin(shm, shm->comm.rank + 1, count);
    float *buffer = (float *)(void *)buffer_of(shm, shm->comm.rank, step);

    memcpy(buffer, data, begin * sizeof(*data));
    memcpy(buffer + end, data + end, (count - end) * sizeof(*data));
}

/* This rank's slice becomes the sum, here and for the others. */
static void sum_chunk(struct shm *shm, float *data, size_t count, unsigned step)
{
    int rank = shm->comm.rank;
    size_t begin = slice_begin(shm, rank, count);
    size_t length = slice_begin(shm, rank + 1, count) - begin;

    for (int i = 0; i < shm->comm.size; i++)
        shm->rows[i] =
            (const float *)(const void *)buffer_of(shm, i, step) + begin;
    shm->rows[rank] = data + begin;
    comm_tree_sum(data + begin, shm->rows, shm->comm.size, length);
    memcpy((float *)(void *)buffer_of(shm, rank, step) + begin, data + begin,
           length * sizeof(*data));
}

static void take_chunk(const struct shm *shm, float *data, size_t count,
                       unsigned step)
{
    for (int i = 0; i < shm->comm.size; i++) {
        size_t begin = slice_begin(shm, i, count);
        size_t end = slice_begin(shm, i + 1, count);
        const float *buffer =
            (const float *)(const void *)buffer_of(shm, i, step);

        if (i != shm->comm.rank)
            memcpy(data + begin, buffer + begin, (end - begin) * sizeof(*data));
    }
}

/* data[count] becomes the sum of all rows, a block at a time, which stays in
 * the cache; with is_for_all so do the rows. */
static void sum_rows(struct shm *shm, float *data, size_t count,
                     bool is_for_all)
{
    int rank = shm->comm.rank, size = shm->comm.size;
    size_t length;

    for (; count > 0; data += length, count -= length) {
        length = least(count, BLOCK_COUNT);
        for (int i = 0; i < size; i++)
            shm->rows[i] = row_of(shm, i, data);
        comm_tree_sum(data, shm->rows, size, length);
        for (int i = 0; is_for_all && i < size; i++) {
            if (i != rank)
                memcpy(row_of(shm, i, data), data, length * sizeof(*data));
        }
    }
}

/* Each rank adds up a slice, for all. */
static int reduce_in_place(struct shm *shm, float *data, size_t count,
                           struct err *err)
{
    size_t begin = slice_begin(shm, shm->comm.rank, count);
    size_t end = slice_begin(shm, shm->comm.rank + 1, count);

    if (meet_first(shm, err) != 0)
        return -1;
    sum_rows(shm, data + begin, end - begin, true);
    return meet(shm, err);
}

static int shm_all_reduce(struct comm *comm, float *data, size_t count,
                          struct err *err)
{
    enum { CHUNK_COUNT = CHUNK / sizeof(float) };
    struct shm *shm = shm_of(comm);
    size_t chunks = (count + CHUNK_COUNT - 1) / CHUNK_COUNT;
    unsigned first =
        shm->meeting.step + 1; /* the step in which chunk 0 is put */

    if (count * sizeof(*data) <= SMALL)
        return reduce_small(shm, data, count, err);
    if (is_in_window(shm, data))
        return reduce_in_place(shm, data, count, err);
    put_chunk(shm, data, least(count, CHUNK_COUNT), first);
    if (meet_first(shm, err) != 0)
        return -1;
    for (size_t i = 0; i < chunks; i++) {
        float *chunk = data + i * CHUNK_COUNT;
        size_t left = count - i * CHUNK_COUNT;
        size_t length = least(left, CHUNK_COUNT);
        unsigned step = first + (unsigned)i;

        sum_chunk(shm, chunk, length, step);
        if (i + 1 < chunks)
            put_chunk(shm, chunk + CHUNK_COUNT,
                      least(left - length, CHUNK_COUNT), step + 1);
        if (meet(shm, err) != 0)
            return -1;
        take_chunk(shm, chunk, length, step);
    }
    return 0;
}

/* In each step a piece of every share: put for those whose it is, each
 * rank's piece at its place in the chunk. */
static int shm_reduce_scatter(struct comm *comm, float *data, size_t share,
                              struct err *err)
{
    struct shm *shm = shm_of(comm);
    int rank = comm->rank;
    size_t most = CHUNK / sizeof(*data) / (size_t)comm->size, done = 0;
    float *own = data + (size_t)rank * share;

    if (is_in_window(shm, data)) {
        if (meet_first(shm, err) != 0)
            return -1;
        sum_rows(shm, own, share, false);
        return meet(shm, err);
    }
    do {
        size_t length = least(share - done, most);
        unsigned step = shm->meeting.step + 1;
        float *buffer = (float *)(void *)buffer_of(shm, rank, step);

        for (int i = 0; i < comm->size; i++) {
            if (i != rank)
                memcpy(buffer + (size_t)i * most,
                       data + (size_t)i * share + done, length * sizeof(*data));
        }
        if ((done == 0 ? meet_first : meet)(shm, err) != 0)
            return -1;
        for (int i = 0; i < comm->size; i++)
            shm->rows[i] =
                (const float *)(const void *)buffer_of(shm, i, step) +
                (size_t)rank * most;
        shm->rows[rank] = own + done;
        comm_tree_sum(own + done, shm->rows, comm->size, length);
        done += length;
    } while (done < share);
    return 0;
}

static int shm_all_gather(struct comm *comm, void *data, size_t share_bytes,
                          struct err *err)
{
    struct shm *shm = shm_of(comm);
    char *bytes = data;
    size_t done = 0;

    do {
        size_t length = least(share_bytes - done, CHUNK);
        unsigned step = shm->meeting.step + 1;

        memcpy(buffer_of(shm, comm->rank, step),
               bytes + (size_t)comm->rank * share_bytes + done, length);
        if ((done == 0 ? meet_first : meet)(shm, err) != 0)
            return -1;
        for (int i = 0; i < comm->size; i++) {
            if (i != comm->rank)
                memcpy(bytes + (size_t)i * share_bytes + done,
                       buffer_of(shm, i, step), length);
        }
        done += length;
    } while (done < share_bytes);
    return 0;
}

static int shm_broadcast(struct comm *comm, void *data, size_t bytes, int root,
                         struct err *err)
{
    struct shm *shm = shm_of(comm);
    size_t done = 0;

    do {
        size_t length = least(bytes - done, CHUNK);
        char *buffer = buffer_of(shm, root, shm->meeting.step + 1);

        if (comm->rank == root)
            memcpy(buffer, (char *)data + done, length);
        if ((done == 0 ? meet_first : meet)(shm, err) != 0)
            return -1;
        if (comm->rank != root)
            memcpy((char *)data + done, buffer, length);
        done += length;
    } while (done < bytes);
    return 0;
}

static int shm_barrier(struct comm *comm, struct err *err)
{
    return meet_first(shm_of(comm), err);
}

static void *shm_window(struct comm *comm, size_t bytes, struct err *err)
{
    return shm_meeting_window(&shm_of(comm)->meeting, bytes, err);
}

static int shm_watch(struct comm *comm, struct err *err)
{
    return shm_meeting_watch(&shm_of(comm)->meeting, err);
}

static void shm_destroy(struct comm *comm)
{
    struct shm *shm = shm_of(comm);

    shm_meeting_close(&shm->meeting);
    free(shm->rows);
    free(shm);
}

static struct comm *shm_create(const struct rendezvous *rendezvous,
                               const struct comm_options *options,
                               struct err *err)
{
    struct shm *shm = mem_zero(sizeof(*shm));

    comm_init(&shm->comm, &comm_shm, rendezvous, options);
    shm->rows = mem_array((size_t)rendezvous->size, sizeof(*shm->rows));
    if (shm_meeting_open(&shm->meeting, &shm->comm, err) == 0)
        return &shm->comm;
    shm_destroy(&shm->comm);
    return NULL;
}

const struct comm_kind comm_shm = {
    .name = "shm",
    .create = shm_create,
    .destroy = shm_destroy,
    .all_reduce = shm_all_reduce,
    .reduce_scatter = shm_reduce_scatter,
    .all_gather = shm_all_gather,
    .broadcast = shm_broadcast,
    .barrier = shm_barrier,
    .window = shm_window,
    .watch = shm_watch,
};
