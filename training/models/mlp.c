/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/models/mlp.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "training/util/streams.h"

/*
 * Layer i of `layers` maps outputs[i - 1] (the pixels for the first) to
 * outputs[i]; the last layer's outputs are the logits. gradients[0] and [1]
 * take turns on the way back: what layer i passes to layer i - 1. Each layer is
 * a unit of the parameters.
 */
struct mlp {
    struct model model;
    struct mlp_options options;
    int layers;
    int weights[MLP_MAX_DEPTH + 1], biases[MLP_MAX_DEPTH + 1];
    struct matrix input;                      /* [max_samples][inputs] */
    struct matrix outputs[MLP_MAX_DEPTH + 1]; /* [max_samples][width] */
    struct matrix gradients[2];               /* [max_samples][width] */
};

static const struct flag mlp_flags[] = {
    {.name = "width",
     .type = FLAG_INT,
     .offset = offsetof(struct mlp_options, width),
     .argument = "N",
     .initial = "128",
     .doc = "units of each hidden layer",
     .min = 1,
     .max = 65536,
     .kept = true},
    {.name = "depth",
     .type = FLAG_INT,
     .offset = offsetof(struct mlp_options, depth),
     .argument = "N",
     .initial = "1",
     .doc = "hidden layers",
     .min = 0,
     .max = MLP_MAX_DEPTH,
     .kept = true},
    {.name = "dropout",
     .type = FLAG_REAL,
     .offset = offsetof(struct mlp_options, dropout),
     .argument = "P",
     .initial = "0",
     .doc = "probability that a step omits a hidden unit",
     .min = 0,
     .max = 0.95,
     .kept = true,
     .adaptable = true},
    {.name = NULL},
};

static size_t outputs_of(const struct mlp *mlp, int layer)
{
    return layer + 1 < mlp->layers ? (size_t)mlp->options.width
                                   : mlp->model.shape.classes;
}

static size_t inputs_of(const struct mlp *mlp, int layer)
{
    return layer > 0 ? (size_t)mlp->options.width : mlp->model.shape.inputs;
}

static int mlp_plan(struct model *model, const void *options, struct err *err)
{
    struct mlp *mlp = (struct mlp *)model;
    struct params *params = &model->params;

    mlp->options = *(const struct mlp_options *)options;
    mlp->layers = (int)mlp->options.depth + 1;
    for (int i = 0; i < mlp->layers; i++) {
        char name[TENSOR_NAME_MAX];

        params_begin_unit(params);
        snprintf(name, sizeof(name), "layer%d.weight", i);
        mlp->weights[i] = params_add(params, name, outputs_of(mlp, i),
                                     inputs_of(mlp, i), err);
        snprintf(name, sizeof(name), "layer%d.bias", i);
        mlp->biases[i] = params_add(params, name, 1, outputs_of(mlp, i), err);
        if (mlp->weights[i] < 0 || mlp->biases[i] < 0)
            return -1;
    }
    return 0;
}

static void mlp_place(struct model *model, struct arena *activations)
{
    struct mlp *mlp = (struct mlp *)model;
    size_t width = (size_t)mlp->options.width;
    size_t rows = model->shape.max_samples;
    int hidden = mlp->layers - 1;

    mlp->input = arena_matrix(activations, rows, model->shape.inputs);
    for (int i = 0; i < mlp->layers; i++)
        mlp->outputs[i] = arena_matrix(activations, rows, outputs_of(mlp, i));
    for (int i = 0; i < hidden && i < 2; i++)
        mlp->gradients[i] = arena_matrix(activations, rows, width);
}

static void mlp_init(struct model *model)
{
    const struct mlp *mlp = (struct mlp *)model;

    for (int i = 0; i < mlp->layers; i++)
        params_init_he(&model->params, mlp->weights[i], model->shape.seed);
}

static double mlp_flops(const struct model *model, size_t samples)
{
    const struct mlp *mlp = (const struct mlp *)model;
    double sum = 0;

    for (int i = 0; i < mlp->layers; i++) {
        double products =
            2.0 * (double)(inputs_of(mlp, i) * outputs_of(mlp, i));

        sum += (i > 0 ? 3 : 2) * products;
    }
    return sum * (double)samples;
}

