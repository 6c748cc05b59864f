/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/models/cnn.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "training/util/streams.h"

struct layer {
    int unit, weight, bias; /* of the parameters */
};

/* A convolution and what follows it. */
struct stage {
    struct layer layer;
    struct conv_space space; /* its grid is what goes in */
    struct grid out;
    size_t inputs, outputs; /* channels */
    struct matrix conv;     /* [max_samples x pixels][outputs] */
    struct matrix pooled;   /* [max_samples x pixels of out][outputs] */
};

/*
 * Every layer is a unit of the parameters: the stages', then the hidden one,
 * then that of the logits. On the way back each stage's `conv` becomes its own
 * gradient, and that of its `pooled` is in `d_pooled` for a while.
 */
struct cnn {
    struct model model;
    struct cnn_options options;
    struct stage stages[CNN_MAX_DEPTH];
    struct layer hidden_layer, logit_layer;
    int depth;
    size_t features;      /* of a sample, that the last stage gives */
    struct matrix input;  /* [max_samples x pixels][1] */
    struct matrix hidden; /* [max_samples][width] */
    struct matrix d_hidden;
    struct matrix logits;   /* [max_samples][classes] */
    struct matrix d_pooled; /* room for the largest, which is the first */
};

static const struct flag cnn_flags[] = {
    {.name = "channels",
     .type = FLAG_INT,
     .offset = offsetof(struct cnn_options, channels),
     .argument = "N",
     .initial = "24",
     .doc = "channels of layer 1; doubled in each next layer",
     .min = 1,
     .max = 4096,
     .kept = true},
    {.name = "depth",
     .type = FLAG_INT,
     .offset = offsetof(struct cnn_options, depth),
     .argument = "N",
     .initial = "3",
     .doc = "convolution layers, each followed by pooling",
     .min = 1,
     .max = CNN_MAX_DEPTH,
     .kept = true},
    {.name = "width",
     .type = FLAG_INT,
     .offset = offsetof(struct cnn_options, width),
     .argument = "N",
     .initial = "128",
     .doc = "units of the hidden layer after them",
     .min = 1,
     .max = 65536,
     .kept = true},
    {.name = "dropout",
     .type = FLAG_REAL,
     .offset = offsetof(struct cnn_options, dropout),
     .argument = "P",
     .initial = "0.2",
     .doc = "probability that a step omits a hidden unit",
     .min = 0,
     .max = 0.95,
     .kept = true,
     .adaptable = true},
    {.name = NULL},
};

/* Comes to a validation error of 7.7 percent in 10 epochs. */
static const struct flag_default cnn_defaults[] = {{"lr", "0.08"},
                                                   {"weight-decay", "0.0005"},
                                                   {"schedule", "cosine"},
                                                   {NULL, NULL}};

static size_t pixels_of(struct grid grid)
{
    return grid.height * grid.width;
}

/* The side of square images with so many pixels, or 0. */
static size_t side_of(size_t pixels)
{
    size_t side = 1;

    while (side * side < pixels)
        side++;
    return side * side == pixels ? side : 0;
}

/* Adds a unit. */
static int add_layer(struct params *params, const char *name, size_t outputs,
                     size_t inputs, struct layer *layer, struct err *err)
{
    char tensor[TENSOR_NAME_MAX];

    layer->unit = params_begin_unit(params);
    snprintf(tensor, sizeof(tensor), "%s.weight", name);
    layer->weight = params_add(params, tensor, outputs, inputs, err);
    snprintf(tensor, sizeof(tensor), "%s.bias", name);
    layer->bias = params_add(params, tensor, 1, outputs, err);
    return layer->weight < 0 || layer->bias < 0 ? -1 : 0;
}

