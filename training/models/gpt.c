/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/models/gpt.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "training/models/gpt_init_from.h"
#include "training/util/streams.h"

/*
 * The residual stream x begins as the tokens' and positions' embeddings. Each
 * block adds attention(norm(x)) and then mlp(norm(x)) to it ("pre-norm"), and
 * the head compares norm(x) with the tokens' embeddings, so that one table
 * serves both ends (Press and Wolf, "Using the output embedding to improve
 * language models", EACL 2017). A sum with what a branch gives is made by the
 * norm that comes next, and kept: the way back needs it.
 *
 * Units: the embeddings, each block, the last norm. The way back enters the
 * embeddings for the head's sake first, and leaves them last.
 *
 * n below is max_samples x context, c the width.
 */
struct norm {
    int gain, bias;         /* tensors */
    struct matrix sum;      /* [n][c]; the first one's is the stream itself */
    struct matrix stats, y; /* [n][2], [n][c] */
};

struct branch {
    int in_weight, in_bias, out_weight, out_bias; /* tensors */
};

struct block {
    struct norm norms[2];
    struct branch attention, mlp;
    struct matrix qkv, sums, mixed; /* [n][3c], [n][heads], [n][c] */
    struct matrix wide, bent;       /* [n][4c]: before and after GELU */
};

struct gpt {
    struct model model;
    struct gpt_options options;
    size_t context, width;
    int table, positions; /* tensors */
    int layers;
    struct block blocks[GPT_MAX_LAYERS];
    struct norm last;
    struct matrix delta, logits;        /* [n][c], [n][classes] */
    struct matrix dx, dbranch;          /* [n][c] */
    struct matrix dropped;              /* [n][c], where there is dropout */
    struct matrix dqkv, dwide, scratch; /* [n][3c], [n][4c] */
};

static const struct flag gpt_flags[] = {
    {.name = "layers",
     .type = FLAG_INT,
     .offset = offsetof(struct gpt_options, layers),
     .argument = "N",
     .initial = "4",
     .doc = "transformer blocks",
     .min = 1,
     .max = GPT_MAX_LAYERS,
     .kept = true},
    {.name = "heads",
     .type = FLAG_INT,
     .offset = offsetof(struct gpt_options, heads),
     .argument = "N",
     .initial = "4",
     .doc = "attention heads of each block",
     .min = 1,
     .max = 1024,
     .kept = true},
    {.name = "width",
     .type = FLAG_INT,
     .offset = offsetof(struct gpt_options, width),
     .argument = "N",
     .initial = "128",
     .doc = "numbers per token; a multiple of --heads",
     .min = 1,
     .max = 65536,
     .kept = true},
    {.name = "context",
     .type = FLAG_INT,
     .offset = offsetof(struct gpt_options, text.context),
     .argument = "N",
     .initial = "64",
     .doc = "tokens of a sample; the reach of attention",
     .min = 1,
     .max = 65536,
     .kept = true},
    {.name = "vocabulary",
     .type = FLAG_TEXT,
     .offset = offsetof(struct gpt_options, text.vocabulary),
     .argument = "FILE",
     .initial = "bytes",
     .doc = "of `smtrain vocabulary`, or a GPT-2's folder"},
    {.name = "init-from",
     .type = FLAG_TEXT,
     .offset = offsetof(struct gpt_options, init_from),
     .argument = "DIR",
     .doc = "begin with a GPT-2 of Hugging Face's format"},
    {.name = "dropout",
     .type = FLAG_REAL,
     .offset = offsetof(struct gpt_options, dropout),
     .argument = "P",
     .initial = "0",
     .doc = "probability that a step omits a number",
     .min = 0,
     .max = 0.95,
     .kept = true,
     .adaptable = true},
    {.name = NULL},
};

/* Comes to 1.61 nats a byte on the Bible. */
static const struct flag_default gpt_defaults[] = {
    {"lr", "0.003"}, {"optimizer", "adam"},  {"batch", "32"},
    {"epochs", "1"}, {"schedule", "cosine"}, {NULL, NULL}};

/* Rows and columns are in widths; 0: one. */
struct tensor_plan {
    const char *name;
    size_t offset; /* of its index in struct block */
    size_t rows, columns;
};

