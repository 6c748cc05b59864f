/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODELS_GPT_OPTIONS_H
#define SMTUNE_TRAINING_MODELS_GPT_OPTIONS_H

#include <stdint.h>

#include "training/data/text.h"

/* What the flags of gpt say. */

enum { GPT_MAX_LAYERS = 96 };

struct gpt_options {
    struct text_options text;
    int64_t layers; /* 1 .. GPT_MAX_LAYERS */
    int64_t heads;  /* divides width */
    int64_t width;
    double dropout;
    const char *init_from; /* a folder of weights to begin with, or NULL */
};

#endif
