/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_TRAIN_RUN_H
#define SMTUNE_TRAINING_TRAIN_RUN_H

#include "base/buf.h"
#include "training/checkpoint/checkpoint.h"
#include "training/comm/comm.h"
#include "training/lr_schedule.h"
#include "training/models/recorder.h"
#include "training/reducer.h"
#include "training/shares.h"
#include "training/train.h"

/*
 * A run, as the files of the loop know it.
 *
 * All that it computes is a function of its flags, of the number of shares and
 * of `at`: the samples' order of (seed, epoch), the random numbers of (seed,
 * step, place in the batch). So the parameters, the moments and the position
 * are its whole state, and a run that was stopped after any batch goes on as if
 * nothing had happened.
 */

/* What a share came to; each rank fills in its own. */
struct train_tally {
    double loss; /* the sum over targets */
    uint64_t errors;
    int64_t signal; /* that the rank was stopped with, or 0 */
};

/* What steps came to since the last report of one. */
struct meter {
    double loss; /* the sum over targets */
    size_t samples, steps;
    double grad_norm, lr; /* of the last one */
    double start_ms, input_ms, exposed_comm_ms;
};

struct train_run {
    const struct train_job *job;
    const struct train_options *options;
    struct ranks ranks;
    struct comm *comm;
    const struct backend *backend;
    struct shares shares;
    struct checkpoint *checkpoint; /* to go on from, or NULL */
    struct data *data;
    size_t train_count;            /* the first samples of data */
    size_t batch, batches;         /* samples of a step, steps of this epoch */
    struct buf settings, required; /* as of struct checkpoint_parts */
    struct lr_schedule lr;
    struct model *model;
    struct optim optim;
    struct reducer *reducer;
    struct recorder recorder;
    struct position at;
    struct checkpoint_piece *pieces; /* that this rank saves */
    struct checkpoint_parts parts;
    struct checkpoint_lock *lock; /* on the folder of those; or NULL */
    struct checkpoint_place place;
    struct checkpoint_saver *saver; /* NULL: nothing is saved */
    struct meter meter;
    size_t max_samples;          /* that this rank computes at a time ... */
    size_t evaluate_samples;     /* ... where it only measures */
    struct train_tally *tallies; /* [shares.count] */
    uint32_t *order;             /* [train_count]: of this epoch */
    uint32_t *samples; /* [max_samples]: of a batch that is only measured */
    uint8_t *inputs;   /* [max_samples][data->input_bytes] */
    uint16_t *targets; /* [max_samples][data->targets] */
    uint64_t *step;    /* at.step, where the backend computes */
};

enum { EVALUATE_TARGETS = 256 };

/* To the user, from the first rank. */
void run_note(const struct train_run *run, const char *text);

/* Keeps other runs out of the folder of checkpoints; rank 0's. */
int run_lock_checkpoints(struct train_run *run, struct err *err);
/* Looks for a checkpoint to go on from: run->checkpoint. */
int run_open_checkpoint(struct train_run *run, struct err *err);
/* Goes on from it; 0 also when there is none. */
int run_restore(struct train_run *run, struct err *err);
/* Once that is done; nothing where no checkpoints are wanted. */
int run_begin_saving(struct train_run *run, struct err *err);
/* Each rank writes what it has, beside training (checkpoint_save). */
int run_save(struct train_run *run, struct err *err);
/* Whether that has failed on this rank by now. */
int run_check_saver(struct train_run *run, struct err *err);
/* Waits until all ranks have written. */
int run_finish_saving(struct train_run *run, struct err *err);
void run_end_saving(struct train_run *run);

/* The shares of a batch: those that the flags say, or else `saved` (0: not
 * known), or else one for each rank and accumulation. */
int run_cut(struct train_run *run, int saved, struct err *err);
/* Opens the data, and makes run->model for samples as those are, and for no
 * more than there are: its sizes are known, its memory is still to be had. */
int run_plan(struct train_run *run, enum data_part part, struct err *err);

/* What so many samples are for the model; scale and first are the caller's. */
struct batch run_gather(struct train_run *run, const uint32_t *samples,
                        size_t count);
/* The tallies of all ranks: their sum, added up in order. The rank with the
 * first loss that is not finite in *bad, -1 where there is none. */
int run_sum_tallies(struct train_run *run, struct train_tally *sum, int *bad,
                    struct err *err);

/* Mean loss and share of errors on the samples from `first` on, the same on
 * all ranks. */
int run_measure(struct train_run *run, size_t first, double *loss,
                double *error, struct err *err);

/* The batch of the epoch that is under way: run->batch and run->batches. */
void run_set_batch(struct train_run *run);

/* Compares what all ranks must have alike. ERR_FAILED names those that
 * differ. */
int run_check(struct train_run *run, const char *what, uint32_t digest,
              struct err *err);

/* One step on these samples of the order: `sum` is what it came to. No step is
 * made where its loss is not finite: *bad is the rank, else -1. */
int run_step(struct train_run *run, size_t start, size_t count,
             struct train_tally *sum, int *bad, struct err *err);

#endif
