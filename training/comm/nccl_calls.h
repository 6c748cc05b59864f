/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_NCCL_CALLS_H
#define SMTUNE_TRAINING_COMM_NCCL_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * The little that we want of NCCL. It is behind a table, because it is the cuda
 * backend's (training/cuda/nccl.cu), which loads the library, libnccl.so.2,
 * when it is asked to. Collectives run on a stream of their own, beside what
 * computes, and in place. One thread at a time uses them.
 */

struct nccl_way;

enum { NCCL_ID_BYTES = 128, NCCL_DEVICE_MAX = 32 };

enum nccl_op {
    NCCL_ALL_REDUCE,
    NCCL_REDUCE_SCATTER,
    NCCL_ALL_GATHER,
    NCCL_BROADCAST
};

struct nccl_request {
    enum nccl_op op;
    void *data;
    size_t count; /* floats to reduce, of each share; else bytes, likewise */
    int root;
};

struct nccl_calls {
    /* Names this rank's device as all of its host do. NULL with ERR_FAILED:
     * the library is missing, or cannot be used. */
    struct nccl_way *(*open)(char device[NCCL_DEVICE_MAX], struct err *err);
    /* The first rank makes one for all. */
    int (*make_id)(struct nccl_way *way, char id[NCCL_ID_BYTES],
                   struct err *err);
    /* Begins to meet the others. */
    int (*join)(struct nccl_way *way, const char id[NCCL_ID_BYTES], int rank,
                int size, struct err *err);
    /* Begins a collective on what has been computed; that before must be
     * done. */
    int (*ask)(struct nccl_way *way, const struct nccl_request *request,
               struct err *err);
    /* Of what was begun: 1: it is done; 0: not yet; -1 with ERR_FAILED. */
    int (*test)(struct nccl_way *way, struct err *err);
    /* Whether data lies where a device reaches it. */
    bool (*reaches)(const void *data);
    /* Ends what is under way; waits for nobody. */
    void (*close)(struct nccl_way *way);
};

#endif
