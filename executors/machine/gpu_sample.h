/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_GPU_SAMPLE_H
#define SMTUNE_EXECUTORS_MACHINE_GPU_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executors/machine/gpus.h"

/*
 * The use of GPUs, from lines of
 *
 *     nvidia-smi --query-gpu=index,uuid,utilization.gpu,memory.used
 *                --format=csv,noheader,nounits
 *
 * one for each GPU at each look: "0, GPU-6d0c..., 37, 12034". Where the driver
 * has no value, it writes words: [N/A], [Not Supported], ERR! and others.
 */

/* What is asked for, and the form of the answer. */
#define GPU_SAMPLE_QUERY  "--query-gpu=index,uuid,utilization.gpu,memory.used"
#define GPU_SAMPLE_FORMAT "--format=csv,noheader,nounits"

struct gpu_sample {
    int64_t index;
    char uuid[GPU_NAME_MAX]; /* "": not known */
    int64_t percent;         /* of the last second or less; -1: not known */
    int64_t memory_bytes;    /* in use; -1: not known */
};

/* Whether the line, of that length and without its newline, is one. */
bool gpu_sample_read(const char *line, size_t length,
                     struct gpu_sample *sample);

/* Samples of the GPUs of one attempt; all zeroes at first. */
struct gpu_tally {
    int64_t samples, percents; /* with a known load; the sum of these */
    int64_t memory_bytes;      /* the largest of one GPU, if has_memory */
    uint64_t seen;             /* bit i: GPU i */
    bool has_memory;
};

/* Counts the sample if its GPU is one of those that CUDA_VISIBLE_DEVICES names
 * (NULL: all are). The name of a part of a GPU (MIG) is none: the driver has
 * no load for it. */
void gpu_tally_add(struct gpu_tally *tally, const char *visible,
                   const struct gpu_sample *sample);

/* How long its GPUs together were busy in so long a time, by the mean of the
 * samples; -1: not known. */
int64_t gpu_tally_busy_ms(const struct gpu_tally *tally, int64_t time_ms);

#endif
