/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/text.h"
#include "training/comm/abort_notice.h"
#include "training/comm/comm_impl.h"

/*
 * What all kinds have in common: who takes part, the numbers of calls, their
 * errors, and one rank alone, which has nobody to ask. A rank that fails for a
 * reason of its own tells the others why; one that was told passes nothing on.
 */

enum { TIMEOUT_USUAL_MS = 60 * 1000 };

static int alone_reduce(UNUSED struct comm *comm, UNUSED float *data,
                        UNUSED size_t count, UNUSED struct err *err)
{
    return 0;
}

static int alone_gather(UNUSED struct comm *comm, UNUSED void *data,
                        UNUSED size_t share_bytes, UNUSED struct err *err)
{
    return 0;
}

static int alone_broadcast(UNUSED struct comm *comm, UNUSED void *data,
                           UNUSED size_t bytes, UNUSED int root,
                           UNUSED struct err *err)
{
    return 0;
}

static int alone_barrier(UNUSED struct comm *comm, UNUSED struct err *err)
{
    return 0;
}

static const struct comm_kind comm_alone;

static struct comm *alone_create(const struct rendezvous *rendezvous,
                                 const struct comm_options *options,
                                 UNUSED struct err *err)
{
    struct comm *comm = mem_zero(sizeof(*comm));

    comm_init(comm, &comm_alone, rendezvous, options);
    return comm;
}

static void alone_destroy(struct comm *comm)
{
    free(comm);
}

static const struct comm_kind comm_alone = {
    .name = "alone",
    .create = alone_create,
    .destroy = alone_destroy,
    .all_reduce = alone_reduce,
    .reduce_scatter = alone_reduce,
    .all_gather = alone_gather,
    .broadcast = alone_broadcast,
    .barrier = alone_barrier,
};

static const struct comm_kind *const kinds[] = {&comm_shm, &comm_tcp, &comm_ps,
                                                &comm_mpi, &comm_nccl};

const char *const comm_names[] = {"auto", "shm",  "tcp", "ps",
                                  "mpi",  "nccl", NULL};

/* How many of the first `count` ranks share this one's host. */
static int count_here(const struct rendezvous *rendezvous, int count)
{
    const char *own = rendezvous->peers[rendezvous->rank].place;
    int here = 0;

    for (int i = 0; i < count; i++)
        here += strcmp(rendezvous->peers[i].place, own) == 0;
    return here;
}

static const struct comm_kind *choose_kind(const struct rendezvous *rendezvous,
                                           const struct comm_options *options)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i]->name, options->name) == 0)
            return kinds[i];
    }
    return options->is_for_devices ? &comm_nccl
                                   : comm_fitting_hosts(rendezvous);
}

/* Shared memory where all are on one host. */
const struct comm_kind *comm_fitting_hosts(const struct rendezvous *rendezvous)
{
    int each = comm_hybrid_ranks_a_host(rendezvous);

    if (count_here(rendezvous, rendezvous->size) == rendezvous->size)
        return &comm_shm;
    return each > 1 ? &comm_hybrid : &comm_tcp;
}

static struct rendezvous *meet_nobody(const struct ranks *ranks)
{
    struct rendezvous *it = mem_zero(sizeof(*it));

    it->whole = it;
    it->size = 1;
    it->listener = it->memory_fd = -1;
    it->peers = mem_array(1, sizeof(*it->peers));
    snprintf(it->peers[0].host, sizeof(it->peers[0].host), "%s", ranks->host);
    return it;
}

struct comm *comm_create_met(struct rendezvous *rendezvous,
                             const struct comm_options *options,
                             struct err *err)
{
    const struct rendezvous_peer *own = &rendezvous->peers[rendezvous->rank];
    const struct comm_kind *kind =
        rendezvous->size == 1 ? &comm_alone : choose_kind(rendezvous, options);
    struct comm *comm = kind->create(rendezvous, options, err);

    if (comm != NULL) {
        comm->own_rendezvous = rendezvous;
        return comm;
    }
    abort_notice_spread(rendezvous, NOTICE_GAVE_UP, err->text);
    err_prefix(err, "rank %d on host %s: %s", own->rank, own->host, kind->name);
    rendezvous_destroy(rendezvous);
    return NULL;
}

struct comm *comm_create(const struct ranks *ranks,
                         const struct comm_options *options, struct err *err)
{
    struct comm_options chosen = *options;
    struct rendezvous *rendezvous;
    struct err why;
    char terms[RENDEZVOUS_TERMS_MAX];
    size_t i = 0, count = ARRAY_LEN(comm_names) - 1;

    if (chosen.name == NULL)
        chosen.name = comm_names[0];
    while (i < count && strcmp(comm_names[i], chosen.name) != 0)
        i++;
    if (i == count) {
        text_unknown("kind of communication", chosen.name, comm_names, count,
                     ERR_USAGE, err);
        return NULL;
    }
    if (chosen.timeout_ms <= 0)
        chosen.timeout_ms = TIMEOUT_USUAL_MS;
    snprintf(terms, sizeof(terms), "--comm %s, small size %zu%s", chosen.name,
             chosen.small_bytes, chosen.is_for_devices ? ", for devices" : "");
    rendezvous = ranks->size == 1
                     ? meet_nobody(ranks)
                     : rendezvous_hold(ranks, terms, chosen.timeout_ms, err);
    return rendezvous != NULL
               ? comm_create_met(rendezvous, &chosen, err != NULL ? err : &why)
               : NULL;
}

