/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "training/comm/comm_impl.h"
#include "training/comm/nccl_calls.h"
#include "training/ops/backend.h"

/*
 * Between devices, over NVIDIA's library. What lies in the host's memory goes
 * as it does between any ranks of these hosts; and so do ranks meet at the
 * beginning of each call, which finds out who is missed or has called something
 * else before a device waits for it in vain. While devices are at it, ranks
 * look at each other as well: NCCL does not notice every death.
 */

/* Looks at the device between two at the other ranks. */
enum { LOOKS = 256 };

struct nccl {
    struct comm comm;  /* first */
    struct comm *host; /* of the same ranks */
    bool is_asked_for; /* by its name: else it is left where it cannot be had */
    const struct nccl_calls *calls; /* NULL: all goes through the host */
    struct nccl_way *way;
    int64_t looked_ms;
};

static struct nccl *nccl_of(struct comm *comm)
{
    return (struct nccl *)(void *)comm;
}

/* It is told what the call is. */
static struct comm *host_of(struct nccl *nccl)
{
    nccl->host->call = nccl->comm.call;
    return nccl->host;
}

static int leave(struct nccl *nccl, int status)
{
    nccl->comm.is_told |= nccl->host->is_told;
    return status;
}

static bool lies_on_device(const struct nccl *nccl, const void *data)
{
    return nccl->calls != NULL && nccl->calls->reaches(data);
}

/* After all have met, nobody is late for a reason that the host knows. */
static int look_around(struct nccl *nccl, int64_t deadline_ms, struct err *err)
{
    struct comm *host = host_of(nccl);
    int64_t now_ms = clock_monotonic_ms();

    if (now_ms - nccl->looked_ms < COMM_SLICE_MS)
        return 0;
    nccl->looked_ms = now_ms;
    if (comm_check(host, err) != 0 || host->kind->watch(host, err) != 0)
        return -1;
    return now_ms < deadline_ms
               ? 0
               : err_set(err, ERR_FAILED,
                         "nccl: the devices did not finish within %g s",
                         (double)nccl->comm.timeout_ms / 1000);
}

/* Until what was begun is done. */
static int await(struct nccl *nccl, struct err *err)
{
    int64_t deadline_ms = clock_monotonic_ms() + nccl->comm.timeout_ms;

    for (int looks = 1;; looks++) {
        int status = nccl->calls->test(nccl->way, err);

        if (status != 0)
            return status > 0 ? 0 : -1;
        sched_yield();
        if (looks % LOOKS == 0 && look_around(nccl, deadline_ms, err) != 0)
            return -1;
    }
}

static int run(struct nccl *nccl, const struct nccl_request *request,
               struct err *err)
{
    struct comm *host = host_of(nccl);

    if (host->kind->barrier(host, err) != 0)
        return -1;
    if (request->count == 0)
        return 0;
    return nccl->calls->ask(nccl->way, request, err) == 0 ? await(nccl, err)
                                                          : -1;
}

static int nccl_all_reduce(struct comm *comm, float *data, size_t count,
                           struct err *err)
{
    const struct nccl_request request = {NCCL_ALL_REDUCE, data, count, 0};
    struct nccl *nccl = nccl_of(comm);
    struct comm *host = host_of(nccl);

    return leave(nccl, lies_on_device(nccl, data)
                           ? run(nccl, &request, err)
                           : host->kind->all_reduce(host, data, count, err));
}

static int nccl_reduce_scatter(struct comm *comm, float *data, size_t share,
                               struct err *err)
{
    const struct nccl_request request = {NCCL_REDUCE_SCATTER, data, share, 0};
    struct nccl *nccl = nccl_of(comm);
    struct comm *host = host_of(nccl);

    return leave(nccl,
                 lies_on_device(nccl, data)
                     ? run(nccl, &request, err)
                     : host->kind->reduce_scatter(host, data, share, err));
}

static int nccl_all_gather(struct comm *comm, void *data, size_t share_bytes,
                           struct err *err)
{
    const struct nccl_request request = {NCCL_ALL_GATHER, data, share_bytes, 0};
    struct nccl *nccl = nccl_of(comm);
    struct comm *host = host_of(nccl);

    return leave(nccl,
                 lies_on_device(nccl, data)
                     ? run(nccl, &request, err)
                     : host->kind->all_gather(host, data, share_bytes, err));
}

static int nccl_broadcast(struct comm *comm, void *data, size_t bytes, int root,
                          struct err *err)
{
    const struct nccl_request request = {NCCL_BROADCAST, data, bytes, root};
    struct nccl *nccl = nccl_of(comm);
    struct comm *host = host_of(nccl);

    return leave(nccl,
                 lies_on_device(nccl, data)
                     ? run(nccl, &request, err)
                     : host->kind->broadcast(host, data, bytes, root, err));
}

static int nccl_barrier(struct comm *comm, struct err *err)
{
    struct nccl *nccl = nccl_of(comm);
    struct comm *host = host_of(nccl);

    return leave(nccl, host->kind->barrier(host, err));
}

static void *nccl_window(struct comm *comm, size_t bytes, struct err *err)
{
    struct nccl *nccl = nccl_of(comm);
    struct comm *host = host_of(nccl);
    void *window = host->kind->window != NULL
                       ? host->kind->window(host, bytes, err)
                       : comm_own_window(comm, bytes, err);

    leave(nccl, 0);
    return window;
}

