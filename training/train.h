/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_TRAIN_H
#define SMTUNE_TRAINING_TRAIN_H

#include <signal.h>
#include <stdint.h>

#include "base/err.h"
#include "training/model.h"
#include "training/train_options.h"

/*
 * The training loop, the same for every model: epochs over the training
 * images in an order of its own each, a measurement on the held out images
 * after each, and a checkpoint.
 *
 * The last sixth of the training file (of Fashion-MNIST: 10,000 images) is
 * held out, whatever the seed and the other flags, so that the validation
 * errors of all trials of a search compare. The test file is read by
 * train_test alone.
 */

/* After an epoch; without numbers (NaN) when training diverged in it. */
struct train_report {
    int64_t epoch; /* from 1 */
    double train_loss, val_loss;
    double val_error;    /* the share classified wrong */
    double images_per_s; /* trained on; 0 when none was */
};

struct train_job {
    const struct model_kind *kind;
    const void *model_options;
    const struct train_options *options;
    const char *settings; /* flags_print_kept of both */
    const char *required; /* those that a checkpoint must have been made with */
    /* Not 0: save and stop after this batch. Set by a signal handler. */
    const volatile sig_atomic_t *stop;
    void (*on_epoch)(void *user, const struct train_report *report);
    /* Each line ends with a newline. */
    void (*on_note)(void *user, const char *lines);
    void *user;
};

enum train_end { TRAIN_DONE, TRAIN_STOPPED };

/*
 * Trains up to options->epochs, from the newest checkpoint where there is one;
 * when that is already there or past it, reports its last epoch again. So a
 * run in stages comes to what it would have come to at once, bit for bit, if
 * all of them have the same horizon or a schedule that has no need of one. An
 * enum train_end, or -1: ERR_NOT_FOUND and ERR_FILE for the data, ERR_USAGE
 * for a model that is too large or epochs past the horizon, else ERR_FAILED,
 * divergence among them.
 */
int train_run(const struct train_job *job, struct err *err);

/* What the newest checkpoint of the directory was trained with, as
 * flags_restore_kept reads it: the caller's to free. NULL with ERR_NOT_FOUND
 * when there is none. */
char *train_saved_settings(const char *directory, struct err *err);

/* Measures the newest checkpoint on the test images: the mean loss, and the
 * share classified wrong. Errors as of train_run. */
int train_test(const struct train_job *job, double *loss, double *error,
               struct err *err);

#endif