static int plan_stage(struct cnn *cnn, int i, struct grid grid, struct err *err)
{
    struct stage *stage = &cnn->stages[i];
    char name[16];

    if (grid.height < 2)
        return err_set(err, ERR_USAGE,
                       "--depth %" PRId64
                       " is too large for images of %zu pixels: at most %d",
                       cnn->options.depth, cnn->model.shape.inputs, i);
    stage->space.grid = grid;
    stage->out = (struct grid){grid.height / 2, grid.width / 2};
    stage->inputs = i > 0 ? cnn->stages[i - 1].outputs : 1;
    stage->outputs = (size_t)cnn->options.channels << i;
    snprintf(name, sizeof(name), "conv%d", i);
    return add_layer(&cnn->model.params, name, stage->outputs,
                     (size_t)CONV_SIDE * CONV_SIDE * stage->inputs,
                     &stage->layer, err);
}

static int cnn_plan(struct model *model, const void *options, struct err *err)
{
    struct cnn *cnn = (struct cnn *)model;
    size_t side = side_of(model->shape.inputs), width;
    struct grid grid = {side, side};

    cnn->options = *(const struct cnn_options *)options;
    cnn->depth = (int)cnn->options.depth;
    width = (size_t)cnn->options.width;
    if (side < 2)
        return err_set(err, ERR_USAGE,
                       "cnn needs square images, not %zu pixels",
                       model->shape.inputs);
    for (int i = 0; i < cnn->depth; i++) {
        if (plan_stage(cnn, i, grid, err) != 0)
            return -1;
        grid = cnn->stages[i].out;
    }
    cnn->features = pixels_of(grid) * cnn->stages[cnn->depth - 1].outputs;
    if (add_layer(&model->params, "hidden", width, cnn->features,
                  &cnn->hidden_layer, err) != 0 ||
        add_layer(&model->params, "logits", model->shape.classes, width,
                  &cnn->logit_layer, err) != 0)
        return -1;
    return 0;
}

/* Lines of patches that are worked on at a time, at least one. */
static size_t lines_at_once(const struct cnn *cnn, const struct stage *stage)
{
    size_t room = cnn->model.ops->patch_bytes;
    size_t lines = cnn->model.shape.max_samples * stage->space.grid.height;
    size_t line = stage->space.grid.width * CONV_SIDE * CONV_SIDE *
                  stage->inputs * sizeof(real);

    if (room / line < lines)
        lines = room / line;
    return lines > 0 ? lines : 1;
}

static void cnn_place(struct model *model, struct arena *activations)
{
    struct cnn *cnn = (struct cnn *)model;
    size_t samples = model->shape.max_samples;
    size_t width = (size_t)cnn->options.width;
    const struct stage *first = &cnn->stages[0];

    cnn->input = arena_matrix(activations, samples * model->shape.inputs, 1);
    for (int i = 0; i < cnn->depth; i++) {
        struct stage *stage = &cnn->stages[i];
        struct grid grid = stage->space.grid;

        stage->space.patches =
            arena_matrix(activations, lines_at_once(cnn, stage) * grid.width,
                         CONV_SIDE * CONV_SIDE * stage->inputs);
        stage->conv = arena_matrix(activations, samples * pixels_of(grid),
                                   stage->outputs);
        stage->pooled = arena_matrix(
            activations, samples * pixels_of(stage->out), stage->outputs);
    }
    cnn->hidden = arena_matrix(activations, samples, width);
    cnn->d_hidden = arena_matrix(activations, samples, width);
    cnn->logits = arena_matrix(activations, samples, model->shape.classes);
    cnn->d_pooled = arena_matrix(activations, samples * pixels_of(first->out),
                                 first->outputs);
}

/*
 * After He et al. (params.h), whose 2 is 1 over what ReLU leaves of a mean
 * square. The largest of four normal numbers has one of 1.55 in place of 1,
 * nearly all of it above 0. The logits begin near 0, so that the first steps do
 * not throw all units behind the kink of ReLU.
 */
static void init_layer(struct params *params, const struct layer *layer,
                       double gain, uint64_t seed)
{
    double inputs = (double)params->tensors[layer->weight].columns;

    params_init_normal(params, layer->weight, sqrt(gain / inputs), seed);
}

