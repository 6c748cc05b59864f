/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "training/comm/wire.h"

/*
 * Shared memory inside a host, TCP between hosts. Each rank of a host adds up
 * its slice of what the host's ranks have, then adds that up with its like on
 * the other hosts, then gives it to its host's ranks: so each byte goes over
 * the network once a host, and all ranks of a host do their part of that.
 *
 * Where each host has the same number of ranks, one after the other, and it is
 * a power of two, a host is a branch of the tree, and sums are the same bits.
 */

struct hybrid {
    struct comm comm;   /* first */
    struct comm *local; /* of this host's ranks */
    struct comm *wide;  /* of those with the same number on each host */
    struct rendezvous *local_rendezvous, *wide_rendezvous;
};

enum { LINE = 16, SMALL = 64 * 1024 };

static struct hybrid *hybrid_of(struct comm *comm)
{
    return (struct hybrid *)(void *)comm;
}

static bool share_host(const struct rendezvous *rendezvous, int a, int b)
{
    return strcmp(rendezvous->peers[a].place, rendezvous->peers[b].place) == 0;
}

int comm_hybrid_ranks_a_host(const struct rendezvous *rendezvous)
{
    int each = 1;

    while (each < rendezvous->size && share_host(rendezvous, 0, each))
        each++;
    if ((each & (each - 1)) != 0 || rendezvous->size % each != 0)
        return 0;
    for (int i = 0; i < rendezvous->size; i++) {
        int first = i - i % each;

        if (!share_host(rendezvous, i, first) ||
            (first > 0 && share_host(rendezvous, first, first - 1)))
            return 0;
    }
    return each;
}

/* One of the two's part in a call: it is told what the call is. */
static struct comm *part(struct hybrid *hybrid, struct comm *part)
{
    part->call = hybrid->comm.call;
    return part;
}

static int leave(struct hybrid *hybrid, int status)
{
    hybrid->comm.is_told |= hybrid->local->is_told || hybrid->wide->is_told;
    return status;
}

static int reduce(struct hybrid *hybrid, float *data, size_t count,
                  struct err *err)
{
    struct comm *local = part(hybrid, hybrid->local);
    struct comm *wide = part(hybrid, hybrid->wide);
    size_t share = count / (size_t)local->size / LINE * LINE;
    size_t done = share * (size_t)local->size;

    if (count * sizeof(*data) <= SMALL)
        share = done = 0;
    if (share > 0 &&
        (local->kind->reduce_scatter(local, data, share, err) != 0 ||
         wide->kind->all_reduce(wide, data + (size_t)local->rank * share, share,
                                err) != 0 ||
         local->kind->all_gather(local, data, share * sizeof(*data), err) != 0))
        return -1;
    if (share > 0 && done == count)
        return 0;
    /* What is small, or left: all ranks of a host do the same. */
    return local->kind->all_reduce(local, data + done, count - done, err) != 0
               ? -1
               : wide->kind->all_reduce(wide, data + done, count - done, err);
}

static int hybrid_all_reduce(struct comm *comm, float *data, size_t count,
                             struct err *err)
{
    return leave(hybrid_of(comm), reduce(hybrid_of(comm), data, count, err));
}

/* The shares of a host's ranks lie side by side. */
static float *host_block(const struct hybrid *hybrid, float *data, size_t share,
                         int host)
{
    return data + (size_t)host * (size_t)hybrid->local->size * share;
}

static int scatter(struct hybrid *hybrid, float *data, size_t share,
                   struct err *err)
{
    struct comm *local = part(hybrid, hybrid->local);
    struct comm *wide = part(hybrid, hybrid->wide);

    for (int host = 0; host < wide->size; host++) {
        if (local->kind->reduce_scatter(
                local, host_block(hybrid, data, share, host), share, err) != 0)
            return -1;
    }
    return wire_reduce_scatter_apart(wide, data + (size_t)local->rank * share,
                                     share, share * (size_t)local->size, err);
}

static int hybrid_reduce_scatter(struct comm *comm, float *data, size_t share,
                                 struct err *err)
{
    return leave(hybrid_of(comm), scatter(hybrid_of(comm), data, share, err));
}

static int gather(struct hybrid *hybrid, char *data, size_t share_bytes,
                  struct err *err)
{
    struct comm *local = part(hybrid, hybrid->local);
    struct comm *wide = part(hybrid, hybrid->wide);
    size_t block = share_bytes * (size_t)local->size;