void comm_destroy(struct comm *comm)
{
    struct rendezvous *rendezvous;

    if (comm == NULL)
        return;
    rendezvous = comm->own_rendezvous;
    if (comm->own_window != NULL)
        munmap(comm->own_window, comm->own_window_bytes);
    comm->kind->destroy(comm);
    rendezvous_destroy(rendezvous);
}

const char *comm_name(const struct comm *comm)
{
    return comm->kind->name;
}

int comm_local_rank(const struct comm *comm)
{
    return count_here(comm->rendezvous, comm->rank);
}

int comm_local_size(const struct comm *comm)
{
    return count_here(comm->rendezvous, comm->size);
}

const char *comm_host(const struct comm *comm, int rank)
{
    return comm->rendezvous->peers[rank].host;
}

void comm_set_bucket(struct comm *comm, int bucket)
{
    comm->bucket = bucket;
}

static int begin(struct comm *comm, enum comm_op op, uint64_t bytes, int root)
{
    comm->call.number++;
    comm->call.op = (int32_t)op;
    comm->call.bytes = bytes;
    comm->call.root = root;
    comm->call.bucket = comm->bucket;
    comm->call.place = 0;
    if (comm->is_broken)
        return err_set(&comm->why, ERR_FAILED, "an earlier call failed");
    return 0;
}

static int end(struct comm *comm, int status, struct err *err)
{
    const struct rendezvous_peer *own = &comm->rendezvous->peers[comm->rank];
    char call[COMM_CALL_MAX];

    if (status == 0)
        return 0;
    if (!comm->is_broken && !comm->is_told)
        abort_notice_spread(comm->rendezvous->whole, NOTICE_GAVE_UP,
                            comm->why.text);
    comm->is_broken = true;
    comm_describe(&comm->call, call);
    if (err != NULL)
        *err = comm->why;
    return err_prefix(err, "rank %d on host %s: %s", own->rank, own->host,
                      call);
}

void *comm_window(struct comm *comm, size_t bytes, struct err *err)
{
    void *window = NULL;
    int status = begin(comm, COMM_WINDOW, bytes, 0);

    if (status == 0) {
        window = (comm->kind->window != NULL
                      ? comm->kind->window
                      : comm_own_window)(comm, bytes, &comm->why);
        status = window != NULL ? 0 : -1;
    }
    return end(comm, status, err) == 0 ? window : NULL;
}

int comm_use_backend(struct comm *comm, const struct backend *backend,
                     struct buf *notes, struct err *err)
{
    int status;

    if (comm->kind->attach == NULL)
        return 0;
    status = begin(comm, COMM_BACKEND, 0, 0);
    if (status == 0)
        status = comm->kind->attach(comm, backend, notes, &comm->why);
    return end(comm, status, err);
}

int comm_all_reduce(struct comm *comm, float *data, size_t count,
                    struct err *err)
{
    int status = begin(comm, COMM_ALL_REDUCE, count * sizeof(*data), 0);

    if (status == 0)
        status = comm->kind->all_reduce(comm, data, count, &comm->why);
    return end(comm, status, err);
}

int comm_reduce_scatter(struct comm *comm, float *data, size_t share,
                        struct err *err)
{
    size_t bytes = (size_t)comm->size * share * sizeof(*data);
    int status = begin(comm, COMM_REDUCE_SCATTER, bytes, 0);

    if (status == 0)
        status = comm->kind->reduce_scatter(comm, data, share, &comm->why);
    return end(comm, status, err);
}

int comm_all_gather(struct comm *comm, void *data, size_t share_bytes,
                    struct err *err)
{
    size_t bytes = (size_t)comm->size * share_bytes;
    int status = begin(comm, COMM_ALL_GATHER, bytes, 0);

    if (status == 0)
        status = comm->kind->all_gather(comm, data, share_bytes, &comm->why);
    return end(comm, status, err);
}

int comm_broadcast(struct comm *comm, void *data, size_t bytes, int root,
                   struct err *err)
{
    int status = begin(comm, COMM_BROADCAST, bytes, root);

    if (status == 0)
        status = comm->kind->broadcast(comm, data, bytes, root, &comm->why);
    return end(comm, status, err);
}

int comm_barrier(struct comm *comm, struct err *err)
{
    int status = begin(comm, COMM_BARRIER, 0, 0);

    if (status == 0)
        status = comm->kind->barrier(comm, &comm->why);
    return end(comm, status, err);
}

int comm_give_up(struct comm *comm, struct err *err)
{
    char call[COMM_CALL_MAX];

    if (comm->size == 1 || comm->is_broken)
        return -1;
    abort_notice_spread(comm->rendezvous->whole, NOTICE_GAVE_UP, err->text);
    comm->is_broken = true;
    comm_describe(&comm->call, call);
    return err_prefix(err, "rank %d on host %s, after %s", comm->rank,
                      comm_host(comm, comm->rank), call);
}
