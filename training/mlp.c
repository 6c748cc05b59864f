/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/mlp.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "training/ops.h"
#include "training/streams.h"

/*
 * Layer i of `layers` maps outputs[i - 1] (the pixels for the first) to
 * outputs[i]; the last layer's outputs are the logits. gradients[0] and [1]
 * take turns on the way back: what layer i passes to layer i - 1.
 */
struct mlp {
    struct model model;
    struct mlp_options options;
    uint64_t seed;
    int layers;
    int weights[MLP_MAX_DEPTH + 1], biases[MLP_MAX_DEPTH + 1];
    struct matrix input;                      /* [max_rows][inputs] */
    struct matrix outputs[MLP_MAX_DEPTH + 1]; /* [max_rows][width] */
    struct matrix gradients[2];               /* [max_rows][width] */
    real *activations;                        /* all the matrices above */
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
     .doc = "chance that a hidden unit is left out of a step",
     .min = 0,
     .max = 0.95,
     .kept = true,
     .adaptable = true},
    {.name = NULL},
};

static int add_layers(struct mlp *mlp, const struct model_shape *shape,
                      struct err *err)
{
    struct params *params = &mlp->model.params;
    size_t inputs = shape->inputs;

    for (int i = 0; i < mlp->layers; i++) {
        char name[TENSOR_NAME_MAX];
        size_t outputs =
            i + 1 < mlp->layers ? (size_t)mlp->options.width : shape->classes;

        snprintf(name, sizeof(name), "layer%d.weight", i);
        mlp->weights[i] = params_add(params, name, outputs, inputs, err);
        snprintf(name, sizeof(name), "layer%d.bias", i);
        mlp->biases[i] = params_add(params, name, 1, outputs, err);
        if (mlp->weights[i] < 0 || mlp->biases[i] < 0)
            return -1;
        inputs = outputs;
    }
    if (params_allocate(params, err) != 0)
        return -1;
    for (int i = 0; i < mlp->layers; i++)
        params_init_he(params, mlp->weights[i], mlp->seed);
    return 0;
}

/* The matrix that begins at *next, which moves behind it. */
static struct matrix take(real **next, size_t rows, size_t columns)
{
    struct matrix matrix = {*next, rows, columns};

    *next += rows * columns;
    return matrix;
}

static int add_activations(struct mlp *mlp, const struct model_shape *shape,
                           struct err *err)
{
    size_t width = (size_t)mlp->options.width;
    size_t hidden = (size_t)(mlp->layers - 1);
    size_t gradients = hidden < 2 ? hidden : 2;
    size_t rows = shape->max_rows;
    real *next;

    mlp->activations = real_array(
        rows * (shape->inputs + shape->classes + (hidden + gradients) * width),
        err);
    if (mlp->activations == NULL)
        return -1;
    next = mlp->activations;
    mlp->input = take(&next, rows, shape->inputs);
    for (size_t i = 0; i < hidden; i++)
        mlp->outputs[i] = take(&next, rows, width);
    mlp->outputs[hidden] = take(&next, rows, shape->classes);
    for (size_t i = 0; i < gradients; i++)
        mlp->gradients[i] = take(&next, rows, width);
    return 0;
}

static void mlp_destroy(struct model *model)
{
    struct mlp *mlp = (struct mlp *)model;

    if (mlp == NULL)
        return;
    params_clear(&mlp->model.params);
    free(mlp->activations);
    free(mlp);
}

static struct model *mlp_create(const struct model_shape *shape,
                                const void *options, struct err *err)
{
    struct mlp *mlp = mem_zero(sizeof(*mlp));

    mlp->model.kind = &model_mlp;
    mlp->options = *(const struct mlp_options *)options;
    mlp->seed = shape->seed;
    mlp->layers = (int)mlp->options.depth + 1;
    if (add_layers(mlp, shape, err) != 0 ||
        add_activations(mlp, shape, err) != 0) {
        mlp_destroy(&mlp->model);
        return NULL;
    }
    return &mlp->model;
}