    if (wire_all_gather_apart(wide, data + (size_t)local->rank * share_bytes,
                              share_bytes, block, err) != 0)
        return -1;
    for (int host = 0; host < wide->size; host++) {
        if (local->kind->all_gather(local, data + (size_t)host * block,
                                    share_bytes, err) != 0)
            return -1;
    }
    return 0;
}

static int hybrid_all_gather(struct comm *comm, void *data, size_t share_bytes,
                             struct err *err)
{
    return leave(hybrid_of(comm),
                 gather(hybrid_of(comm), data, share_bytes, err));
}

static int hybrid_broadcast(struct comm *comm, void *data, size_t bytes,
                            int root, struct err *err)
{
    struct hybrid *hybrid = hybrid_of(comm);
    struct comm *local = part(hybrid, hybrid->local);
    struct comm *wide = part(hybrid, hybrid->wide);
    int host = root / local->size, giver = root % local->size, status = 0;

    if (local->rank == giver)
        status = wide->kind->broadcast(wide, data, bytes, host, err);
    if (status == 0)
        status = local->kind->broadcast(local, data, bytes, giver, err);
    return leave(hybrid, status);
}

static int hybrid_barrier(struct comm *comm, struct err *err)
{
    struct hybrid *hybrid = hybrid_of(comm);
    struct comm *local = part(hybrid, hybrid->local);
    struct comm *wide = part(hybrid, hybrid->wide);
    int status = local->kind->barrier(local, err);

    if (status == 0)
        status = wide->kind->barrier(wide, err);
    return leave(hybrid, status);
}

static void *hybrid_window(struct comm *comm, size_t bytes, struct err *err)
{
    struct hybrid *hybrid = hybrid_of(comm);
    struct comm *local = part(hybrid, hybrid->local);
    void *window = local->kind->window(local, bytes, err);

    leave(hybrid, 0);
    return window;
}

static int hybrid_watch(struct comm *comm, struct err *err)
{
    struct hybrid *hybrid = hybrid_of(comm);
    struct comm *local = part(hybrid, hybrid->local);
    struct comm *wide = part(hybrid, hybrid->wide);
    int status = local->kind->watch(local, err);

    if (status == 0)
        status = wide->kind->watch(wide, err);
    return leave(hybrid, status);
}

static void hybrid_destroy(struct comm *comm)
{
    struct hybrid *hybrid = hybrid_of(comm);

    if (hybrid->wide != NULL)
        hybrid->wide->kind->destroy(hybrid->wide);
    if (hybrid->local != NULL)
        hybrid->local->kind->destroy(hybrid->local);
    rendezvous_destroy(hybrid->wide_rendezvous);
    rendezvous_destroy(hybrid->local_rendezvous);
    free(hybrid);
}

/* Every `step`th rank from `first` on. */
static struct rendezvous *some_of(const struct rendezvous *whole, int first,
                                  int step, int count)
{
    int *places = mem_array((size_t)count, sizeof(*places));
    struct rendezvous *some;

    for (int i = 0; i < count; i++)
        places[i] = first + i * step;
    some = rendezvous_part(whole, places, count);
    free(places);
    return some;
}

static struct comm *hybrid_create(const struct rendezvous *rendezvous,
                                  const struct comm_options *options,
                                  struct err *err)
{
    int each = comm_hybrid_ranks_a_host(rendezvous), rank = rendezvous->rank;
    struct hybrid *hybrid;

    if (each == 0) {
        err_set(err, ERR_FAILED, "the hosts have different numbers of ranks");
        return NULL;
    }
    hybrid = mem_zero(sizeof(*hybrid));
    comm_init(&hybrid->comm, &comm_hybrid, rendezvous, options);
    hybrid->local_rendezvous = some_of(rendezvous, rank - rank % each, 1, each);
    hybrid->wide_rendezvous =
        some_of(rendezvous, rank % each, each, rendezvous->size / each);
    hybrid->local = comm_shm.create(hybrid->local_rendezvous, options, err);
    if (hybrid->local != NULL)
        hybrid->wide = comm_tcp.create(hybrid->wide_rendezvous, options, err);
    if (hybrid->wide != NULL)
        return &hybrid->comm;
    hybrid_destroy(&hybrid->comm);
    return NULL;
}

const struct comm_kind comm_hybrid = {
    .name = "hybrid",
    .create = hybrid_create,
    .destroy = hybrid_destroy,
    .all_reduce = hybrid_all_reduce,
    .reduce_scatter = hybrid_reduce_scatter,
    .all_gather = hybrid_all_gather,
    .broadcast = hybrid_broadcast,
    .barrier = hybrid_barrier,
    .window = hybrid_window,
    .watch = hybrid_watch,
};
