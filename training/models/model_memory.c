/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A model's life: plan, allocate, release. The plan counts what the model needs
 * before any memory is taken. A model that is too large fails at once, with its
 * size. `place` therefore runs twice: first it measures, then it hands out
 * addresses. Both runs must ask for the same pieces in the same order.
 */
#include "training/models/model.h"

#include <stdlib.h>

#include "base/mem.h"

struct model *model_plan(const struct model_kind *kind,
                         const struct backend *backend,
                         const struct model_shape *shape, const void *options,
                         struct err *err)
{
    struct model *model = mem_zero(kind->size);

    model->kind = kind;
    model->backend = backend;
    model->ops = backend->ops;
    model->shape = *shape;
    model->activations.purpose = "activations";
    if (kind->plan(model, options, err) != 0) {
        model_release(model);
        return NULL;
    }
    params_place(&model->params);
    kind->place(model, &model->activations);
    return model;
}

int model_allocate(struct model *model, struct err *err)
{
    if (params_allocate(&model->params, model->backend, err) != 0 ||
        arena_allocate(&model->activations, model->backend, err) != 0)
        return -1;
    model->kind->place(model, &model->activations);
    model->kind->init(model);
    return 0;
}

void model_release(struct model *model)
{
    if (model == NULL)
        return;
    params_clear(&model->params);
    arena_clear(&model->activations);
    free(model);
}
