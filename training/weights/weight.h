/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_WEIGHTS_WEIGHT_H
#define SMTUNE_TRAINING_WEIGHTS_WEIGHT_H

#include <stdint.h>

#include "training/weights/dtype.h"

/* A named tensor of a file of weights. */

struct buf;

enum { WEIGHT_MAX_DIMENSIONS = 8 };

struct weight {
    char *name; /* without control characters */
    enum dtype dtype;
    size_t dimensions;
    uint64_t shape[WEIGHT_MAX_DIMENSIONS];
    uint64_t count;        /* of numbers */
    uint64_t begin, bytes; /* where they are in the file's data */
};

/* Whether it has these dimensions; 0 as the last one: one dimension. */
bool weight_is(const struct weight *weight, uint64_t rows, uint64_t columns);
/* Appends "[2, 3]" for a shape. */
void weight_print_shape(const struct weight *weight, struct buf *out);
/* For qsort and bsearch: by the names of two struct weight. */
int weight_compare(const void *one, const void *other);

/* Where the numbers of weights that are written come from. */
struct weight_source {
    /* Some numbers of the index-th weight, in its order. */
    void (*take)(void *user, size_t index, uint64_t first, size_t count,
                 float *numbers);
    void *user;
};

#endif
