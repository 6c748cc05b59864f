/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/tree.h"
#include "training/comm/wire.h"

/*
 * A parameter server: rank 0 gets the numbers of all others, adds them to its
 * own, and sends everybody the sum (Li et al., "Scaling distributed machine
 * learning with the parameter server", OSDI 2014, with one server that is a
 * worker, too, and waits for all). The others need to reach rank 0 alone, and
 * send and get no more than the data once; but all goes through rank 0, which
 * has n - 1 times as much to do.
 */

enum { SERVER = 0 };

static struct wire *wire_of(struct comm *comm)
{
    return (struct wire *)(void *)comm;
}

static bool is_server(const struct comm *comm)
{
    return comm->rank == SERVER;
}

/* What a worker says, and what it is answered, where it is. */
static int exchange(struct wire *wire, const void *out, size_t out_bytes,
                    void *in, size_t in_bytes, struct err *err)
{
    wire->transfers[0] = (struct transfer){.rank = SERVER,
                                           .sends = true,
                                           .out = out,
                                           .out_bytes = out_bytes,
                                           .receives = true,
                                           .in = in,
                                           .in_bytes = in_bytes};
    return wire->run(wire, wire->transfers, 1, err);
}

static int send_one(struct wire *wire, const void *out, size_t bytes,
                    struct err *err)
{
    wire->transfers[0] = (struct transfer){
        .rank = SERVER, .sends = true, .out = out, .out_bytes = bytes};
    return wire->run(wire, wire->transfers, 1, err);
}

/* From every worker: to rows `apart` from each other, the first one's being
 * at `in`. */
static int receive_all(struct wire *wire, void *in, size_t apart, size_t bytes,
                       struct err *err)
{
    for (int i = 1; i < wire->comm.size; i++)
        wire->transfers[i - 1] =
            (struct transfer){.rank = i,
                              .receives = true,
                              .in = (char *)in + (size_t)(i - 1) * apart,
                              .in_bytes = bytes};
    return wire->run(wire, wire->transfers, wire->comm.size - 1, err);
}

/* To every worker but one (-1: to all). */
static int send_all(struct wire *wire, const void *out, size_t bytes,
                    int but_for, struct err *err)
{
    int used = 0;

    for (int i = 1; i < wire->comm.size; i++) {
        if (i != but_for)
            wire->transfers[used++] = (struct transfer){
                .rank = i, .sends = true, .out = out, .out_bytes = bytes};
    }
    return used == 0 ? 0 : wire->run(wire, wire->transfers, used, err);
}

/* The server's data becomes the sum. */
static int serve_sum(struct wire *wire, float *data, size_t count,
                     struct err *err)
{
    size_t bytes = count * sizeof(*data);

    if (receive_all(wire, wire->scratch, bytes, bytes, err) != 0)
        return -1;
    wire->rows[0] = data;
    for (int i = 1; i < wire->comm.size; i++)
        wire->rows[i] = wire->scratch + (size_t)(i - 1) * count;
    comm_tree_sum(data, wire->rows, wire->comm.size, count);
    return 0;
}

/* How many numbers of each rank the scratch memory holds. */
static size_t most_at_once(const struct comm *comm)
{
    return WIRE_CHUNK_BYTES / sizeof(float) / (size_t)comm->size;
}

static int ps_all_reduce(struct comm *comm, float *data, size_t count,
                         struct err *err)
{
    struct wire *wire = wire_of(comm);
    size_t done = 0, most = most_at_once(comm);

    do {
        size_t length = count - done < most ? count - done : most;
        size_t bytes = length * sizeof(*data);
        float *part = data + done;

        if (is_server(comm)
                ? serve_sum(wire, part, length, err) != 0 ||
                      send_all(wire, part, bytes, -1, err) != 0
                : exchange(wire, part, bytes, part, bytes, err) != 0)
            return -1;
        done += length;
    } while (done < count);
    return 0;
}

/* Adds up a part of rank owner's share, and gives it to that one. */
static int reduce_for(struct wire *wire, float *data, size_t count, int owner,
                      struct err *err)
{
    size_t bytes = count * sizeof(*data);
    int rank = wire->comm.rank;

    if (rank != SERVER)
        return rank == owner ? exchange(wire, data, bytes, data, bytes, err)
                             : send_one(wire, data, bytes, err);
    if (serve_sum(wire, data, count, err) != 0)
        return -1;
    if (owner == SERVER)
        return 0;
    wire->transfers[0] = (struct transfer){
        .rank = owner, .sends = true, .out = data, .out_bytes = bytes};
    return wire->run(wire, wire->transfers, 1, err);
}

static int ps_reduce_scatter(struct comm *comm, float *data, size_t share,
                             struct err *err)
{
    size_t most = most_at_once(comm);

    for (int owner = 0; owner < comm->size; owner++) {
        float *next = data + (size_t)owner * share;
        size_t left = share;

        do {
            size_t length = left < most ? left : most;

            if (reduce_for(wire_of(comm), next, length, owner, err) != 0)
                return -1;
            next += length;
            left -= length;
        } while (left > 0);
    }
    return 0;
}

static int ps_all_gather(struct comm *comm, void *data, size_t share_bytes,
                         struct err *err)
{
    struct wire *wire = wire_of(comm);
    size_t bytes = (size_t)comm->size * share_bytes;
    char *all = data;

    if (!is_server(comm))
        return exchange(wire, all + (size_t)comm->rank * share_bytes,
                        share_bytes, all, bytes, err);
    return receive_all(wire, all + share_bytes, share_bytes, share_bytes,
                       err) != 0
               ? -1
               : send_all(wire, all, bytes, -1, err);
}

static int ps_broadcast(struct comm *comm, void *data, size_t bytes, int root,
                        struct err *err)
{
    struct wire *wire = wire_of(comm);

    if (comm->rank == root && !is_server(comm))
        return send_one(wire, data, bytes, err);
    if (!is_server(comm) || root != SERVER) {
        int from = is_server(comm) ? root : SERVER;

        wire->transfers[0] = (struct transfer){
            .rank = from, .receives = true, .in = data, .in_bytes = bytes};
        if (wire->run(wire, wire->transfers, 1, err) != 0)
            return -1;
    }
    return is_server(comm) ? send_all(wire, data, bytes, root, err) : 0;
}

static int ps_barrier(struct comm *comm, struct err *err)
{
    char nothing[1];

    return ps_all_gather(comm, nothing, 0, err);
}

static struct comm *ps_create(const struct rendezvous *rendezvous,
                              const struct comm_options *options,
                              struct err *err)
{
    return wire_create_tcp(&comm_ps, true, rendezvous, options, err);
}

const struct comm_kind comm_ps = {
    .name = "ps",
    .create = ps_create,
    .destroy = wire_destroy_tcp,
    .all_reduce = ps_all_reduce,
    .reduce_scatter = ps_reduce_scatter,
    .all_gather = ps_all_gather,
    .broadcast = ps_broadcast,
    .barrier = ps_barrier,
};
