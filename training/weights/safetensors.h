/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_WEIGHTS_SAFETENSORS_H
#define SMTUNE_TRAINING_WEIGHTS_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/weights/weight.h"

/* One file in the format safetensors. */

/* A file that is open to read; its header is checked. */
struct safetensors;

/* NULL with ERR_NOT_FOUND, or ERR_FILE where it is damaged; both name it. */
struct safetensors *safetensors_open(const char *path, struct err *err);
void safetensors_close(struct safetensors *file); /* takes NULL */

/* All of its weights by name, [*count]; as long as the file is open. */
const struct weight *safetensors_weights(const struct safetensors *file,
                                         size_t *count);
/* NULL: there is none of that name. */
const struct weight *safetensors_find(const struct safetensors *file,
                                      const char *name);
/* So many numbers of one of them, which is of a type of dtype_is_float. */
int safetensors_read(const struct safetensors *file,
                     const struct weight *weight, uint64_t first, size_t count,
                     float *numbers, struct err *err);

/* Writes a file of weights; sets `begin` and `bytes` of each, all else is
 * given. All of the file is there, or nothing. */
int safetensors_write(const char *path, struct weight *weights, size_t count,
                      const struct weight_source *source, struct err *err);

#endif
