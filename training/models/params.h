/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODELS_PARAMS_H
#define SMTUNE_TRAINING_MODELS_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/ops/backend.h"
#include "training/ops/matrix.h"

/*
 * A model's parameters: named matrices in one buffer, with their gradients at
 * the same places of a second one, so that an optimizer, a checkpoint or a sum
 * over ranks sees two flat arrays. Embedded: begin with all zeroes, add the
 * tensors, allocate, and end with params_clear.
 *
 * Tensors that are used together, as those of a layer, form a unit. The last
 * unit comes first in the buffers: its gradients are the first that are known,
 * and what is known grows from the front. A model says when it enters and
 * leaves a unit; between the two its values and gradients may be touched.
 */

enum { TENSOR_NAME_MAX = 32, UNIT_ALIGN_BYTES = 4096 };

struct tensor {
    char name[TENSOR_NAME_MAX];
    size_t rows, columns;
    size_t offset; /* of its first element in `values` and `grads` */
    int unit;
};

struct unit {
    size_t offset, count; /* elements, padding included */
};

enum pass { PASS_FORWARD, PASS_BACKWARD };

/* What happens on the way. After a unit is left in PASS_BACKWARD its gradients
 * are those of the batch. */
struct params_hooks {
    void (*enter)(void *user, int unit, enum pass pass);
    void (*leave)(void *user, int unit, enum pass pass);
    void *user;
};

struct params {
    struct tensor *tensors;
    size_t tensor_count, tensor_capacity;
    struct unit *units;
    size_t unit_count, unit_capacity;
    size_t learnt; /* elements of the tensors */
    size_t count;  /* elements of each buffer, padding included */
    size_t spare; /* zeroes behind them in both, for who works on equal parts */
    real *values;
    real *grads;                   /* borrowed, from who trains (reducer.h) */
    const struct backend *backend; /* where both lie */
    const struct params_hooks *hooks; /* borrowed, or NULL */
};

/* Begins a unit, to which the tensors belong that are added next: its
 * number. */
int params_begin_unit(struct params *params);
/* The new tensor's index; -1 with ERR_USAGE when the model is too large. */
int params_add(struct params *params, const char *name, size_t rows,
               size_t columns, struct err *err);
/* Where each tensor lies; once, after the last params_add. Then `count` is
 * known, and params_allocate gets the values, zeroed. */
void params_place(struct params *params);
int params_allocate(struct params *params, const struct backend *backend,
                    struct err *err);
void params_clear(struct params *params);

struct matrix params_value(const struct params *params, int index);
struct matrix params_grad(const struct params *params, int index);

void params_enter(const struct params *params, int unit, enum pass pass);
void params_leave(const struct params *params, int unit, enum pass pass);

/*
 * Draws a tensor from a normal distribution with that deviation, as a function
 * of (seed, index) alone.
 */
void params_init_normal(struct params *params, int index, double deviation,
                        uint64_t seed);
/* The deviation sqrt(2 / inputs) of He et al., "Delving deep into rectifiers",
 * ICCV 2015, eq. 10, for a weight matrix [outputs][inputs]. */
void params_init_he(struct params *params, int index, uint64_t seed);
void params_init_constant(struct params *params, int index, double value);

#endif
