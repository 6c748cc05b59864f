/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_REDUCER_H
#define SMTUNE_TRAINING_REDUCER_H

#include <stdint.h>

#include "base/err.h"
#include "training/buckets.h"
#include "training/comm/comm.h"
#include "training/models/optim.h"
#include "training/models/params.h"

/*
 * Adds up the gradients of a step: those of this rank's shares, one after the
 * other, and then those of all ranks, along the tree of comm.h. It hooks into
 * the parameters: as soon as the gradients of a bucket are known they are sent,
 * by a thread, while the backward pass goes on (Li et al., "PyTorch
 * Distributed", VLDB 2020).
 *
 * What is not needed as a whole is kept by one rank alone (Rajbhandari et al.,
 * "ZeRO", SC 2020): from stage 1 on the moments, from 2 on the summed
 * gradients, in stage 3 the parameters too, which are had only while their
 * unit, or the one before it, is in use. All stages come to the same bits.
 */
struct reducer;

enum { REDUCER_STAGES = 4 };

struct reducer_options {
    int shares;          /* of this rank in a step; each is one backward pass */
    int stage;           /* of ZeRO; 0: none */
    size_t bucket_bytes; /* 0: all in one */
    const struct ranks *ranks;
};

/* The parameters must have buckets_spare numbers behind them; their gradients
 * get memory, in stages 0 and 1 the communicator's window. While it lives the
 * communicator is used through it alone, or after reducer_settle. The caller's
 * to destroy, before params and comm. NULL with ERR_FAILED. */
struct reducer *reducer_create(struct params *params, struct comm *comm,
                               const struct reducer_options *options,
                               struct err *err);
void reducer_destroy(struct reducer *reducer); /* takes NULL */

/* How long a shard is; all of the parameters in stage 0. */
size_t reducer_shard_count(const struct reducer *reducer);

/* How many sums of shares it keeps beside the gradients; from stage 2 on shards
 * of them, the first of which is what is updated. */
int reducer_sum_count(int stage, int shares);

/* Whether a pass is but its operations, the same ones for a share in each step:
 * nothing has to be sent or fetched meanwhile. */
bool reducer_is_alone(const struct reducer *reducer);

/* Before the passes of each share, from 0. */
void reducer_begin_share(struct reducer *reducer, int share);
/* After the last share, and after publishing: waits until all is done. */
int reducer_settle(struct reducer *reducer, struct err *err);

/* The Euclidean norm of the summed gradients, the same on all ranks and in all
 * stages. */
int reducer_norm(struct reducer *reducer, double *norm, struct err *err);

/* What this rank has to update, piece by piece, the last ones beyond the end of
 * the parameters maybe; in stage 3 it is all it has. Then each is told to the
 * others. */
int reducer_span_count(const struct reducer *reducer);
struct optim_span reducer_span(const struct reducer *reducer, int index);
void reducer_publish(struct reducer *reducer, int index);

/* A checksum of the parameters with which this rank computes between the two
 * calls, before the update; in stage 3 of each bucket, whenever it lets go of
 * it. It is the same on all ranks unless some number has changed by itself. */
void reducer_begin_digest(struct reducer *reducer);
uint32_t reducer_end_digest(struct reducer *reducer);

/* How long computing has waited for communication since it was last asked. */
double reducer_take_waited_ms(struct reducer *reducer);

#endif
