/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_GPU_MODELS_H
#define SMTUNE_EXECUTORS_MACHINE_GPU_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "executors/machine/gpus.h"

/* What nvidia-smi calls the machine's GPUs: "NVIDIA A100-SXM4-80GB", and
 * "NVIDIA A100-SXM4-80GB MIG 1g.10gb" of a MIG device. */

enum { GPU_MODEL_MAX = 96 };

struct gpu_models {
    char names[GPUS_MAX][GPU_MODEL_MAX]; /* [count]; "": not known */
    size_t count;
};

/* Those of these GPUs, in the same order. Takes as long as nvidia-smi does, up
 * to 20 s, and twice that where only some are MIG devices. -1 where that is
 * missing or fails. */
int gpu_models_find(const struct gpu *gpus, size_t count,
                    struct gpu_models *models, struct err *err);

/* The same from what nvidia-smi prints for index,uuid,name. */
void gpu_models_read(const char *text, const struct gpu *gpus, size_t count,
                     struct gpu_models *models);

/* Adds those of MIG devices, from what nvidia-smi -L prints. */
void gpu_models_read_mig(const char *text, const struct gpu *gpus,
                         struct gpu_models *models);

/*
 * Whether a GPU of this model is of a type as a user writes it: the type's
 * letters and digits are whole words of the model that follow each other, in
 * any case. "a100", "A100-SXM4" and "rtx4090" are types of "NVIDIA
 * A100-SXM4-80GB" and "NVIDIA GeForce RTX 4090"; "a10" is no type of the first.
 * A MIG device is of the type of its profile, with its GPU's before it or not:
 * "1g.10gb", "a100_1g.10gb"; "a100" is a whole one.
 */
bool gpu_model_is(const char *model, const char *type);

/* Bit i of *set: GPU i is of the type. -1 with ERR_FAILED where fewer than
 * `wanted` are, and the models that are there. */
int gpu_models_choose(const struct gpu_models *models, const char *type,
                      int wanted, uint64_t *set, struct err *err);

#endif
