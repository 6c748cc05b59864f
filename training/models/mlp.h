/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODELS_MLP_H
#define SMTUNE_TRAINING_MODELS_MLP_H

#include <stdint.h>

#include "training/models/model.h"

/* Fully connected layers with ReLU between them, softmax at the end. */

enum { MLP_MAX_DEPTH = 32 };

struct mlp_options {
    int64_t width; /* units of each hidden layer */
    int64_t depth; /* hidden layers, 0 .. MLP_MAX_DEPTH */
    double dropout;
};

extern const struct model_kind model_mlp;

#endif
