/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_COMM_H
#define SMTUNE_TRAINING_COMM_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/comm/ranks.h"

/*
 * What ranks do together. Every rank calls the same functions in the same
 * order with the same sizes; a call returns when this rank's part of the
 * result is there. One thread at a time uses a communicator.
 *
 * Sums are the same bits on every rank, however they are computed and sent (but
 * for nccl, which has an order of its own), because they run along one tree:
 * the sum of n ranks is the sum of the first m, plus the sum of the others, m
 * being the largest power of two below n. So 2 ranks that each have added up
 * two shares by themselves come to what 4 ranks come to, and a run may go on
 * with another number of ranks, bit for bit.
 *
 * Where a rank has died, stands still for longer than the time limit, or has
 * called something else, the call fails on all others: -1, with an error that
 * names this rank and host, the rank that is missed and its host, the call,
 * its number and its bucket. After that only comm_give_up and comm_destroy may
 * be called.
 */
struct comm;
struct backend;
struct buf;

struct comm_options {
    const char *name;    /* one of comm_names; NULL or "auto": what fits best */
    int64_t timeout_ms;  /* for one call; 0: a minute */
    size_t small_bytes;  /* up to here by recursive doubling; 0: the default */
    bool is_for_devices; /* comm_use_backend may come with one */
};

/* The names there are, "auto" first, NULL-ended. */
extern const char *const comm_names[];

/* Waits for all ranks, which must agree on their number. The caller's to
 * destroy. One rank needs no other and always works. NULL with ERR_USAGE (an
 * unknown name: tells the nearest) or ERR_FAILED. */
struct comm *comm_create(const struct ranks *ranks,
                         const struct comm_options *options, struct err *err);
void comm_destroy(struct comm *comm); /* takes NULL; waits for nobody */

/* What it came to: a name, and which of this host's ranks this one is, as they
 * found out by meeting. */
const char *comm_name(const struct comm *comm);
int comm_local_rank(const struct comm *comm);
int comm_local_size(const struct comm *comm);

/* A rank's host, as that rank calls it. */
const char *comm_host(const struct comm *comm, int rank);

/* Collective. What this backend computes with is given to the calls from now
 * on: where ranks have devices that talk to each other it goes from one to the
 * other, if the kind is nccl, or auto and for devices. Appends a line to *notes
 * where auto has found out that it cannot. -1 with ERR_FAILED: why nccl
 * cannot. */
int comm_use_backend(struct comm *comm, const struct backend *backend,
                     struct buf *notes, struct err *err);

/* What the next calls are for, in messages; -1: for nothing in particular. */
void comm_set_bucket(struct comm *comm, int bucket);

/* Zeroed memory, the communicator's until it is destroyed; at most once for
 * each. Where ranks of a host share memory they see each other's
 * window, so what lies there is added up in place, without copies; it must lie
 * at the same place of it on all ranks. NULL with ERR_FAILED: too much. */
void *comm_window(struct comm *comm, size_t bytes, struct err *err);

/* data[count] becomes the sum over all ranks. */
int comm_all_reduce(struct comm *comm, float *data, size_t count,
                    struct err *err);
/* data[size * share]: this rank's share of it, data + rank * share, becomes
 * the sum over all ranks; the rest has no meaning then. */
int comm_reduce_scatter(struct comm *comm, float *data, size_t share,
                        struct err *err);
/* data[size * share_bytes]: all shares become those of their ranks. */
int comm_all_gather(struct comm *comm, void *data, size_t share_bytes,
                    struct err *err);
/* data[bytes] becomes that of rank root. */
int comm_broadcast(struct comm *comm, void *data, size_t bytes, int root,
                   struct err *err);
/* Returns when all ranks have called it. */
int comm_barrier(struct comm *comm, struct err *err);

/* Where this rank ends for a reason of its own: the others' calls fail with it,
 * within a second, whatever they do. Puts this rank, its host and its last call
 * in front of the reason; a call that has failed has done all that. Always
 * -1. */
int comm_give_up(struct comm *comm, struct err *err);

#endif
