/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODELS_GPT2_FILES_H
#define SMTUNE_TRAINING_MODELS_GPT2_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/weights/dtype.h"

struct params;

/*
 * A gpt in the files of Hugging Face's GPT-2: config.json, and weights
 * (weight_files.h) under its names and in its layout.
 */

struct gpt2_config {
    int64_t tokens, context, width, layers, heads;
};

/* ERR_NOT_FOUND, or ERR_FILE where it is another model, or one that computes
 * in another way than gpt: names the file, the key and its value. */
int gpt2_config_read(const char *folder, struct gpt2_config *config,
                     struct err *err);
/* end: the token that ends a text, or -1. */
int gpt2_config_write(const char *folder, const struct gpt2_config *config,
                      int end, enum dtype dtype, struct err *err);

/*
 * Fills the parameters of a gpt with the weights of a folder. ERR_FILE where a
 * tensor is missing, has another shape or has no place in gpt: names the
 * tensor, its shape and the expected one. Of positions the first ones are
 * taken, where the file has more.
 */
int gpt2_weights_read(const char *folder, struct params *params,
                      struct err *err);
/* Writes them, in shards of at most shard_bytes (0: in one file). */
int gpt2_weights_write(const char *folder, const struct params *params,
                       enum dtype dtype, uint64_t shard_bytes, struct err *err);

#endif
