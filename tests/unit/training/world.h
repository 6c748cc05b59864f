/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_TRAINING_WORLD_H
#define SMTUNE_TESTS_UNIT_TRAINING_WORLD_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tests/unit/await.h"
#include "training/comm/comm_impl.h"

/* Ranks as processes that a test forks. */

enum { WORLD_MAX = 16, WORLD_LIMIT_MS = 90 * 1000 };

struct world_end {
    char text[ERR_TEXT_MAX]; /* of the error, "": none */
    bool is_done;            /* else it was killed */
};

struct world_shared {
    struct world_end ends[WORLD_MAX];
    atomic_int calls; /* that ranks have come through */
};

struct world;

/* What a rank does: -1 with an error. */
typedef int world_fn(struct comm *comm, struct world *world, struct err *err);

struct world {
    const char *kind;
    int size;
    int each;           /* ranks that share a host; 0: all */
    int64_t timeout_ms; /* 0: as usual */
    int told_size[WORLD_MAX], told_rank[WORLD_MAX]; /* plus 1; 0: the truth */
    const void *user;                               /* of what the ranks do */
    /* Of what runs: */
    world_fn *run;
    int rank;
    pid_t pids[WORLD_MAX];
    int held, port; /* a socket that keeps the port */
    struct world_shared *shared;
    struct world_end *ends; /* [size], in shared */
};

/* What a process does that is a rank, with no communicator yet. */
typedef void world_process(struct world *world, struct err *err);

/* Bound but not listening: nobody is given the port, and rank 0 may still
 * listen there. */
static inline int world_hold_port(int *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    getsockname(fd, (struct sockaddr *)&address, &length);
    *port = ntohs(address.sin_port);
    return fd;
}

static inline int world_count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* As comm_create, but where so many ranks are said to share a host. */
static inline struct comm *world_create(const struct world *world,
                                        const struct ranks *ranks,
                                        struct err *err)
{
    const struct comm_options options = {
        .name = world->kind,
        .timeout_ms = world->timeout_ms > 0 ? world->timeout_ms : 60 * 1000};
    struct rendezvous *rendezvous;

    if (world->each == 0 || world->size == 1)
        return comm_create(ranks, &options, err);
    rendezvous = rendezvous_hold(ranks, "", options.timeout_ms, err);
    for (int i = 0; rendezvous != NULL && i < world->size; i++)
        snprintf(rendezvous->peers[i].place, RENDEZVOUS_PLACE_MAX, "%d",
                 i / world->each);
    return rendezvous == NULL ? NULL
                              : comm_create_met(rendezvous, &options, err);
}

static inline void world_meet(struct world *world, struct err *err)
{
    struct ranks ranks = {.rank = world->rank,
                          .size = world->size,
                          .address = "127.0.0.1",
                          .port = world->port};
    struct comm *comm;

    if (world->told_size[world->rank] > 0)
        ranks.size = world->told_size[world->rank] - 1;
    if (world->told_rank[world->rank] > 0)
        ranks.rank = world->told_rank[world->rank] - 1;
    snprintf(ranks.host, sizeof(ranks.host), "host%d", world->rank);
    comm = world_create(world, &ranks, err);
    if (comm != NULL)
        world->run(comm, world, err);
    comm_destroy(comm);
}

static inline void world_be_rank(struct world *world, world_process *be)
{
    struct world_end *end = &world->ends[world->rank];
    int files = world_count_files();
    struct err err = {.text = ""};

    be(world, &err);
    if (world_count_files() != files)
        err_prefix(&err, "files left open");
    snprintf(end->text, sizeof(end->text), "%s", err.text);
    end->is_done = true;
    _exit(0);
}

static inline void world_fork(struct world *world, world_process *be)
{
    world->shared = mmap(NULL, sizeof(*world->shared), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(world->shared, MAP_FAILED);
    world->ends = world->shared->ends;
    world->held = world_hold_port(&world->port);
    for (int i = 0; i < world->size; i++) {
        world->rank = i;
        world->pids[i] = fork();
        assert_true(world->pids[i] >= 0);
        if (world->pids[i] == 0)
            world_be_rank(world, be);
    }
}

static inline void world_start(struct world *world, world_fn *run)
{
    world->run = run;
    world_fork(world, world_meet);
}

static inline bool world_has_ended(pid_t pid, int64_t deadline_ms)
{
    if (waitpid(pid, NULL, WNOHANG) != 0)
        return true;
    if (clock_monotonic_ms() > deadline_ms)
        kill(pid, SIGKILL);
    return false;
}

/* Waits for all; who has not ended by then is killed, and seen as not done. */
static inline void world_wait(struct world *world)
{
    int64_t deadline_ms = clock_monotonic_ms() + WORLD_LIMIT_MS;

    for (int i = 0; i < world->size; i++) {
        if (world->pids[i] > 0)
            AWAIT(world_has_ended(world->pids[i], deadline_ms));
        world->pids[i] = 0;
    }
}

static inline void world_clear(struct world *world)
{
    close(world->held);
    munmap(world->shared, sizeof(*world->shared));
}

static inline void world_run(struct world *world, world_fn *run)
{
    world_start(world, run);
    world_wait(world);
    for (int i = 0; i < world->size; i++)
        assert_true(world->ends[i].is_done);
}

/* Where nothing may go wrong. */
static inline void world_run_well(struct world world, world_fn *run)
{
    world_run(&world, run);
    for (int i = 0; i < world.size; i++) {
        if (world.ends[i].text[0] != '\0')
            fail_msg("%s, %d ranks, %d a host: %s", world.kind, world.size,
                     world.each, world.ends[i].text);
    }
    world_clear(&world);
}

#endif