/* The first rows of a buffer made for a full batch. */
static struct matrix first_rows(struct matrix matrix, size_t rows)
{
    matrix.rows = rows;
    return matrix;
}

/* From pixels to logits, which it returns. */
static struct matrix forward(struct mlp *mlp, const struct batch *batch,
                             double dropout)
{
    const struct params *params = &mlp->model.params;
    struct matrix x = first_rows(mlp->input, batch->count);
    struct matrix y = x;

    op_normalize(batch->images, batch->rows, x);
    for (int i = 0; i < mlp->layers; i++) {
        struct rng rng;

        y = first_rows(mlp->outputs[i], batch->count);
        op_linear(x, params_value(params, mlp->weights[i]),
                  params_value(params, mlp->biases[i]), y);
        if (i + 1 < mlp->layers)
            op_relu(y);
        if (i + 1 < mlp->layers && dropout > 0) {
            rng_init(&rng, mlp->seed, batch->step,
                     (uint32_t)(STREAM_DROPOUT + i));
            op_dropout(y, dropout, &rng);
        }
        x = y;
    }
    return y;
}

/* From the gradient of the logits to those of the parameters. */
static void backward(struct mlp *mlp, struct matrix dy)
{
    const struct params *params = &mlp->model.params;

    for (int i = mlp->layers - 1; i >= 0; i--) {
        struct matrix x = i > 0 ? mlp->outputs[i - 1] : mlp->input;
        struct matrix dx;

        x = first_rows(x, dy.rows);
        op_linear_grad_params(x, dy, params_grad(params, mlp->weights[i]),
                              params_grad(params, mlp->biases[i]));
        if (i == 0)
            break;
        dx = first_rows(mlp->gradients[(i - 1) % 2], dy.rows);
        op_linear_grad_input(dy, params_value(params, mlp->weights[i]), dx);
        op_relu_dropout_grad(x, mlp->options.dropout, dx);
        dy = dx;
    }
}

static double mlp_train(struct model *model, const struct batch *batch)
{
    struct mlp *mlp = (struct mlp *)model;
    struct matrix logits = forward(mlp, batch, mlp->options.dropout);
    size_t errors = 0;
    double loss = op_softmax_loss(logits, batch->labels, &errors);

    op_softmax_loss_grad(logits, batch->labels);
    backward(mlp, logits);
    return loss;
}

static double mlp_evaluate(struct model *model, const struct batch *batch,
                           size_t *errors)
{
    struct matrix logits = forward((struct mlp *)model, batch, 0);

    return op_softmax_loss(logits, batch->labels, errors);
}

const struct model_kind model_mlp = {
    .name = "mlp",
    .summary = "fully connected layers on Fashion-MNIST",
    .about = "Trains fully connected layers with ReLU between them to "
             "tell images apart. After\n"
             "each epoch it prints one line, with the error on the sixth of "
             "the images that is\n"
             "never trained on:\n\n"
             "epoch=1 train_loss=0.50372 val_loss=0.39965 "
             "val_error=0.1428 images_per_s=250000\n",
    .examples =
        "  smtrain mlp --lr 0.05 --width 256 --epochs 10\n"
        "  smtrain mlp --optimizer adam --lr 0.001 --dropout 0.2\n"
        "  smtrain mlp --checkpoint-dir run1 --epochs 5\n"
        "  smtrain mlp --checkpoint-dir run1 --epochs 10   # goes on from 5\n"
        "  smtrain mlp --checkpoint-dir run2 --epochs 3 --horizon 27 "
        "--schedule cosine\n"
        "  smtrain mlp --checkpoint-dir run1 --test        # once, at the "
        "end\n",
    .flags = mlp_flags,
    .options_size = sizeof(struct mlp_options),
    .create = mlp_create,
    .destroy = mlp_destroy,
    .train = mlp_train,
    .evaluate = mlp_evaluate,
};