#define IN_BLOCK(name, field, rows, columns)                                   \
    {                                                                          \
        name, offsetof(struct block, field), rows, columns                     \
    }

static const struct tensor_plan block_plan[] = {
    IN_BLOCK("norm1.gain", norms[0].gain, 0, 1),
    IN_BLOCK("norm1.bias", norms[0].bias, 0, 1),
    IN_BLOCK("attention.in.weight", attention.in_weight, 3, 1),
    IN_BLOCK("attention.in.bias", attention.in_bias, 0, 3),
    IN_BLOCK("attention.out.weight", attention.out_weight, 1, 1),
    IN_BLOCK("attention.out.bias", attention.out_bias, 0, 1),
    IN_BLOCK("norm2.gain", norms[1].gain, 0, 1),
    IN_BLOCK("norm2.bias", norms[1].bias, 0, 1),
    IN_BLOCK("mlp.in.weight", mlp.in_weight, 4, 1),
    IN_BLOCK("mlp.in.bias", mlp.in_bias, 0, 4),
    IN_BLOCK("mlp.out.weight", mlp.out_weight, 1, 4),
    IN_BLOCK("mlp.out.bias", mlp.out_bias, 0, 1),
};

static int plan_block(struct gpt *gpt, int layer, struct err *err)
{
    params_begin_unit(&gpt->model.params);
    for (size_t i = 0; i < ARRAY_LEN(block_plan); i++) {
        const struct tensor_plan *plan = &block_plan[i];
        char *block = (char *)&gpt->blocks[layer];
        char name[TENSOR_NAME_MAX];
        int index;

        snprintf(name, sizeof(name), "block%d.%s", layer, plan->name);
        index = params_add(&gpt->model.params, name,
                           plan->rows > 0 ? plan->rows * gpt->width : 1,
                           plan->columns * gpt->width, err);
        if (index < 0)
            return -1;
        *(int *)(void *)(block + plan->offset) = index;
    }
    return 0;
}

static int gpt_plan(struct model *model, const void *options, struct err *err)
{
    struct gpt *gpt = (struct gpt *)model;
    struct params *params = &model->params;

    gpt->options = *(const struct gpt_options *)options;
    gpt->layers = (int)gpt->options.layers;
    gpt->width = (size_t)gpt->options.width;
    gpt->context = model->shape.targets;
    if (gpt->options.width % gpt->options.heads != 0)
        return err_set(err, ERR_USAGE,
                       "--width %" PRId64
                       " is not a multiple of --heads %" PRId64,
                       gpt->options.width, gpt->options.heads);
    params_begin_unit(params);
    gpt->table =
        params_add(params, "tokens", model->shape.classes, gpt->width, err);
    gpt->positions =
        params_add(params, "positions", gpt->context, gpt->width, err);
    if (gpt->table < 0 || gpt->positions < 0)
        return -1;
    for (int i = 0; i < gpt->layers; i++)
        if (plan_block(gpt, i, err) != 0)
            return -1;
    params_begin_unit(params);
    gpt->last.gain = params_add(params, "norm.gain", 1, gpt->width, err);
    gpt->last.bias = params_add(params, "norm.bias", 1, gpt->width, err);
    return gpt->last.gain < 0 || gpt->last.bias < 0 ? -1 : 0;
}

static size_t rows_of(const struct gpt *gpt, size_t samples)
{
    return samples * gpt->context;
}

static void place_norm(const struct gpt *gpt, struct norm *norm,
                       struct arena *arena)
{
    size_t rows = rows_of(gpt, gpt->model.shape.max_samples);

    norm->sum = arena_matrix(arena, rows, gpt->width);
    norm->stats = arena_matrix(arena, rows, 2);
    norm->y = arena_matrix(arena, rows, gpt->width);
}

static void place_block(const struct gpt *gpt, struct block *block,
                        struct arena *arena)
{
    size_t rows = rows_of(gpt, gpt->model.shape.max_samples);
    size_t width = gpt->width;

