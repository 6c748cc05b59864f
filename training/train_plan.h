/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_TRAIN_PLAN_H
#define SMTUNE_TRAINING_TRAIN_PLAN_H

#include <stdint.h>

#include "base/err.h"
#include "training/reducer.h"
#include "training/train.h"

struct buf;

/*
 * What a training would take, before it takes it: the memory of a rank by
 * purpose and stage of ZeRO, the arithmetic of a step, and how long that takes
 * at least on this machine.
 */

enum plan_purpose {
    PLAN_PARAMETERS,
    PLAN_GRADIENTS,
    PLAN_PARTIAL_SUMS, /* of shares that a rank computes one after the other */
    PLAN_MOMENTS,
    PLAN_ACTIVATIONS,
    PLAN_CHECKPOINT, /* what is copied to be written; 0: no --checkpoint-dir */
    PLAN_SAMPLES,    /* of a batch; the data themselves come besides */
    PLAN_PURPOSES
};

struct train_plan {
    int ranks, shares;
    size_t parameters;
    uint64_t bytes[PLAN_PURPOSES][REDUCER_STAGES]; /* of a rank */
    double flops;        /* of a step, all ranks together */
    double gemm_flops_s; /* what a core of this machine does */
    double copy_bytes_s; /* and how fast it copies */
    double product_ms;   /* a step's matrix products, on a core a rank */
    double update_ms;    /* reading and writing what the optimizer does */
};

struct train_plan_options {
    int64_t ranks;
    int output; /* index into its choices */
};

extern const struct flag train_plan_flags[]; /* of struct train_plan_options */

/* Reads the data, for their shape, and measures for a fraction of a second.
 * Errors as of train_run. */
int train_plan_make(const struct train_job *job,
                    const struct train_plan_options *options,
                    struct train_plan *plan, struct err *err);

/* Appends a table, or JSON. */
void train_plan_print(const struct train_plan *plan,
                      const struct train_plan_options *options,
                      struct buf *out);

#endif
