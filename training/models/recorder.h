/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODELS_RECORDER_H
#define SMTUNE_TRAINING_MODELS_RECORDER_H

#include <stdbool.h>

#include "training/models/model.h"

/*
 * Training passes that are recorded when they come again (struct
 * recording_calls), and asked for as a whole from then on: a small model's
 * operations take the device less time than the processor takes to ask for
 * each. What comes of them is the same, bit for bit.
 *
 * Two passes are one and the same when they are of the same share of a step and
 * of the same batch, but for what lies in its memory. What models give their
 * operations by value may hang on nothing else.
 */

enum { RECORDER_MAX = 16 }; /* the oldest is replaced */

struct recorded {
    struct batch batch;
    int share;
    struct recording *recording; /* NULL: it has come once */
};

/* Embedded: all zeroes records nothing. */
struct recorder {
    const struct recording_calls *calls; /* NULL: it does not record */
    struct recorded kept[RECORDER_MAX];
    size_t count;         /* that have been kept so far */
    struct totals totals; /* of a pass that was recorded */
};

/* Where that is wanted and the backend can; recorder_clear in the end. */
void recorder_init(struct recorder *recorder, const struct backend *backend,
                   bool is_wanted);
void recorder_clear(struct recorder *recorder);

/* As model_train, for one of the shares of a step, but *totals becomes what
 * that came to. Hooks of the parameters are not called where it was recorded.
 */
int recorder_train(struct recorder *recorder, struct model *model,
                   const struct batch *batch, int share, struct totals *totals,
                   struct err *err);

#endif