    place_norm(gpt, &block->norms[0], arena);
    place_norm(gpt, &block->norms[1], arena);
    block->qkv = arena_matrix(arena, rows, 3 * width);
    block->sums = arena_matrix(arena, rows, (size_t)gpt->options.heads);
    block->mixed = arena_matrix(arena, rows, width);
    block->wide = arena_matrix(arena, rows, 4 * width);
    block->bent = arena_matrix(arena, rows, 4 * width);
}

static void gpt_place(struct model *model, struct arena *arena)
{
    struct gpt *gpt = (struct gpt *)model;
    size_t rows = rows_of(gpt, model->shape.max_samples);
    size_t width = gpt->width;

    for (int i = 0; i < gpt->layers; i++)
        place_block(gpt, &gpt->blocks[i], arena);
    place_norm(gpt, &gpt->last, arena);
    gpt->delta = arena_matrix(arena, rows, width);
    gpt->logits = arena_matrix(arena, rows, model->shape.classes);
    gpt->dx = arena_matrix(arena, rows, width);
    gpt->dbranch = arena_matrix(arena, rows, width);
    if (gpt->options.dropout > 0)
        gpt->dropped = arena_matrix(arena, rows, width);
    gpt->dqkv = arena_matrix(arena, rows, 3 * width);
    gpt->dwide = arena_matrix(arena, rows, 4 * width);
    gpt->scratch = arena_matrix(arena, 2 * ATTENTION_BLOCK, gpt->context);
}

/*
 * As GPT-2 (section 2.3 and its published code): what ends a branch is scaled
 * by 1 / sqrt(branches). Other weights keep the size of what they are given,
 * where GPT-2's 0.02 is meant for its own widths.
 */
static void init_block(struct gpt *gpt, const struct block *block)
{
    struct params *params = &gpt->model.params;
    uint64_t seed = gpt->model.shape.seed;
    double plain = 1 / sqrt((double)gpt->width);
    double end = plain / sqrt(2.0 * gpt->layers);

    params_init_constant(params, block->norms[0].gain, 1);
    params_init_constant(params, block->norms[1].gain, 1);
    params_init_normal(params, block->attention.in_weight, plain, seed);
    params_init_normal(params, block->attention.out_weight, end, seed);
    params_init_normal(params, block->mlp.in_weight, plain, seed);
    params_init_normal(params, block->mlp.out_weight, end / 2, seed);
}

static void gpt_init(struct model *model)
{
    struct gpt *gpt = (struct gpt *)model;
    struct params *params = &model->params;

    params_init_normal(params, gpt->table, 0.02, model->shape.seed);
    params_init_normal(params, gpt->positions, 0.02, model->shape.seed);
    for (int i = 0; i < gpt->layers; i++)
        init_block(gpt, &gpt->blocks[i]);
    params_init_constant(params, gpt->last.gain, 1);
}

/* A token: 12 c^2 numbers a block, twice c for each of the tokens that it sees
 * (half of the context in the mean), and the table. */
static double gpt_flops(const struct model *model, size_t samples)
{
    const struct gpt *gpt = (const struct gpt *)model;
    double width = (double)gpt->width;
    double seen = ((double)gpt->context + 1) / 2;
    double block = 12 * width * width + 2 * width * seen;
    double products =
        block * gpt->layers + width * (double)model->shape.classes;

    return 6 * products * (double)rows_of(gpt, samples);
}

static struct matrix value(const struct gpt *gpt, int tensor)
{
    return params_value(&gpt->model.params, tensor);
}

static struct matrix grad(const struct gpt *gpt, int tensor)
{
    return params_grad(&gpt->model.params, tensor);
}

static void enter(const struct gpt *gpt, int unit, enum pass pass)
{
    params_enter(&gpt->model.params, unit, pass);
}

static void leave(const struct gpt *gpt, int unit, enum pass pass)
{
    params_leave(&gpt->model.params, unit, pass);
}

/* place 0: the embeddings; then two branches a block. */
static void drop_out(const struct gpt *gpt, const struct batch *batch,
                     int place, struct matrix x)
{
    const struct noise noise = {.seed = gpt->model.shape.seed,
                                .step = batch->step,
                                .stream = (uint32_t)(STREAM_DROPOUT + place),
                                .first_row = batch->first * gpt->context};

    gpt->model.ops->dropout(x, gpt->options.dropout, &noise);
}