static void cnn_init(struct model *model)
{
    const struct cnn *cnn = (struct cnn *)model;
    const double pooled_gain = 1 / 1.55, logit_gain = 0.01;
    uint64_t seed = model->shape.seed;

    for (int i = 0; i < cnn->depth; i++)
        init_layer(&model->params, &cnn->stages[i].layer,
                   i > 0 ? pooled_gain : 1, seed);
    init_layer(&model->params, &cnn->hidden_layer, pooled_gain, seed);
    init_layer(&model->params, &cnn->logit_layer, logit_gain, seed);
}

static double cnn_flops(const struct model *model, size_t samples)
{
    const struct cnn *cnn = (const struct cnn *)model;
    double width = (double)cnn->options.width;
    double sum =
        3 * 2.0 * width * (double)(cnn->features + model->shape.classes);

    for (int i = 0; i < cnn->depth; i++) {
        const struct stage *stage = &cnn->stages[i];
        double products = 2.0 * CONV_SIDE * CONV_SIDE *
                          (double)pixels_of(stage->space.grid) *
                          (double)(stage->inputs * stage->outputs);

        sum += (i > 0 ? 3 : 2) * products;
    }
    return sum * (double)samples;
}

/* The same numbers with as many as that in a row. */
static struct matrix reshape(struct matrix x, size_t columns)
{
    return (struct matrix){x.data, x.rows * x.columns / columns, columns};
}

/* Of a matrix for max_samples, the part for as many as there are. */
static struct matrix part_of(const struct cnn *cnn, struct matrix x,
                             size_t samples)
{
    return matrix_rows(x, x.rows / cnn->model.shape.max_samples * samples);
}

static struct matrix stage_forward(const struct cnn *cnn,
                                   const struct stage *stage, struct matrix x,
                                   size_t samples)
{
    const struct ops *ops = cnn->model.ops;
    const struct params *params = &cnn->model.params;
    struct matrix conv = part_of(cnn, stage->conv, samples);
    struct matrix y = part_of(cnn, stage->pooled, samples);

    params_enter(params, stage->layer.unit, PASS_FORWARD);
    ops->conv(x, params_value(params, stage->layer.weight),
              params_value(params, stage->layer.bias), &stage->space, conv);
    params_leave(params, stage->layer.unit, PASS_FORWARD);
    ops->pool(conv, stage->space.grid, y);
    ops->relu(y);
    return y;
}

static void linear_forward(const struct cnn *cnn, const struct layer *layer,
                           struct matrix x, struct matrix y)
{
    const struct params *params = &cnn->model.params;

    params_enter(params, layer->unit, PASS_FORWARD);
    cnn->model.ops->linear(x, params_value(params, layer->weight),
                           params_value(params, layer->bias), y);
    params_leave(params, layer->unit, PASS_FORWARD);
}

/* From pixels to logits, which it returns. */
static struct matrix cnn_forward(struct model *model, const struct batch *batch,
                                 bool is_training)
{
    const struct cnn *cnn = (struct cnn *)model;
    const struct ops *ops = model->ops;
    const struct noise noise = {.seed = cnn->model.shape.seed,
                                .step = batch->step,
                                .stream = STREAM_DROPOUT,
                                .first_row = batch->first};
    struct matrix x = part_of(cnn, cnn->input, batch->count);
    struct matrix hidden = part_of(cnn, cnn->hidden, batch->count);
    struct matrix logits = part_of(cnn, cnn->logits, batch->count);

    ops->normalize(batch->inputs, x);
    for (int i = 0; i < cnn->depth; i++)
        x = stage_forward(cnn, &cnn->stages[i], x, batch->count);
    linear_forward(cnn, &cnn->hidden_layer, reshape(x, cnn->features), hidden);
    ops->relu(hidden);
    if (is_training && cnn->options.dropout > 0)
        ops->dropout(hidden, cnn->options.dropout, &noise);
    linear_forward(cnn, &cnn->logit_layer, hidden, logits);
    return logits;
}

static void linear_backward(const struct cnn *cnn, const struct layer *layer,
                            struct matrix x, struct matrix dy, struct matrix dx)
{
    const struct ops *ops = cnn->model.ops;
    const struct params *params = &cnn->model.params;
    struct linear_pass pass = {.x = x, .dy = dy, .dx = dx};

