/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "training/comm_impl.h"
#include "training/comm_tree.h"

/*
 * Ranks of one host, through memory that they share: a memory file of the
 * first one's, which the others open by way of /proc, so that it is gone when
 * they are. Nothing else in the system knows of it.
 *
 * Each rank has a board, where it says how many steps it has come to, and
 * BUFFERS buffers of a chunk each, which serve one step after the other. A
 * step is: everybody puts something into its buffer of that step, says so, and
 * waits until all have. What was put there can be read until one has come
 * through the next step; the buffer is written again for the third one after.
 * So data that is longer than a chunk flows with one meeting a chunk: while
 * the sums of a chunk are made, the next one is put, and the one before taken.
 */

enum { BUFFERS = 3, LINE = 128, SPINS = 2000, YIELDS = 20 };

/* A chunk is what stays in a core's own cache. */
enum { CHUNK = 128 * 1024 };
/* Up to here everybody adds up all, which saves a step. */
enum { SMALL = 16 * 1024 };

struct board {
    _Alignas(LINE) atomic_uint step; /* how many it has put its part of */
    atomic_uint waiters;             /* who sleep until that changes */
    atomic_bool has_left;
    cpu_set_t cpus; /* it may run on */
    /* Of the call that began last and of the one before. */
    _Alignas(LINE) struct comm_call calls[2];
};

struct shm {
    struct comm comm; /* first */
    unsigned step;
    unsigned calls;
    int spins;
    struct board *boards; /* [size], in the shared memory */
    char *buffers;        /* [size][BUFFERS][CHUNK] behind them */
    size_t map_bytes;
    int *pidfds;        /* [size]; -1: cannot be watched */
    const float **rows; /* [size] */
};

static struct shm *shm_of(struct comm *comm)
{
    return (struct shm *)(void *)comm;
}

/* A rank's buffer for the step. */
static char *buffer_of(const struct shm *shm, int rank, unsigned step)
{
    return shm->buffers + ((size_t)rank * BUFFERS + step % BUFFERS) * CHUNK;
}

static long futex(atomic_uint *word, int op, unsigned value, int timeout_ms)
{
    const struct timespec timeout = {timeout_ms / 1000,
                                     timeout_ms % 1000 * 1000000L};

    return syscall(SYS_futex, word, op, value, &timeout, NULL, 0);
}

