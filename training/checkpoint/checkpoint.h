/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CHECKPOINT_CHECKPOINT_H
#define SMTUNE_TRAINING_CHECKPOINT_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/models/optim.h"
#include "training/models/params.h"

struct buf;
struct comm;

/*
 * The whole state of a run in a folder, from which it goes on bit for bit, with
 * as many ranks as before or with others.
 *
 * A directory belongs to one run and holds its two newest checkpoints: folders
 * named by their step. In one of them each rank writes a file with its share of
 * the state, and when all of these last, rank 0 writes `manifest`: without it
 * there is no checkpoint. The state is a few flat arrays (array 0 is the
 * parameters, the others are the optimizer's moments), and a share is pieces of
 * them; how they are cut is of no matter to who reads them.
 *
 * A run's life: checkpoint_lock, checkpoint_open and checkpoint_restore, then
 * checkpoint_saver_create, then checkpoint_save at any step with
 * checkpoint_check after each, checkpoint_finish before the process ends,
 * checkpoint_saver_destroy and checkpoint_unlock. Where a function fails on one
 * rank that all ranks call, this rank tells the others (comm_give_up), which
 * are or will be waiting for it.
 */

/* How far a run is. The same on all ranks. */
struct position {
    int64_t epoch;   /* complete ones */
    int64_t batch;   /* complete ones of the epoch that is under way */
    uint64_t step;   /* batches in all */
    double loss_sum; /* over the images of those of this epoch */
    /* Of the last complete epoch. */
    double train_loss, val_loss, val_error;
};

/* The folder of a run's checkpoints, and among whom. All of it borrowed. */
struct checkpoint_place {
    const char *directory; /* the same one on all ranks, and there */
    int rank, size;
    struct comm *comm; /* NULL: there is one rank */
};

enum { CHECKPOINT_ARRAYS_MAX = 1 + OPTIM_MAX_MOMENTS };

/* Where some numbers of an array are in this process. */
struct checkpoint_piece {
    int array;           /* 0: the parameters; i: moments[i - 1] */
    size_t first, count; /* in numbers, of the array as a whole */
    real *data;          /* [count] */
};

/*
 * What is saved and restored; all of it borrowed. When saving, the pieces of
 * all ranks together are each number of each array once; when restoring, they
 * are what this rank wants, in any way.
 */
struct checkpoint_parts {
    const char *settings; /* "name=value\n" lines, which are saved */
    const char *required; /* such lines: a checkpoint that has another value
                             for one of the names does not fit */
    const struct params *params; /* the shapes; not the values */
    int moment_count;
    const struct checkpoint_piece *pieces;
    size_t piece_count;
    struct position *position;
};

/*
 * Of ranks that each have all of the state: the part that this one saves, a
 * piece an array. Of one rank, it is all of it. Returns how many.
 */
size_t checkpoint_share(const struct params *params, const struct optim *optim,
                        int rank, int size,
                        struct checkpoint_piece pieces[CHECKPOINT_ARRAYS_MAX]);

/*
 * Keeps other runs out of a directory, which must be there, until the process
 * ends or checkpoint_unlock. Rank 0 calls it for all. ERR_BUSY where another
 * run is in it; where the file system has no locks, a line in *notes, and NULL
 * in *lock.
 */
struct checkpoint_lock;
int checkpoint_lock(const char *directory, struct checkpoint_lock **lock,
                    struct buf *notes, struct err *err);
void checkpoint_unlock(struct checkpoint_lock *lock); /* takes NULL */

/* Checkpoints that are found: all ranks call the same. */

/* One that is whole: its checksums are right. */
struct checkpoint;

/*
 * Opens the newest whole checkpoint, the same one on all ranks, which share
 * the reading; *checkpoint is NULL when there is none (no error). Each one that
 * was passed over is a line in *notes, on all ranks: it names the file and what
 * is wrong with it. One without a manifest was never finished. ERR_FAILED where
 * none is whole and one is damaged, and for one in the format of another
 * version: all are left as they are.
 */
int checkpoint_open(const struct checkpoint_place *place,
                    struct checkpoint **checkpoint, struct buf *notes,
                    struct err *err);
void checkpoint_destroy(struct checkpoint *checkpoint); /* takes NULL */

/* Its "name=value\n" lines, settings among them; as long as it lives. */
const char *checkpoint_header(const struct checkpoint *checkpoint);
/* What stands behind "name=" in them, and how long it is; NULL: no such line,
 * and *length stays. */
const char *checkpoint_value(const struct checkpoint *checkpoint,
                             const char *name, size_t *length);
/* The number there; 0 where there is none. */
uint64_t checkpoint_number(const struct checkpoint *checkpoint,
                           const char *name);

/* Overwrites the pieces and the position. ERR_FAILED, and nothing changed, when
 * the checkpoint does not fit them: names the first difference. Waits for no
 * other rank. */
int checkpoint_restore(const struct checkpoint *checkpoint,
                       const struct checkpoint_parts *parts, struct err *err);

/* Checkpoints that are made. */

struct checkpoint_saver;

/*
 * All ranks call it, once they have restored what they go on from: what is left
 * of a killed run, and what is newer than parts->position, is removed. `place`
 * and `parts` and what they point to are used as long as the saver lives. The
 * caller's to destroy.
 */
struct checkpoint_saver *checkpoint_saver_create(
    const struct checkpoint_place *place, const struct checkpoint_parts *parts,
    struct err *err);

/*
 * Copies the pieces, the settings and the position, and has a thread write them
 * while training goes on. All ranks call it, at the same step. At most one
 * checkpoint is under way: while the one before is, this waits, so that the
 * newest one in the directory is never older than two saves.
 */
int checkpoint_save(struct checkpoint_saver *saver, struct err *err);

/* Whether writing has failed on this rank, as where the disk is full: call it
 * at every step. Waits for nothing. */
int checkpoint_check(struct checkpoint_saver *saver, struct err *err);

/* All ranks call it: returns when the last save of all of them lasts. */
int checkpoint_finish(struct checkpoint_saver *saver, struct err *err);

/* Takes NULL. A save under way ends unfinished where it waits for others; the
 * checkpoint before it is kept. */
void checkpoint_saver_destroy(struct checkpoint_saver *saver);

#endif