static void drop_out(const struct mlp *mlp, const struct batch *batch,
                     int layer, struct matrix y)
{
    const struct noise noise = {.seed = mlp->model.shape.seed,
                                .step = batch->step,
                                .stream = (uint32_t)(STREAM_DROPOUT + layer),
                                .first_row = batch->first};

    mlp->model.ops->dropout(y, mlp->options.dropout, &noise);
}

/* From pixels to logits, which it returns. */
static struct matrix mlp_forward(struct model *model, const struct batch *batch,
                                 bool is_training)
{
    const struct mlp *mlp = (struct mlp *)model;
    const struct ops *ops = model->ops;
    const struct params *params = &model->params;
    struct matrix x = matrix_rows(mlp->input, batch->count);
    struct matrix y = x;

    ops->normalize(batch->inputs, x);
    for (int i = 0; i < mlp->layers; i++) {
        y = matrix_rows(mlp->outputs[i], batch->count);
        params_enter(params, i, PASS_FORWARD);
        ops->linear(x, params_value(params, mlp->weights[i]),
                    params_value(params, mlp->biases[i]), y);
        params_leave(params, i, PASS_FORWARD);
        if (i + 1 < mlp->layers)
            ops->relu(y);
        if (i + 1 < mlp->layers && is_training && mlp->options.dropout > 0)
            drop_out(mlp, batch, i, y);
        x = y;
    }
    return y;
}

/* From the gradient of the logits to those of the parameters. */
static void mlp_backward(struct model *model, UNUSED const struct batch *batch,
                         struct matrix dy)
{
    const struct mlp *mlp = (struct mlp *)model;
    const struct ops *ops = model->ops;
    const struct params *params = &model->params;

    for (int i = mlp->layers - 1; i >= 0; i--) {
        struct matrix x = i > 0 ? mlp->outputs[i - 1] : mlp->input;
        struct linear_pass pass = {.x = matrix_rows(x, dy.rows), .dy = dy};

        params_enter(params, i, PASS_BACKWARD);
        pass.w = params_value(params, mlp->weights[i]);
        pass.dw = params_grad(params, mlp->weights[i]);
        pass.dbias = params_grad(params, mlp->biases[i]);
        if (i > 0)
            pass.dx = matrix_rows(mlp->gradients[(i - 1) % 2], dy.rows);
        ops->linear_grads(&pass);
        if (i > 0)
            ops->relu_dropout_grad(pass.x, mlp->options.dropout, pass.dx);
        params_leave(params, i, PASS_BACKWARD);
        dy = pass.dx;
    }
}

const struct model_kind model_mlp = {
    .name = "mlp",
    .summary = "fully connected network on Fashion-MNIST",
    .about = "Trains fully connected layers, with ReLU between them, to "
             "classify images. After\n"
             "each epoch it prints one line. One sixth of the images is held "
             "out to measure\n"
             "the validation error:\n\n"
             "epoch=1 train_loss=0.50372 val_loss=0.39965 val_error=0.1428 "
             "samples_per_s=95000\n",
    .examples =
        "  smtrain mlp --lr 0.05 --width 256 --epochs 10\n"
        "  smtrain mlp --optimizer adam --lr 0.001 --dropout 0.2\n"
        "  smtrain mlp --checkpoint-dir run1 --epochs 5\n"
        "  smtrain mlp --checkpoint-dir run1 --epochs 10   # resumes after 5\n"
        "  smtrain mlp --checkpoint-dir run2 --epochs 3 --horizon 27 "
        "--schedule cosine\n"
        "  smtrain mlp --checkpoint-dir run1 --test        # once, at the "
        "end\n",
    .flags = mlp_flags,
    .options_size = sizeof(struct mlp_options),
    .size = sizeof(struct mlp),
    .data = &data_images,
    .plan = mlp_plan,
    .place = mlp_place,
    .init = mlp_init,
    .flops = mlp_flops,
    .forward = mlp_forward,
    .backward = mlp_backward,
};