/* What a pass works on: its batch, how many rows that has, and whether noise
 * belongs to it. Of one sample the rows before `known` may have been computed
 * before, so that they are left out: what others need of them, their keys and
 * values, is still there. */
struct work {
    struct gpt *gpt;
    const struct batch *batch;
    size_t rows, known;
    bool is_noisy;
};

/* The rows to be computed. */
static struct matrix new_rows(const struct work *work, struct matrix matrix)
{
    return matrix_slice(matrix, work->known, work->rows - work->known);
}

/* norm(x + delta); delta.data NULL: norm(x), and the norm's sum is x. */
static struct matrix normalize(const struct work *work, struct norm *norm,
                               struct matrix x, struct matrix delta)
{
    const struct gpt *gpt = work->gpt;
    const struct layernorm how = {
        value(gpt, norm->gain), value(gpt, norm->bias),
        new_rows(work, norm->sum), new_rows(work, norm->stats)};
    struct matrix y = new_rows(work, norm->y);

    gpt->model.ops->layernorm(x, delta, &how, y);
    return y;
}

/* What a branch ends with: its last product, to gpt->delta. */
static struct matrix finish_branch(const struct work *work,
                                   const struct branch *branch, struct matrix x,
                                   int place)
{
    const struct gpt *gpt = work->gpt;
    struct matrix delta = new_rows(work, gpt->delta);

    gpt->model.ops->linear(x, value(gpt, branch->out_weight),
                           value(gpt, branch->out_bias), delta);
    if (work->is_noisy)
        drop_out(gpt, work->batch, place, delta);
    return delta;
}

static struct attention attention_of(const struct work *work,
                                     const struct block *block)
{
    const struct gpt *gpt = work->gpt;

    return (struct attention){
        .length = work->rows < gpt->context ? work->rows : gpt->context,
        .heads = (size_t)gpt->options.heads,
        .known = work->known,
        .sums = matrix_rows(block->sums, work->rows),
        .scratch = gpt->scratch};
}

/* Takes what the block before left to be added, and leaves its own. */
static struct matrix block_forward(const struct work *work, int layer,
                                   struct matrix x, struct matrix delta)
{
    struct gpt *gpt = work->gpt;
    const struct ops *ops = gpt->model.ops;
    struct block *block = &gpt->blocks[layer];
    const struct attention how = attention_of(work, block);
    struct matrix qkv = matrix_rows(block->qkv, work->rows);
    struct matrix mixed = matrix_rows(block->mixed, work->rows);
    struct matrix wide = new_rows(work, block->wide);
    struct matrix bent = new_rows(work, block->bent);
    struct matrix y;

    enter(gpt, 1 + layer, PASS_FORWARD);
    y = normalize(work, &block->norms[0], x, delta);
    ops->linear(y, value(gpt, block->attention.in_weight),
                value(gpt, block->attention.in_bias), new_rows(work, qkv));
    ops->attention(qkv, &how, mixed);
    delta = finish_branch(work, &block->attention, new_rows(work, mixed),
                          1 + 2 * layer);
    y = normalize(work, &block->norms[1], new_rows(work, block->norms[0].sum),
                  delta);
    ops->linear(y, value(gpt, block->mlp.in_weight),
                value(gpt, block->mlp.in_bias), wide);
    ops->gelu(wide, bent);
    delta = finish_branch(work, &block->mlp, bent, 2 + 2 * layer);
    leave(gpt, 1 + layer, PASS_FORWARD);
    return delta;
}

/* From tokens to logits, which it returns. */
static struct matrix forward(const struct work *work)
{
    struct gpt *gpt = work->gpt;
    const struct ops *ops = gpt->model.ops;
    const uint16_t *tokens = work->batch->inputs;
    struct matrix x = new_rows(work, gpt->blocks[0].norms[0].sum);
    struct matrix delta = {NULL, 0, 0}, y;
    struct matrix logits = new_rows(work, gpt->logits);

