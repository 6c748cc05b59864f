/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_COMM_IMPL_H
#define SMTUNE_TRAINING_COMM_COMM_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "training/comm/comm.h"
#include "training/comm/rendezvous.h"

/*
 * A way to get data from one rank to another. A new one is one file with one
 * const struct comm_kind and a line in comm.c's table. comm.c counts calls,
 * checks arguments, and puts rank, host and call in front of every error; a
 * kind says only who is missed and why.
 */
struct comm_kind {
    const char *name;

    /* Collective. NULL with an error where it cannot be had. The rendezvous
     * outlives what is created. */
    struct comm *(*create)(const struct rendezvous *rendezvous,
                           const struct comm_options *options, struct err *err);
    void (*destroy)(struct comm *comm);

    /* As in comm.h; counts and shares may be 0. -1 with an error. */
    int (*all_reduce)(struct comm *comm, float *data, size_t count,
                      struct err *err);
    int (*reduce_scatter)(struct comm *comm, float *data, size_t share,
                          struct err *err);
    int (*all_gather)(struct comm *comm, void *data, size_t share_bytes,
                      struct err *err);
    int (*broadcast)(struct comm *comm, void *data, size_t bytes, int root,
                     struct err *err);
    int (*barrier)(struct comm *comm, struct err *err);
    /* NULL: the ranks see nothing of each other's. Goes with the rest. */
    void *(*window)(struct comm *comm, size_t bytes, struct err *err);
    /* comm_use_backend; NULL: all data is the host's to this kind. */
    int (*attach)(struct comm *comm, const struct backend *backend,
                  struct buf *notes, struct err *err);
    /* -1 with an error where a rank has died or left; waits for nothing. Of
     * those that comm_fitting_hosts gives. */
    int (*watch)(struct comm *comm, struct err *err);
};

enum comm_op {
    COMM_CREATE,
    COMM_ALL_REDUCE,
    COMM_REDUCE_SCATTER,
    COMM_ALL_GATHER,
    COMM_BROADCAST,
    COMM_BARRIER,
    COMM_WINDOW,
    COMM_BACKEND
};

/* A call, as ranks tell each other of it. */
struct comm_call {
    uint64_t number; /* from 1 */
    uint64_t bytes;  /* of the whole data */
    int32_t op;      /* enum comm_op */
    int32_t root;
    int32_t bucket;
    int32_t reserved;
    uint64_t place; /* of the data in the window, from 1; 0: not there */
};

/* The first member of every kind's own struct. comm_init fills it. */
struct comm {
    const struct comm_kind *kind;
    const struct rendezvous *rendezvous;
    struct rendezvous *own_rendezvous; /* for comm_destroy; else NULL */
    int rank, size;                    /* of rendezvous */
    int64_t timeout_ms;
    struct comm_call call; /* the one under way */
    int bucket;
    void *own_window; /* where the kind has none */
    size_t own_window_bytes;
    struct err why; /* of the call that failed */
    bool is_told;   /* by another rank, why all end */
    bool is_broken; /* after the first failure */
};

/* comm_create for ranks that have met; takes the rendezvous. The options have
 * a name and a time limit; err is not NULL. */
struct comm *comm_create_met(struct rendezvous *rendezvous,
                             const struct comm_options *options,
                             struct err *err);

/* comm_window, of memory that no other rank sees. */
void *comm_own_window(struct comm *comm, size_t bytes, struct err *err);

void comm_init(struct comm *comm, const struct comm_kind *kind,
               const struct rendezvous *rendezvous,
               const struct comm_options *options);

enum { COMM_CALL_MAX = RENDEZVOUS_HEARD_MAX };
/* "all-reduce 17, bucket 3" */
void comm_describe(const struct comm_call *call, char text[COMM_CALL_MAX]);

/* -1 with an error where another rank's call is not the one under way here. */
int comm_compare(const struct comm *comm, int rank,
                 const struct comm_call *theirs, struct err *err);

/* To be asked every slice while waiting: -1 with an error where some rank has
 * given up. */
enum { COMM_SLICE_MS = 50 };
int comm_check(struct comm *comm, struct err *err);

/* Errors that say which rank is missed, or what it or another one has said of
 * late; always -1. */
int comm_say_died(struct comm *comm, int rank, struct err *err);
int comm_say_late(struct comm *comm, int rank, struct err *err);

/* What fits best where data is in the hosts' memory. */
const struct comm_kind *comm_fitting_hosts(const struct rendezvous *rendezvous);

/* How many ranks each host has; 0: their order or numbers are not fit for
 * comm_hybrid. */
int comm_hybrid_ranks_a_host(const struct rendezvous *rendezvous);

extern const struct comm_kind comm_shm, comm_tcp, comm_hybrid, comm_ps,
    comm_mpi, comm_nccl;

#endif
