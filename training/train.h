/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_TRAIN_H
#define SMTUNE_TRAINING_TRAIN_H

#include <signal.h>
#include <stdint.h>

#include "base/err.h"
#include "training/models/model.h"
#include "training/train_options.h"

/*
 * The training loop, the same for every model: epochs over the training
 * samples in an order of its own each, a measurement on those held out after
 * each, and a checkpoint. Where there are several ranks (ranks.h) all of them
 * call the same functions, and share the work: a batch is that of all of them
 * together. Only the first one reports, notes and saves.
 *
 * Which are held out (of Fashion-MNIST the last 10,000 images) is the same
 * whatever the seed and the other flags, so that the validation errors of all
 * trials of a search compare. The test data is read by train_test alone.
 */

/* After an epoch; without numbers (NaN) when training diverged in it. */
struct train_report {
    int64_t epoch; /* from 1 */
    double train_loss, val_loss;
    double val_error;        /* the share classified wrong */
    double samples_per_s;    /* trained on; 0 when none was */
    double bytes_per_target; /* as of struct data */
};

/* After some steps: means over them, but for what is said of the last one. */
struct train_step {
    uint64_t step; /* the last one, from 1 */
    double loss;
    double grad_norm, lr; /* of the last one; the norm before it is clipped */
    double samples_per_s;
    double compute_ms, exposed_comm_ms, input_ms; /* of a step */
};

/* On the test data. */
struct train_result {
    double loss, error;      /* the mean; the share classified wrong */
    double bytes_per_target; /* as of struct data */
};

struct train_job {
    const struct model_kind *kind;
    const void *model_options;
    const struct train_options *options;
    const char *settings; /* flags_print_kept of both */
    const char *required; /* those that a checkpoint must have been made with */
    /* Not 0: save and stop after this batch. Set by a signal handler. */
    const volatile sig_atomic_t *stop;
    /* These three on the first rank alone. */
    void (*on_epoch)(void *user, const struct train_report *report);
    void (*on_step)(void *user, const struct train_step *report);
    /* Each line ends with a newline. */
    void (*on_note)(void *user, const char *lines);
    void *user;
};

/*
 * Trains up to options->epochs, from the newest checkpoint where there is one;
 * when that is already there or past it, reports its last epoch again. So a
 * run in stages comes to what it would have come to at once, bit for bit, if
 * all of them have the same horizon or a schedule that has no need of one, also
 * with another number of ranks. 0; the signal with which any of the ranks was
 * stopped; or -1: ERR_NOT_FOUND and ERR_FILE for the data, ERR_USAGE for a
 * model that is too large, epochs past the horizon or a number of ranks that
 * does not fit, ERR_BUSY where another run uses the folder, else ERR_FAILED,
 * divergence among them. Where one rank fails all do.
 */
int train_run(const struct train_job *job, struct err *err);

/* What the newest checkpoint of the directory was trained with, as
 * flags_restore_kept reads it: the caller's to free. NULL with ERR_NOT_FOUND
 * when there is none. */
char *train_saved_settings(const char *directory, struct err *err);

/* Measures the newest checkpoint on the test data. 1 on the first rank, 0 on
 * others; errors as of train_run. */
int train_test(const struct train_job *job, struct train_result *result,
               struct err *err);

#endif
