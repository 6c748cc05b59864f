/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_PARAMS_H
#define SMTUNE_TRAINING_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/real.h"

/*
 * A model's parameters: named matrices laid end to end in one buffer, with
 * their gradients at the same places of a second one, so that an optimizer
 * or a checkpoint sees two flat arrays. Embedded: begin with all zeroes, add
 * the tensors, allocate, and end with params_clear.
 */

struct matrix {
    real *data; /* [rows][columns] */
    size_t rows, columns;
};

enum { TENSOR_NAME_MAX = 32, PARAMS_ALIGN_BYTES = 64 };

struct tensor {
    char name[TENSOR_NAME_MAX];
    size_t rows, columns;
    size_t offset; /* of its first element in `values` and `grads` */
};

struct params {
    struct tensor *tensors;
    size_t tensor_count, tensor_capacity;
    size_t count; /* elements of each buffer, padding included */
    real *values, *grads;
};

/* The new tensor's index; -1 with ERR_USAGE when the model is too large. */
int params_add(struct params *params, const char *name, size_t rows,
               size_t columns, struct err *err);
/* Both buffers, zeroed; once, after the last params_add. */
int params_allocate(struct params *params, struct err *err);
void params_clear(struct params *params);

struct matrix params_value(const struct params *params, int index);
struct matrix params_grad(const struct params *params, int index);

/*
 * Draws a weight matrix [outputs][inputs] from a normal distribution of
 * variance 2 / inputs (He et al., "Delving deep into rectifiers", ICCV 2015,
 * eq. 10), as a function of (seed, index) alone.
 */
void params_init_he(struct params *params, int index, uint64_t seed);

/* `count` zeroed elements at an address that suits SIMD, or NULL with
 * ERR_FAILED. Released with free(). */
real *real_array(size_t count, struct err *err);

#endif
