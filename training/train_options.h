/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_TRAIN_OPTIONS_H
#define SMTUNE_TRAINING_TRAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "training/util/flags.h"

/* What the training loop can be told, for every model. */
struct train_options {
    double lr, momentum, weight_decay;
    int optimizer; /* index into optim_names */
    int schedule;  /* index into lr_schedule_names */
    int backend;   /* index into backend_names */
    int precision; /* enum precision */
    int64_t batch, epochs, limit, seed, threads;
    int64_t horizon; /* epochs at the end of schedule; 0: epochs */
    double warmup;   /* epochs */
    double decay_every, decay_factor; /* of schedule step; epochs */
    double decay_share;               /* of schedule wsd */
    int scale_lr;                     /* index into lr_scaling_names */
    int64_t base_batch;               /* to which lr belongs */
    int64_t grow_every, grow_factor;  /* of the batch; epochs, 0: never */
    double clip_norm;                 /* 0: no clipping */
    int64_t log_steps, check_every;   /* steps; 0: never */
    int comm;                         /* index into comm_names */
    int64_t comm_timeout_s;           /* for what ranks do together */
    int64_t shares;             /* of a batch; 0: the checkpoint's, or one for
                                   each rank */
    int64_t accumulate;         /* shares a rank, where shares is 0 */
    double bucket_mb;           /* of gradients that are sent at a time */
    int64_t zero;               /* stage of ZeRO */
    const char *data;           /* NULL: the model's default */
    const char *checkpoint_dir; /* NULL: no checkpoints */
    bool no_cuda_graphs;        /* each operation is asked for by itself */
    bool adopt, test, quiet;    /* for the caller of the loop */
};

enum { TRAIN_BATCH_MAX = 65536 };

extern const struct flag train_flags[];

#endif