    enter(gpt, 0, PASS_FORWARD);
    ops->embedding(tokens + work->known, value(gpt, gpt->table),
                   matrix_slice(value(gpt, gpt->positions), work->known,
                                gpt->context - work->known),
                   x);
    leave(gpt, 0, PASS_FORWARD);
    if (work->is_noisy)
        drop_out(gpt, work->batch, 0, x);
    for (int i = 0; i < gpt->layers; i++) {
        delta = block_forward(work, i, x, delta);
        x = new_rows(work, gpt->blocks[i].norms[1].sum);
    }
    enter(gpt, 1 + gpt->layers, PASS_FORWARD);
    y = normalize(work, &gpt->last, x, delta);
    leave(gpt, 1 + gpt->layers, PASS_FORWARD);
    enter(gpt, 0, PASS_FORWARD);
    ops->linear(y, value(gpt, gpt->table), (struct matrix){NULL, 0, 0}, logits);
    leave(gpt, 0, PASS_FORWARD);
    return logits;
}

/* The gradient dbranch behind a norm joins that of the stream, dx. */
static void normalize_backward(const struct work *work, const struct norm *norm)
{
    const struct gpt *gpt = work->gpt;
    const struct layernorm how = {value(gpt, norm->gain),
                                  value(gpt, norm->bias),
                                  matrix_rows(norm->sum, work->rows),
                                  matrix_rows(norm->stats, work->rows)};
    const struct layernorm_grads grads = {grad(gpt, norm->gain),
                                          grad(gpt, norm->bias)};

    gpt->model.ops->layernorm_grad(&how, matrix_rows(gpt->dbranch, work->rows),
                                   &grads, matrix_rows(gpt->dx, work->rows));
}

/* Through finish_branch, with the stream's gradient: to that of its x. */
static void branch_end_backward(const struct work *work,
                                const struct branch *branch, struct matrix x,
                                struct matrix dx, int place)
{
    const struct gpt *gpt = work->gpt;
    const struct ops *ops = gpt->model.ops;
    struct matrix dy = matrix_rows(gpt->dx, work->rows);

    if (work->is_noisy) {
        struct matrix dropped = matrix_rows(gpt->dropped, work->rows);

        ops->copy(dy, dropped);
        drop_out(gpt, work->batch, place, dropped);
        dy = dropped;
    }
    ops->linear_grads(
        &(struct linear_pass){.x = x,
                              .w = value(gpt, branch->out_weight),
                              .dy = dy,
                              .dw = grad(gpt, branch->out_weight),
                              .dbias = grad(gpt, branch->out_bias),
                              .dx = dx});
}

/* Through a branch's first product and its norm. */
static void branch_start_backward(const struct work *work,
                                  const struct branch *branch,
                                  const struct norm *norm, struct matrix dy)
{
    const struct gpt *gpt = work->gpt;
    const struct ops *ops = gpt->model.ops;

    ops->linear_grads(
        &(struct linear_pass){.x = matrix_rows(norm->y, work->rows),
                              .w = value(gpt, branch->in_weight),
                              .dy = dy,
                              .dw = grad(gpt, branch->in_weight),
                              .dbias = grad(gpt, branch->in_bias),
                              .dx = matrix_rows(gpt->dbranch, work->rows)});
    normalize_backward(work, norm);
}

static void block_backward(const struct work *work, int layer)
{
    const struct gpt *gpt = work->gpt;
    const struct ops *ops = gpt->model.ops;
    const struct block *block = &gpt->blocks[layer];
    const struct attention how = attention_of(work, block);
    struct matrix dwide = matrix_rows(gpt->dwide, work->rows);
    struct matrix dmixed = matrix_rows(gpt->dbranch, work->rows);
    const struct attention_pass pass = {matrix_rows(block->qkv, work->rows),
                                        matrix_rows(block->mixed, work->rows),
                                        dmixed,
                                        matrix_rows(gpt->dqkv, work->rows)};

    enter(gpt, 1 + layer, PASS_BACKWARD);
    branch_end_backward(work, &block->mlp, matrix_rows(block->bent, work->rows),
                        dwide, 2 + 2 * layer);
    ops->gelu_grad(matrix_rows(block->wide, work->rows), dwide);
    branch_start_backward(work, &block->mlp, &block->norms[1], dwide);
    branch_end_backward(work, &block->attention, pass.y, dmixed, 1 + 2 * layer);
    ops->attention_grad(&pass, &how);
    branch_start_backward(work, &block->attention, &block->norms[0], pass.dqkv);
    leave(gpt, 1 + layer, PASS_BACKWARD);
}

