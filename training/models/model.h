/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODELS_MODEL_H
#define SMTUNE_TRAINING_MODELS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/data/data.h"
#include "training/models/params.h"
#include "training/ops/arena.h"
#include "training/ops/backend.h"
#include "training/util/flags.h"

/*
 * What the training loop needs of a model. A model is one file with one const
 * struct model_kind, and one line in the table of models.c. What it needs is
 * known before the first step, and nothing is allocated later.
 */

/* What a model is made for. */
struct model_shape {
    size_t inputs;      /* bytes of one sample */
    size_t targets;     /* of one sample */
    size_t classes;     /* targets are 0 .. classes - 1 */
    size_t max_samples; /* of a batch, at most 65536 */
    uint64_t seed;
};

/* A batch, or the part of one that this rank computes at a time. */
struct batch {
    const void *inputs;      /* [count][inputs bytes] */
    const uint16_t *targets; /* [count][targets] */
    size_t count;            /* samples: 1 .. max_samples */
    /* Steps done before, which key the random numbers; where the backend
     * computes, as inputs and targets. */
    const uint64_t *step;
    uint64_t first; /* of all samples of the step, the first one's place */
    double scale;   /* of the gradient: that of scale x the sum of losses */
};

struct model;

struct model_kind {
    const char *name;
    const char *summary; /* one line, lower case, no full stop */
    const char *about;   /* a paragraph for --help */
    const char *examples;
    const struct flag *flags; /* its own; those of the loop come besides */
    const struct flag_default *defaults; /* for those, or NULL */
    size_t options_size;                 /* of the struct that they fill */
    size_t size; /* of its own struct, zeroed before `plan` */
    const struct data_kind *data;

    /* Adds the tensors of model->params, unit by unit. -1 with ERR_USAGE: too
     * large, or options and shape that do not fit together. */
    int (*plan)(struct model *model, const void *options, struct err *err);
    /* Takes what a batch needs; called twice (arena.h). */
    void (*place)(struct model *model, struct arena *activations);
    /* The first values of the parameters. */
    void (*init)(struct model *model);
    /* After its flags were read: sets those that argv does not have where
     * another one decides, as weights to begin with do. Or NULL. */
    int (*complete)(void *options, int argc, char **argv, struct err *err);
    /* In place of the first values, those that the options name, if any. Or
     * NULL. */
    int (*load)(struct model *model, const void *options, struct err *err);
    /* Of multiplications and additions in matrix products: those of training
     * on so many samples, forwards and backwards. */
    double (*flops)(const struct model *model, size_t samples);

    /* From inputs to logits, [count x targets][classes], the model's own until
     * its next use; with noise where it trains. Enters and leaves each unit. */
    struct matrix (*forward)(struct model *model, const struct batch *batch,
                             bool is_training);
    /* After it: from the gradient of those logits, which is lost, to that of
     * the parameters. Likewise, backwards. */
    void (*backward)(struct model *model, const struct batch *batch,
                     struct matrix dlogits);
};

/* The first member of every model's own struct. */
struct model {
    const struct model_kind *kind;
    const struct backend *backend;
    const struct ops *ops; /* the backend's */
    struct model_shape shape;
    struct params params;
    struct arena activations;
};

extern const struct model_kind *const models[]; /* NULL-ended */

/* Knows its sizes: params.count and activations.count. */
struct model *model_plan(const struct model_kind *kind,
                         const struct backend *backend,
                         const struct model_shape *shape, const void *options,
                         struct err *err);
/* Gets the memory and the first values. */
int model_allocate(struct model *model, struct err *err);
void model_release(struct model *model); /* takes NULL */

/* Asks for what model_train does; it is done, or has failed, once the backend
 * has been waited for. */
void model_ask(struct model *model, const struct batch *batch,
               struct totals *totals);
/* Adds what the batch comes to to *totals; params.grads becomes its gradient.
 * -1 with ERR_FAILED where the backend has failed. */
int model_train(struct model *model, const struct batch *batch,
                struct totals *totals, struct err *err);
/* Adds to *totals, with no noise and no gradient. */
int model_evaluate(struct model *model, const struct batch *batch,
                   struct totals *totals, struct err *err);

#endif
