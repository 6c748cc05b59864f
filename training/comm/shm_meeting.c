/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/shm_meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

/* PAGE: the largest of any machine, that of some with aarch64. */
enum { LINE = 128, SPINS = 2000, YIELDS = 20, PAGE = 65536 };

struct shm_board {
    _Alignas(LINE) atomic_uint step; /* how many it has put its part of */
    atomic_uint waiters;             /* who sleep until that changes */
    atomic_bool has_left;
    cpu_set_t cpus; /* it may run on */
    /* Of the call that began last and of the one before. */
    _Alignas(LINE) struct comm_call calls[2];
};

static long futex(atomic_uint *word, int op, unsigned value, int timeout_ms)
{
    const struct timespec timeout = {timeout_ms / 1000,
                                     timeout_ms % 1000 * 1000000L};

    return syscall(SYS_futex, word, op, value, &timeout, NULL, 0);
}

static bool has_come(const struct shm_board *board, unsigned step)
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

static bool is_dead(const struct shm_meeting *meeting, int rank)
{
    const struct process_hold *peer = &meeting->peers[rank];
    struct pollfd polled = {.fd = peer->fd, .events = POLLIN};

    if (peer->fd >= 0)
        return poll(&polled, 1, 0) == 1;
    return peer->pid > 0 && kill(peer->pid, 0) != 0 && errno == ESRCH;
}

/* What is worth a look when nobody has come for a while. A rank may have come
 * and gone at once, so its board is read last. */
static int look_around(struct shm_meeting *meeting, int rank, unsigned step,
                       struct err *err)
{
    struct shm_board *board = &meeting->boards[rank];
    bool is_gone = is_dead(meeting, rank) || atomic_load(&board->has_left);

    if (comm_check(meeting->comm, err) != 0)
        return -1;
    return is_gone && !has_come(board, step)
               ? comm_say_died(meeting->comm, rank, err)
               : 0;
}

int shm_meeting_watch(struct shm_meeting *meeting, struct err *err)
{
    for (int i = 0; i < meeting->comm->size; i++) {
        if (i != meeting->comm->rank &&
            (is_dead(meeting, i) || atomic_load(&meeting->boards[i].has_left)))
            return comm_say_died(meeting->comm, i, err);
    }
    return 0;
}

static int sleep_until(struct shm_meeting *meeting, int rank, unsigned step,
                       struct err *err)
{
    struct shm_board *board = &meeting->boards[rank];
    int64_t deadline_ms = clock_monotonic_ms() + meeting->comm->timeout_ms;
    int status = 0;

    atomic_fetch_add(&board->waiters, 1);
    while (status == 0 && !has_come(board, step)) {
        unsigned now = atomic_load(&board->step);

        if ((int)(now - step) >= 0)
            break;
        if (futex(&board->step, FUTEX_WAIT, now, COMM_SLICE_MS) == 0 ||
            errno != ETIMEDOUT)
            continue;
        status = look_around(meeting, rank, step, err);
        if (status == 0 && clock_monotonic_ms() >= deadline_ms &&
            !has_come(board, step))
            status = comm_say_late(meeting->comm, rank, err);
    }
    atomic_fetch_sub(&board->waiters, 1);
    return status;
}

static int await(struct shm_meeting *meeting, int rank, unsigned step,
                 struct err *err)
{
    const struct shm_board *board = &meeting->boards[rank];

    for (int i = 0; i < meeting->spins; i++) {
        if (has_come(board, step))
            return 0;
        pause_briefly();
    }
    for (int i = 0; i < YIELDS; i++) {
        if (has_come(board, step))
            return 0;
        sched_yield();
    }
    return sleep_until(meeting, rank, step, err);
}

int shm_meet(struct shm_meeting *meeting, struct err *err)
{
    struct shm_board *own = &meeting->boards[meeting->comm->rank];
    int size = meeting->comm->size;

    atomic_store(&own->step, ++meeting->step);
    if (atomic_load(&own->waiters) > 0)
        futex(&own->step, FUTEX_WAKE, INT_MAX, 0);
    for (int i = 1; i < size; i++) {
        int rank = (meeting->comm->rank + i) % size;

        if (!has_come(&meeting->boards[rank], meeting->step) &&
            await(meeting, rank, meeting->step, err) != 0)
            return -1;
    }
    return 0;
}