/* From the gradient of the logits to those of the parameters. */
static void backward(const struct work *work, struct matrix dlogits)
{
    const struct gpt *gpt = work->gpt;
    const struct ops *ops = gpt->model.ops;
    struct matrix dx = matrix_rows(gpt->dx, work->rows);

    enter(gpt, 0, PASS_BACKWARD);
    ops->linear_grads(
        &(struct linear_pass){.x = matrix_rows(gpt->last.y, work->rows),
                              .w = value(gpt, gpt->table),
                              .dy = dlogits,
                              .dw = grad(gpt, gpt->table),
                              .dx = matrix_rows(gpt->dbranch, work->rows)});
    ops->clear(dx);
    enter(gpt, 1 + gpt->layers, PASS_BACKWARD);
    normalize_backward(work, &gpt->last);
    leave(gpt, 1 + gpt->layers, PASS_BACKWARD);
    for (int i = gpt->layers - 1; i >= 0; i--)
        block_backward(work, i);
    if (work->is_noisy)
        drop_out(gpt, work->batch, 0, dx);
    ops->embedding_grad(work->batch->inputs, dx, grad(gpt, gpt->table),
                        grad(gpt, gpt->positions));
    leave(gpt, 0, PASS_BACKWARD);
}

static struct work work_of(struct model *model, const struct batch *batch,
                           bool is_training)
{
    struct gpt *gpt = (struct gpt *)model;

    return (struct work){.gpt = gpt,
                         .batch = batch,
                         .rows = rows_of(gpt, batch->count),
                         .is_noisy = is_training && gpt->options.dropout > 0};
}

static struct matrix gpt_forward(struct model *model, const struct batch *batch,
                                 bool is_training)
{
    const struct work work = work_of(model, batch, is_training);

    return forward(&work);
}

static void gpt_backward(struct model *model, const struct batch *batch,
                         struct matrix dlogits)
{
    const struct work work = work_of(model, batch, true);

    backward(&work, dlogits);
}

struct matrix gpt_go_on(struct model *model, const uint16_t *tokens,
                        size_t known, size_t count)
{
    const struct batch batch = {.inputs = tokens, .count = 1};
    const struct work work = {.gpt = (struct gpt *)model,
                              .batch = &batch,
                              .rows = count,
                              .known = known};

    return forward(&work);
}

static int complete(void *options, int argc, char **argv, struct err *err)
{
    const struct flag_set set = {gpt_flags, options, NULL};

    return gpt_init_from_complete(&set, argc, argv, err);
}

const struct model_kind model_gpt = {
    .name = "gpt",
    .summary = "transformer on text",
    .about = "Trains a transformer like GPT-2 to predict the next token of a "
             "text. After each\n"
             "epoch it prints one line. Losses are in nats per token. One "
             "twentieth of the\n"
             "text is held out to measure the validation loss:\n\n"
             "epoch=1 train_loss=1.90452 val_loss=1.51807 val_error=0.4504 "
             "samples_per_s=160\n",
    .examples = "  bible -f gen1:1-rev22:21 >bible.txt\n"
                "  smtrain gpt --data bible.txt\n"
                "  smtrain vocabulary --data bible.txt --output vocabulary\n"
                "  smtrain gpt --data bible.txt --vocabulary vocabulary\n"
                "  smtrain gpt --data bible.txt --checkpoint-dir run1\n"
                "  smtrain sample --checkpoint-dir run1\n"
                "  smtrain export --checkpoint-dir run1 --output model\n"
                "  smtrain gpt --data text.txt --init-from gpt2 --context 256 "
                "--lr 3e-5\n",
    .flags = gpt_flags,
    .defaults = gpt_defaults,
    .options_size = sizeof(struct gpt_options),
    .size = sizeof(struct gpt),
    .data = &data_text,
    .plan = gpt_plan,
    .place = gpt_place,
    .init = gpt_init,
    .complete = complete,
    .load = gpt_init_from_load,
    .flops = gpt_flops,
    .forward = gpt_forward,
    .backward = gpt_backward,
};
