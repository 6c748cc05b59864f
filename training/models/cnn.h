/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODELS_CNN_H
#define SMTUNE_TRAINING_MODELS_CNN_H

#include <stdint.h>

#include "training/models/model.h"

/*
 * Convolutions, each followed by max pooling and ReLU, then a fully connected
 * layer with ReLU, and softmax at the end (LeCun et al., Proc. IEEE 86(11),
 * 1998).
 */

enum { CNN_MAX_DEPTH = 8 };

struct cnn_options {
    int64_t channels; /* of the first convolution; each next one's are twice */
    int64_t depth;    /* convolutions, 1 .. CNN_MAX_DEPTH */
    int64_t width;    /* units of the hidden layer */
    double dropout;   /* of the hidden layer */
};

extern const struct model_kind model_cnn;

#endif
