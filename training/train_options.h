/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_TRAIN_OPTIONS_H
#define SMTUNE_TRAINING_TRAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "training/flags.h"

/* What the training loop can be told, for every model. */
struct train_options {
    double lr, momentum, weight_decay;
    int optimizer; /* index into optim_names */
    int schedule;  /* index into lr_schedule_names */
    int64_t batch, epochs, limit, seed, threads;
    int64_t horizon;            /* epochs at the end of schedule; 0: epochs */
    const char *data;           /* directory */
    const char *checkpoint_dir; /* NULL: no checkpoints */
    bool adopt, test, quiet;    /* for the caller of the loop */
};

extern const struct flag train_flags[];

#endif
