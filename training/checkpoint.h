/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CHECKPOINT_H
#define SMTUNE_TRAINING_CHECKPOINT_H

#include <stdint.h>

#include "base/err.h"
#include "training/optim.h"
#include "training/params.h"

struct buf;

/*
 * The whole state of a run in one file, from which it goes on bit for bit.
 * A directory belongs to one run and holds its two newest checkpoints, named
 * by their step; a file appears there whole or not at all, and its checksum
 * tells when it was damaged later.
 */

/* How far a run is. */
struct position {
    int64_t epoch;   /* complete ones */
    int64_t batch;   /* complete ones of the epoch that is under way */
    uint64_t step;   /* batches in all */
    double loss_sum; /* over the images of those of this epoch */
    /* Of the last complete epoch. */
    double train_loss, val_loss, val_error;
};

/* What is saved and restored; all of it borrowed. */
struct checkpoint_parts {
    const char *settings; /* "name=value\n" lines, which are saved */
    const char *required; /* such lines: a checkpoint that has another value
                             for one of the names does not fit */
    const struct params *params;
    const struct optim *optim;
    struct position *position;
};

int checkpoint_save(const char *directory, const struct checkpoint_parts *parts,
                    struct err *err);

/* One file, read and found to be intact. */
struct checkpoint;

/*
 * Opens the newest intact checkpoint; *checkpoint is NULL when there is none
 * (no error). Each damaged one that was passed over is one line in *notes.
 */
int checkpoint_open(const char *directory, struct checkpoint **checkpoint,
                    struct buf *notes, struct err *err);
void checkpoint_destroy(struct checkpoint *checkpoint);

/* Its "name=value\n" lines, settings among them; as long as it lives. */
const char *checkpoint_header(const struct checkpoint *checkpoint);

/* Overwrites the parts. ERR_FAILED, and nothing changed, when the checkpoint
 * does not fit them: names the first difference. */
int checkpoint_restore(const struct checkpoint *checkpoint,
                       const struct checkpoint_parts *parts, struct err *err);

#endif
