/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODELS_OPTIM_H
#define SMTUNE_TRAINING_MODELS_OPTIM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/models/params.h"

/*
 * How gradients change the parameters. An optimizer keeps up to two arrays of
 * moments beside the parameters, which belong to the state of a run.
 */

enum { OPTIM_MAX_MOMENTS = 2 };

struct optim_settings {
    int rule;            /* index into optim_names */
    double momentum;     /* sgd alone */
    double weight_decay; /* sgd: added to the gradient; adam: decoupled */
};

/* Some of the parameters, and their gradients. */
struct optim_span {
    real *values, *grads;
    size_t first; /* the first one's place in the moments */
    size_t place; /* and among all parameters */
    size_t count;
};

/* Embedded: optim_init, then optim_clear, also after a failed init. */
struct optim {
    struct optim_settings settings;
    const struct backend *backend; /* borrowed */
    int moment_count;
    real *moments[OPTIM_MAX_MOMENTS]; /* of as many parameters as it has */
};

extern const char *const optim_names[]; /* NULL-ended */

/* How many moments a rule keeps for each parameter. */
int optim_moment_count(int rule);

/* For so many parameters. */
int optim_init(struct optim *optim, const struct optim_settings *settings,
               size_t count, const struct backend *backend, struct err *err);
void optim_clear(struct optim *optim);

/* One update with gradients times `scale`; `step` counts those done before,
 * from 0. -1 with ERR_FAILED where the backend has failed. */
int optim_step(struct optim *optim, const struct optim_span *span, double lr,
               double scale, uint64_t step, struct err *err);

#endif
