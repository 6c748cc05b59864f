/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One batch through a model of any kind: forward, loss, backward. Operations
 * may still be in progress when a call returns; only `synchronize` makes
 * results readable and reports errors (training/ops/backend.h).
 */
#include "training/models/model.h"

void model_ask(struct model *model, const struct batch *batch,
               struct totals *totals)
{
    struct matrix logits = model->kind->forward(model, batch, true);

    model->ops->softmax_loss_grad(logits, batch->targets, batch->scale, totals);
    model->kind->backward(model, batch, logits);
}

int model_train(struct model *model, const struct batch *batch,
                struct totals *totals, struct err *err)
{
    model_ask(model, batch, totals);
    return model->backend->synchronize(err);
}

int model_evaluate(struct model *model, const struct batch *batch,
                   struct totals *totals, struct err *err)
{
    struct matrix logits = model->kind->forward(model, batch, false);

    model->ops->softmax_loss(logits, batch->targets, totals);
    return model->backend->synchronize(err);
}