/* What a rank has, or why it has nothing. */
struct offer {
    char device[NCCL_DEVICE_MAX]; /* "": none */
    char why[ERR_TEXT_MAX / 2];
};

static void make_offer(struct nccl *nccl, const struct backend *backend,
                       struct offer *offer)
{
    struct err err = {.text = ""};

    if (backend->nccl == NULL)
        err_set(&err, ERR_FAILED, "its backend is %s", backend->name);
    else
        nccl->way = backend->nccl->open(offer->device, &err);
    if (nccl->way == NULL)
        offer->device[0] = '\0';
    snprintf(offer->why, sizeof(offer->why), "%.*s",
             (int)sizeof(offer->why) - 1, err.text);
}

/* The first rank before this one that has its device, or -1. */
static int find_twin(const struct rendezvous *rendezvous,
                     const struct offer *offers, int rank)
{
    for (int i = 0; i < rank; i++) {
        if (strcmp(offers[i].device, offers[rank].device) == 0 &&
            strcmp(rendezvous->peers[i].place, rendezvous->peers[rank].place) ==
                0)
            return i;
    }
    return -1;
}

/* Why not all can; the same on all ranks. */
static int compare(const struct comm *comm, const struct offer *offers,
                   struct err *err)
{
    for (int i = 0; i < comm->size; i++) {
        const struct rendezvous_peer *peer = &comm->rendezvous->peers[i];
        int twin;

        if (offers[i].device[0] == '\0')
            return err_set(err, ERR_FAILED, "rank %d on host %s: %s", i,
                           peer->host, offers[i].why);
        twin = find_twin(comm->rendezvous, offers, i);
        if (twin >= 0)
            return err_set(err, ERR_FAILED,
                           "ranks %d and %d on host %s share GPU %s: NCCL "
                           "needs one GPU per rank",
                           twin, i, peer->host, offers[i].device);
    }
    return 0;
}

static int exchange(struct nccl *nccl, const struct backend *backend,
                    struct err *why, struct err *err)
{
    struct comm *host = host_of(nccl);
    struct offer *offers = mem_array((size_t)nccl->comm.size, sizeof(*offers));
    int status;

    make_offer(nccl, backend, &offers[nccl->comm.rank]);
    status = host->kind->all_gather(host, offers, sizeof(*offers), err);
    if (status == 0)
        compare(&nccl->comm, offers, why);
    free(offers);
    return status;
}

static int join(struct nccl *nccl, struct err *err)
{
    struct comm *host = host_of(nccl);
    char id[NCCL_ID_BYTES] = "";

    if ((nccl->comm.rank == 0 &&
         nccl->calls->make_id(nccl->way, id, err) != 0) ||
        host->kind->broadcast(host, id, sizeof(id), 0, err) != 0 ||
        nccl->calls->join(nccl->way, id, nccl->comm.rank, nccl->comm.size,
                          err) != 0)
        return -1;
    return await(nccl, err);
}

static void close_way(struct nccl *nccl, const struct backend *backend)
{
    if (nccl->way != NULL)
        backend->nccl->close(nccl->way);
    nccl->way = NULL;
}

static int nccl_attach(struct comm *comm, const struct backend *backend,
                       struct buf *notes, struct err *err)
{
    struct nccl *nccl = nccl_of(comm);
    struct err why = {.text = ""};

    if (exchange(nccl, backend, &why, err) != 0) {
        close_way(nccl, backend);
        return leave(nccl, -1);
    }
    if (why.kind == ERR_NONE) {
        nccl->calls = backend->nccl;
        return leave(nccl, join(nccl, err));
    }
    close_way(nccl, backend);
    if (nccl->is_asked_for) {
        comm->is_told = true; /* all know it */
        return err_set(err, ERR_FAILED, "%s", why.text);
    }
    if (backend->nccl != NULL)
        buf_printf(
            notes,
            "--comm auto: gradients go through host memory, without nccl: %s\n",
            why.text);
    return leave(nccl, 0);
}

static void nccl_destroy(struct comm *comm)
{
    struct nccl *nccl = nccl_of(comm);

    /* Ranks have met on the host since the last collective, or one failed. */
    if (nccl->way != NULL)
        nccl->calls->close(nccl->way);
    if (nccl->host != NULL)
        nccl->host->kind->destroy(nccl->host);
    free(nccl);
}

static struct comm *nccl_create(const struct rendezvous *rendezvous,
                                const struct comm_options *options,
                                struct err *err)
{
    struct nccl *nccl = mem_zero(sizeof(*nccl));

    comm_init(&nccl->comm, &comm_nccl, rendezvous, options);
    nccl->is_asked_for = strcmp(options->name, comm_nccl.name) == 0;
    nccl->host =
        comm_fitting_hosts(rendezvous)->create(rendezvous, options, err);
    if (nccl->host != NULL)
        return &nccl->comm;
    nccl_destroy(&nccl->comm);
    return NULL;
}

const struct comm_kind comm_nccl = {
    .name = "nccl",
    .create = nccl_create,
    .destroy = nccl_destroy,
    .all_reduce = nccl_all_reduce,
    .reduce_scatter = nccl_reduce_scatter,
    .all_gather = nccl_all_gather,
    .broadcast = nccl_broadcast,
    .barrier = nccl_barrier,
    .window = nccl_window,
    .attach = nccl_attach,
};