int shm_meet_first(struct shm_meeting *meeting, struct err *err)
{
    const struct comm *comm = meeting->comm;

    meeting->boards[comm->rank].calls[++meeting->calls % 2] = comm->call;
    if (shm_meet(meeting, err) != 0)
        return -1;
    for (int i = 0; i < meeting->comm->size; i++) {
        if (comm_compare(meeting->comm, i,
                         &meeting->boards[i].calls[meeting->calls % 2],
                         err) != 0)
            return -1;
    }
    return 0;
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

/* So many bytes of it, from `begin` on; NULL with an error. */
static void *map_part(const struct shm_meeting *meeting, size_t begin,
                      size_t bytes, struct err *err)
{
    int fd = open_memory(meeting->comm->rendezvous, err);
    void *memory = MAP_FAILED;

    if (fd < 0)
        return NULL;
    if (ftruncate(fd, (off_t)(begin + bytes)) == 0)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                      (off_t)begin);
    if (memory == MAP_FAILED)
        err_set_errno(err, ERR_FAILED, errno,
                      "cannot allocate %zu bytes of shared memory", bytes);
    close(fd);
    return memory != MAP_FAILED ? memory : NULL;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static int map_boards(struct shm_meeting *meeting, struct err *err)
{
    size_t size = (size_t)meeting->comm->size;

    meeting->map_bytes =
        whole_pages(size * (sizeof(struct shm_board) +
                            (size_t)MEETING_BUFFERS * MEETING_CHUNK_BYTES));
    meeting->boards = map_part(meeting, 0, meeting->map_bytes, err);
    if (meeting->boards == NULL)
        return -1;
    meeting->buffers = (char *)(meeting->boards + size);
    return 0;
}

void *shm_meeting_window(struct shm_meeting *meeting, size_t bytes,
                         struct err *err)
{
    size_t size = (size_t)meeting->comm->size;

    meeting->window_bytes = whole_pages(bytes);
    meeting->windows = map_part(meeting, meeting->map_bytes,
                                size * meeting->window_bytes, err);
    if (meeting->windows == NULL || shm_meet_first(meeting, err) != 0)
        return NULL;
    return meeting->windows +
           (size_t)meeting->comm->rank * meeting->window_bytes;
}

size_t shm_meeting_place(const struct shm_meeting *meeting, const void *data)
{
    uintptr_t begin = (uintptr_t)meeting->windows +
                      (size_t)meeting->comm->rank * meeting->window_bytes;
    size_t place = (uintptr_t)data - begin;

    return meeting->windows != NULL && place < meeting->window_bytes ? place + 1
                                                                     : 0;
}

/* Only those of one host share memory. */
static int check_places(const struct rendezvous *rendezvous, struct err *err)
{
    const struct rendezvous_peer *peers = rendezvous->peers;

    for (int i = 1; i < rendezvous->size; i++) {
        if (strcmp(peers[i].place, peers[0].place) != 0)
            return err_set(
                err, ERR_FAILED,
                "rank %d on host %s and rank %d on host %s cannot share memory",
                peers[0].rank, peers[0].host, peers[i].rank, peers[i].host);
    }
    return 0;
}

/* Where ranks share cores, who spins keeps away whom it waits for. */
static int choose_spins(const struct shm_meeting *meeting)
{
    cpu_set_t all;

    CPU_ZERO(&all);
    for (int i = 0; i < meeting->comm->size; i++)
        CPU_OR(&all, &all, &meeting->boards[i].cpus);
    return CPU_COUNT(&all) >= meeting->comm->size ? SPINS : 0;
}

int shm_meeting_open(struct shm_meeting *meeting, struct comm *comm,
                     struct err *err)
{
    const struct rendezvous *rendezvous = comm->rendezvous;
    struct shm_board *own;

    *meeting = (struct shm_meeting){.comm = comm};
    meeting->peers = mem_array((size_t)comm->size, sizeof(*meeting->peers));
    for (int i = 0; i < comm->size; i++) {
        if (process_hold(&meeting->peers[i], (pid_t)rendezvous->peers[i].pid) !=
            0)
            meeting->peers[i].pid = 0;
    }
    if (check_places(rendezvous, err) != 0 || map_boards(meeting, err) != 0)
        return -1;
    own = &meeting->boards[comm->rank];
    sched_getaffinity(0, sizeof(own->cpus), &own->cpus);
    if (shm_meet_first(meeting, err) != 0)
        return -1;
    meeting->spins = choose_spins(meeting);
    return 0;
}

void shm_meeting_close(struct shm_meeting *meeting)
{
    if (meeting->boards != NULL) {
        struct shm_board *own = &meeting->boards[meeting->comm->rank];

        atomic_store(&own->has_left, true);
        munmap(meeting->boards, meeting->map_bytes);
    }
    if (meeting->windows != NULL)
        munmap(meeting->windows,
               (size_t)meeting->comm->size * meeting->window_bytes);
    for (int i = 0; i < meeting->comm->size; i++)
        process_hold_release(&meeting->peers[i]);
    free(meeting->peers);
}
