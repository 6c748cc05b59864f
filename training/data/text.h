/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_TEXT_H
#define SMTUNE_TRAINING_DATA_TEXT_H

#include <stdint.h>

#include "training/data/data.h"

/*
 * Text, of which the last twentieth is the test and the twentieth before is
 * held out. A sample is `context` tokens in a row, and its targets are the
 * tokens that follow each; inputs: uint16_t [context].
 */

enum { TEXT_PARTS = 20 };

/* The first member of the options of a model that has data_text. */
struct text_options {
    int64_t context;        /* tokens of a sample: 1 .. 65536 */
    const char *vocabulary; /* "bytes", a file as of bpe.h, or files as of
                               tokenizer_files.h */
    int64_t tokens; /* of the model where the vocabulary has fewer; or 0 */
};

extern const struct data_kind data_text;

/* How many of a text's first bytes are trained on. */
static inline size_t text_learnable(size_t length)
{
    return length - 2 * (length / TEXT_PARTS);
}

#endif
