/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODEL_H
#define SMTUNE_TRAINING_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/flags.h"
#include "training/params.h"

/*
 * What the training loop needs of a model. A model is one file with one const
 * struct model_kind, and one line in the table of model.c. It allocates what
 * it needs when it is created and nothing later.
 */

/* What a model is made for. */
struct model_shape {
    size_t inputs;   /* bytes of one image */
    size_t classes;  /* labels are 0 .. classes - 1 */
    size_t max_rows; /* of a batch, at most 65536 */
    uint64_t seed;
};

/* Images and their labels; borrowed during the call. */
struct batch {
    const uint8_t *images; /* [any][inputs] */
    const uint32_t *rows;  /* [count]: which of the images */
    const uint8_t *labels; /* [count] */
    size_t count;          /* 1 .. max_rows */
    uint64_t step;         /* steps done before: keys the random numbers */
};

struct model;

struct model_kind {
    const char *name;
    const char *summary; /* one line, lower case, no full stop */
    const char *about;   /* a paragraph for --help */
    const char *examples;
    const struct flag *flags; /* its own; those of the loop come besides */
    size_t options_size;      /* of the struct that they fill */

    /* Parameters are initialised. NULL with ERR_USAGE (too large) or
     * ERR_FAILED. */
    struct model *(*create)(const struct model_shape *shape,
                            const void *options, struct err *err);
    void (*destroy)(struct model *model); /* takes NULL */

    /* The sum of the losses of the batch; params.grads becomes the gradient
     * of their mean. */
    double (*train)(struct model *model, const struct batch *batch);
    /* The sum of the losses, with no noise and no gradient; adds to *errors
     * how many were classified wrong. */
    double (*evaluate)(struct model *model, const struct batch *batch,
                       size_t *errors);
};

/* The first member of every model's own struct. */
struct model {
    const struct model_kind *kind;
    struct params params;
};

extern const struct model_kind *const models[]; /* NULL-ended */

#endif