    params_enter(params, layer->unit, PASS_BACKWARD);
    pass.w = params_value(params, layer->weight);
    pass.dw = params_grad(params, layer->weight);
    pass.dbias = params_grad(params, layer->bias);
    ops->linear_grads(&pass);
    params_leave(params, layer->unit, PASS_BACKWARD);
}

/* Of stage i: d_pooled is the gradient of what it gave, and becomes that of
 * what the stage before gave. */
static void stage_backward(const struct cnn *cnn, int i, size_t samples)
{
    const struct ops *ops = cnn->model.ops;
    const struct params *params = &cnn->model.params;
    const struct stage *stage = &cnn->stages[i];
    const struct layer *layer = &stage->layer;
    struct matrix x = i > 0 ? stage[-1].pooled : cnn->input;
    struct matrix dy = part_of(cnn, stage->conv, samples);
    struct matrix y = part_of(cnn, stage->pooled, samples);
    struct matrix d_pooled = {cnn->d_pooled.data, y.rows, y.columns};

    x = part_of(cnn, x, samples);
    ops->relu_dropout_grad(y, 0, d_pooled);
    ops->pool_grad(d_pooled, stage->space.grid, dy);
    params_enter(params, layer->unit, PASS_BACKWARD);
    if (i > 0)
        ops->conv_grad_input(
            dy, params_value(params, layer->weight), &stage->space,
            (struct matrix){cnn->d_pooled.data, x.rows, x.columns});
    ops->conv_grad_params(x, dy, &stage->space,
                          params_grad(params, layer->weight),
                          params_grad(params, layer->bias));
    params_leave(params, layer->unit, PASS_BACKWARD);
}

/* From the gradient of the logits to those of the parameters. */
static void cnn_backward(struct model *model, UNUSED const struct batch *batch,
                         struct matrix dy)
{
    const struct cnn *cnn = (struct cnn *)model;
    const struct ops *ops = model->ops;
    const struct stage *last = &cnn->stages[cnn->depth - 1];
    size_t samples = dy.rows;
    struct matrix hidden = part_of(cnn, cnn->hidden, samples);
    struct matrix d_hidden = part_of(cnn, cnn->d_hidden, samples);
    struct matrix features =
        reshape(part_of(cnn, last->pooled, samples), cnn->features);
    struct matrix d_features = {cnn->d_pooled.data, samples, cnn->features};

    linear_backward(cnn, &cnn->logit_layer, hidden, dy, d_hidden);
    ops->relu_dropout_grad(hidden, cnn->options.dropout, d_hidden);
    linear_backward(cnn, &cnn->hidden_layer, features, d_hidden, d_features);
    for (int i = cnn->depth - 1; i >= 0; i--)
        stage_backward(cnn, i, samples);
}

const struct model_kind model_cnn = {
    .name = "cnn",
    .summary = "convolutional network on Fashion-MNIST",
    .about = "Trains convolutions of 3 x 3 pixels, each followed by 2 x 2 max "
             "pooling and\n"
             "ReLU, and a hidden layer, to classify images. After each epoch "
             "it prints one\n"
             "line. One sixth of the images is held out to measure the "
             "validation error:\n\n"
             "epoch=1 train_loss=0.64406 val_loss=0.40288 val_error=0.1488 "
             "samples_per_s=4900\n",
    .examples = "  smtrain cnn\n"
                "  smtrain cnn --channels 16 --optimizer adam --lr 0.001\n"
                "  smtrain cnn --checkpoint-dir run1 --epochs 5 --horizon 10\n"
                "  smtrain cnn --checkpoint-dir run1 --test        # once, at "
                "the end\n",
    .flags = cnn_flags,
    .defaults = cnn_defaults,
    .options_size = sizeof(struct cnn_options),
    .size = sizeof(struct cnn),
    .data = &data_images,
    .plan = cnn_plan,
    .place = cnn_place,
    .init = cnn_init,
    .flops = cnn_flops,
    .forward = cnn_forward,
    .backward = cnn_backward,
};
