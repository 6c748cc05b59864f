/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/model.h"

void model_train(struct model *model, const struct batch *batch,
                 struct totals *totals)
{
    const struct ops *ops = model->ops;
    struct matrix logits = model->kind->forward(model, batch, true);

    ops->softmax_loss(logits, batch->targets, totals);
    ops->softmax_loss_grad(logits, batch->targets, batch->scale);
    model->kind->backward(model, batch, logits);
}

void model_evaluate(struct model *model, const struct batch *batch,
                    struct totals *totals)
{
    struct matrix logits = model->kind->forward(model, batch, false);

    model->ops->softmax_loss(logits, batch->targets, totals);
}
