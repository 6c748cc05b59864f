/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_WIRE_H
#define SMTUNE_TRAINING_COMM_WIRE_H

#include "training/comm/comm_impl.h"

/*
 * Collectives over whatever takes bytes from one rank to another; what does so
 * is one function, `run`.
 *
 * Small sums are made by recursive doubling (Thakur, Rabenseifner and Gropp,
 * "Optimization of collective communication operations in MPICH", 2005, section
 * 4.1), along the tree of tree.h also where the ranks are no power of two.
 *
 * Larger ones go by pairwise exchange (the same, section 4.2): in step k of
 * n - 1, rank r sends to rank r + k the slice that is the latter's to add up,
 * and gets its own from r - k; then the sums go round in the same way. Each
 * rank sends 2 (n - 1) / n of the data, as in a ring. But a ring adds up each
 * slice in an order of its own, and here all go along one tree.
 */

/* What goes to, and comes from, one rank; a call has one for a rank. Each
 * message goes with the call it belongs to, which is compared. */
struct transfer {
    int rank;
    bool sends, receives;
    const void *out;
    size_t out_bytes;
    void *in;
    size_t in_bytes;
    /* For `run`: how far it is, the calls included. */
    size_t sent, received;
    struct comm_call theirs;
};

struct wire;

/* Does all transfers at once. -1 with an error: a rank has died, stands still
 * or has called something else. */
typedef int wire_run_fn(struct wire *wire, struct transfer *transfers,
                        int count, struct err *err);

/* The first member of the struct of each kind that is made of this. */
struct wire {
    struct comm comm;
    wire_run_fn *run;
    size_t small_bytes;
    float *scratch;             /* for a chunk, or for what is small */
    const float **rows;         /* [size] */
    struct transfer *transfers; /* [size] */
};

/* Bounds the scratch memory, and how much is under way at once. */
enum { WIRE_CHUNK_BYTES = 4 * 1024 * 1024 };

int wire_init(struct wire *wire, wire_run_fn *run,
              const struct comm_options *options, struct err *err);
void wire_clear(struct wire *wire);

/* Over TCP, between all ranks, or between the first and every other alone. */
struct comm *wire_create_tcp(const struct comm_kind *kind, bool only_first,
                             const struct rendezvous *rendezvous,
                             const struct comm_options *options,
                             struct err *err);
void wire_destroy_tcp(struct comm *comm);

/* The functions of a kind. */
int wire_all_reduce(struct comm *comm, float *data, size_t count,
                    struct err *err);
int wire_reduce_scatter(struct comm *comm, float *data, size_t share,
                        struct err *err);
int wire_all_gather(struct comm *comm, void *data, size_t share_bytes,
                    struct err *err);
int wire_broadcast(struct comm *comm, void *data, size_t bytes, int root,
                   struct err *err);
int wire_barrier(struct comm *comm, struct err *err);

/* The same where each share begins `apart` (numbers, or bytes) behind the one
 * before. */
int wire_reduce_scatter_apart(struct comm *comm, float *data, size_t share,
                              size_t apart, struct err *err);
int wire_all_gather_apart(struct comm *comm, char *data, size_t share_bytes,
                          size_t apart, struct err *err);

#endif
