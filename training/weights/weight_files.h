/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_WEIGHTS_WEIGHT_FILES_H
#define SMTUNE_TRAINING_WEIGHTS_WEIGHT_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/weights/weight.h"

/*
 * The weights of a model in a folder, as Hugging Face's libraries have them:
 * `model.safetensors`, or several files (shards) of that format with
 * `model.safetensors.index.json`, which names the file of each tensor.
 */

struct weight_files;

/* Opens all files. NULL with ERR_NOT_FOUND or ERR_FILE, which name the file. */
struct weight_files *weight_files_open(const char *folder, struct err *err);
void weight_files_close(struct weight_files *files); /* takes NULL */

/* By name; as long as the files are open. */
size_t weight_files_count(const struct weight_files *files);
const struct weight *weight_files_at(const struct weight_files *files,
                                     size_t index);
const struct weight *weight_files_find(const struct weight_files *files,
                                       const char *name);
/* Some numbers of a weight; ERR_FILE where its type is not of dtype_is_float.
 */
int weight_files_read(const struct weight_files *files,
                      const struct weight *weight, uint64_t first, size_t count,
                      float *numbers, struct err *err);

/*
 * Writes weights (safetensors_write) into a folder that is there: one file, or
 * where that would have more data than shard_bytes (0: never) several, in the
 * order of the weights, with an index. A shard has more only where one weight
 * has.
 */
int weight_files_write(const char *folder, struct weight *weights, size_t count,
                       uint64_t shard_bytes, const struct weight_source *source,
                       struct err *err);

#endif