static bool has_come(const struct board *board, unsigned step)
{
    return (int)(atomic_load_explicit(&board->step, memory_order_acquire) -
                 step) >= 0;
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static bool is_dead(const struct shm *shm, int rank)
{
    struct pollfd polled = {.fd = shm->pidfds[rank], .events = POLLIN};

    return polled.fd >= 0 && poll(&polled, 1, 0) == 1;
}

/* What is worth a look when nobody has come for a while. A rank may have come
 * and gone at once, so its board is read last. */
static int look_around(struct shm *shm, int rank, unsigned step,
                       struct err *err)
{
    struct board *board = &shm->boards[rank];
    bool is_gone = is_dead(shm, rank) || atomic_load(&board->has_left);

    if (comm_check(&shm->comm, err) != 0)
        return -1;
    return is_gone && !has_come(board, step)
               ? comm_say_died(&shm->comm, rank, err)
               : 0;
}

static int sleep_until(struct shm *shm, int rank, unsigned step,
                       struct err *err)
{
    struct board *board = &shm->boards[rank];
    int64_t deadline_ms = clock_monotonic_ms() + shm->comm.timeout_ms;
    int status = 0;

    atomic_fetch_add(&board->waiters, 1);
    while (status == 0 && !has_come(board, step)) {
        unsigned now = atomic_load(&board->step);

        if ((int)(now - step) >= 0)
            break;
        if (futex(&board->step, FUTEX_WAIT, now, COMM_SLICE_MS) == 0 ||
            errno != ETIMEDOUT)
            continue;
        status = look_around(shm, rank, step, err);
        if (status == 0 && clock_monotonic_ms() >= deadline_ms &&
            !has_come(board, step))
            status = comm_say_late(&shm->comm, rank, err);
    }
    atomic_fetch_sub(&board->waiters, 1);
    return status;
}

static int await(struct shm *shm, int rank, unsigned step, struct err *err)
{
    const struct board *board = &shm->boards[rank];

    for (int i = 0; i < shm->spins; i++) {
        if (has_come(board, step))
            return 0;
        pause_briefly();
    }
    for (int i = 0; i < YIELDS; i++) {
        if (has_come(board, step))
            return 0;
        sched_yield();
    }
    return sleep_until(shm, rank, step, err);
}

/* Ends a step: what this rank puts is there; waits for what the others do. */
static int meet(struct shm *shm, struct err *err)
{
    struct board *own = &shm->boards[shm->comm.rank];
    int size = shm->comm.size;

    atomic_store(&own->step, ++shm->step);
    if (atomic_load(&own->waiters) > 0)
        futex(&own->step, FUTEX_WAKE, INT_MAX, 0);
    for (int i = 1; i < size; i++) {
        int rank = (shm->comm.rank + i) % size;

        if (!has_come(&shm->boards[rank], shm->step) &&
            await(shm, rank, shm->step, err) != 0)
            return -1;
    }
    return 0;
}

/* The first step of a call: all must have called the same. */
static void announce(struct shm *shm)
{
    shm->boards[shm->comm.rank].calls[++shm->calls % 2] = shm->comm.call;
}

static int meet_first(struct shm *shm, struct err *err)
{
    if (meet(shm, err) != 0)
        return -1;
    for (int i = 0; i < shm->comm.size; i++) {
        if (comm_compare(&shm->comm, i, &shm->boards[i].calls[shm->calls % 2],
                         err) != 0)
            return -1;
    }
    return 0;
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
    unsigned step = shm->step + 1;

    memcpy(buffer_of(shm, rank, step), data, count * sizeof(*data));
    announce(shm);
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

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int shm_all_reduce(struct comm *comm, float *data, size_t count,
                          struct err *err)
{
    enum { CHUNK_COUNT = CHUNK / sizeof(float) };
    struct shm *shm = shm_of(comm);
    size_t chunks = (count + CHUNK_COUNT - 1) / CHUNK_COUNT;
    unsigned first = shm->step + 1; /* the step in which chunk 0 is put */

    if (count * sizeof(*data) <= SMALL)
        return reduce_small(shm, data, count, err);
    put_chunk(shm, data, least(count, CHUNK_COUNT), first);
    announce(shm);
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

    do {
        size_t length = least(share - done, most);
        unsigned step = shm->step + 1;
        float *buffer = (float *)(void *)buffer_of(shm, rank, step);

        for (int i = 0; i < comm->size; i++) {
            if (i != rank)
                memcpy(buffer + (size_t)i * most,
                       data + (size_t)i * share + done, length * sizeof(*data));
        }
        if (done == 0)
            announce(shm);
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
        unsigned step = shm->step + 1;

        memcpy(buffer_of(shm, comm->rank, step),
               bytes + (size_t)comm->rank * share_bytes + done, length);
        if (done == 0)
            announce(shm);
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
        char *buffer = buffer_of(shm, root, shm->step + 1);

        if (comm->rank == root)
            memcpy(buffer, (char *)data + done, length);
        if (done == 0)
            announce(shm);
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
    announce(shm_of(comm));
    return meet_first(shm_of(comm), err);
}

/* The memory of the first rank, as this process can see it. */
static int open_memory(const struct rendezvous *rendezvous, struct err *err)
{
    const struct rendezvous_peer *first = &rendezvous->peers[0];
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%lld/fd/%d", (long long)first->pid,
             first->memory_fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        err_set_errno(err, ERR_FAILED, errno,
                      "cannot share the memory of rank %d on host %s",
                      first->rank, first->host);
    return fd;
}

static int map_memory(struct shm *shm, struct err *err)
{
    size_t size = (size_t)shm->comm.size;
    int fd = open_memory(shm->comm.rendezvous, err);
    void *memory = MAP_FAILED;

    if (fd < 0)
        return -1;
    shm->map_bytes = size * (sizeof(struct board) + (size_t)BUFFERS * CHUNK);
    if (ftruncate(fd, (off_t)shm->map_bytes) == 0)
        memory = mmap(NULL, shm->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                      fd, 0);
    if (memory == MAP_FAILED)
        err_set_errno(err, ERR_FAILED, errno,
                      "cannot have %zu bytes of shared memory", shm->map_bytes);
    close(fd);
    if (memory == MAP_FAILED)
        return -1;
    shm->boards = memory;
    shm->buffers = (char *)memory + size * sizeof(struct board);
    return 0;
}

/* Only those of one host share memory. */
static int check_places(const struct rendezvous *rendezvous, struct err *err)
{
    const struct rendezvous_peer *peers = rendezvous->peers;

    for (int i = 1; i < rendezvous->size; i++) {
        if (strcmp(peers[i].place, peers[0].place) != 0)
            return err_set(err, ERR_FAILED,
                           "rank %d on host %s and rank %d on host %s share no "
                           "memory",
                           peers[0].rank, peers[0].host, peers[i].rank,
                           peers[i].host);
    }
    return 0;
}

/* Where ranks share cores, who spins keeps away whom it waits for. */
static int choose_spins(const struct shm *shm)
{
    cpu_set_t all;

    CPU_ZERO(&all);
    for (int i = 0; i < shm->comm.size; i++)
        CPU_OR(&all, &all, &shm->boards[i].cpus);
    return CPU_COUNT(&all) >= shm->comm.size ? SPINS : 0;
}

static int join(struct shm *shm, struct err *err)
{
    struct board *own;

    if (check_places(shm->comm.rendezvous, err) != 0 ||
        map_memory(shm, err) != 0)
        return -1;
    own = &shm->boards[shm->comm.rank];
    sched_getaffinity(0, sizeof(own->cpus), &own->cpus);
    if (shm_barrier(&shm->comm, err) != 0)
        return -1;
    shm->spins = choose_spins(shm);
    return 0;
}

static void shm_destroy(struct comm *comm)
{
    struct shm *shm = shm_of(comm);

    if (shm->boards != NULL) {
        struct board *own = &shm->boards[comm->rank];

        atomic_store(&own->has_left, true);
        munmap(shm->boards, shm->map_bytes);
    }
    for (int i = 0; i < comm->size; i++) {
        if (shm->pidfds[i] >= 0)
            close(shm->pidfds[i]);
    }
    free(shm->pidfds);
    free(shm->rows);
    free(shm);
}

static struct comm *shm_create(const struct rendezvous *rendezvous,
                               const struct comm_options *options,
                               struct err *err)
{
    struct shm *shm = mem_zero(sizeof(*shm));
    size_t size = (size_t)rendezvous->size;

    comm_init(&shm->comm, &comm_shm, rendezvous, options);
    shm->rows = mem_array(size, sizeof(*shm->rows));
    shm->pidfds = mem_array(size, sizeof(*shm->pidfds));
    for (int i = 0; i < rendezvous->size; i++)
        shm->pidfds[i] =
            (int)syscall(SYS_pidfd_open, (pid_t)rendezvous->peers[i].pid, 0);
    if (join(shm, err) == 0)
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
};
