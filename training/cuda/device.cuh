/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_DEVICE_CUH
#define SMTUNE_TRAINING_CUDA_DEVICE_CUH

#include <cblas.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include "training/ops/backend.h"
}

/*
 * The one device of this process, its stream, and what went wrong on it first.
 * The table of operations has no room for a handle, so this is the shared
 * object's own state. One thread uses it; a second one, which has entered,
 * waits for marks, adds and copies.
 */

static constexpr size_t SCRATCH_NUMBERS = 1 << 22;
static constexpr int TOTALS_MAX = 1024; /* partial totals of a batch */
static constexpr int PENDING_MAX = 16;  /* batches before a synchronize */

cudaStream_t device_stream(void);

/* What kernels of one operation leave for the next, until it ends. */
float *device_scratch(void); /* [SCRATCH_NUMBERS] */

/* Partial totals [count <= TOTALS_MAX] of a batch; `to` gets their sum added at
 * the next synchronize, in order. */
struct totals *device_totals(const char *operation, int count,
                             struct totals *to);

/* Those that have been asked for since the last synchronize. */
struct pending_totals {
    struct totals *from, *to;
    int count;
};
struct pending {
    struct pending_totals each[PENDING_MAX];
    int batches;
};
struct pending *device_pending(void);

/* What fails between the two has not failed the device: then `end` gives
 * false. */
void device_begin_recording(void);
bool device_end_recording(void);

/* Remembers the first failure, which the next synchronize tells. */
void device_check(const char *operation, cudaError_t status);
void device_fail(const char *operation, const char *format, ...)
    PRINTF_LIKE(2, 3);

#endif
