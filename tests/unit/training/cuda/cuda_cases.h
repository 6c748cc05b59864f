/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_TRAINING_CUDA_CUDA_CASES_H
#define SMTUNE_TESTS_UNIT_TRAINING_CUDA_CUDA_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "training/ops/backend.h"

/* Each operation, in shapes that fill its blocks and that do not. */

enum {
    CASE_MATRICES = 10,
    CASE_SIZES = 4,
    CASE_TOKENS = 64 * 1024,
    CASE_SQUARES = 16
};

/* What a matrix is to an operation. */
enum role {
    IN = 1,  /* read, and left as it is */
    OUT,     /* written in full: poisoned before */
    OUT_LOG, /* likewise: logarithms, whose differences count */
    BOTH,    /* read and written */
    LOST,    /* read, then worth nothing */
    SCRATCH, /* poisoned, and not looked at */
};

struct operands {
    struct matrix m[CASE_MATRICES];
    uint16_t *tokens; /* [CASE_TOKENS], below sizes[0] */
    uint8_t *bytes;   /* [CASE_TOKENS] */
    uint64_t *step;   /* for dropout */
    double *squares;  /* [CASE_SQUARES], in the end weighted in the loss */
    struct totals totals;
};

struct op_case {
    const char *name;
    void (*run)(const struct ops *ops, const size_t *sizes,
                struct operands *with);
    size_t sizes[CASE_SIZES];
    struct {
        enum role role; /* 0: the end */
        size_t rows, columns;
    } shapes[CASE_MATRICES];
    bool is_exact;      /* bit for bit as on the processor */
    bool multiplies;    /* matrices: of bf16, where that is asked for */
    bool rounds_within; /* then, what it multiplies anew, too */
};

static void run_normalize(const struct ops *ops, const size_t *sizes,
                          struct operands *with)
{
    (void)sizes;
    ops->normalize(with->bytes, with->m[0]);
}

static void run_linear(const struct ops *ops, const size_t *sizes,
                       struct operands *with)
{
    struct matrix none = {NULL, 0, 0};

    ops->linear(with->m[0], with->m[1], sizes[0] ? with->m[2] : none,
                with->m[3]);
}

static void run_linear_grads(const struct ops *ops, const size_t *sizes,
                             struct operands *with)
{
    struct linear_pass pass = {.x = with->m[0],
                               .w = with->m[4],
                               .dy = with->m[1],
                               .dw = with->m[2],
                               .dx = with->m[5]};

    if (sizes[0])
        pass.dbias = with->m[3];
    ops->linear_grads(&pass);
}

static void run_relu(const struct ops *ops, const size_t *sizes,
                     struct operands *with)
{
    (void)sizes;
    ops->relu(with->m[0]);
}

static void run_dropout(const struct ops *ops, const size_t *sizes,
                        struct operands *with)
{
    const struct noise noise = {.seed = 0x123456789abcU,
                                .step = with->step,
                                .stream = 7,
                                .first_row = sizes[0]};

    ops->dropout(with->m[0], 0.3, &noise);
}

static void run_relu_dropout_grad(const struct ops *ops, const size_t *sizes,
                                  struct operands *with)
{
    (void)sizes;
    ops->relu_dropout_grad(with->m[0], 0.3, with->m[1]);
}

/* sizes: height, width. */
static void run_conv(const struct ops *ops, const size_t *sizes,
                     struct operands *with)
{
    const struct conv_space space = {{sizes[0], sizes[1]}, with->m[3]};

    ops->conv(with->m[0], with->m[1], with->m[2], &space, with->m[4]);
}

static void run_conv_grads(const struct ops *ops, const size_t *sizes,
                           struct operands *with)
{
    const struct conv_space space = {{sizes[0], sizes[1]}, with->m[3]};

    ops->conv_grad_params(with->m[0], with->m[4], &space, with->m[5],
                          with->m[2]);
    ops->conv_grad_input(with->m[4], with->m[1], &space, with->m[6]);
}

static void run_pool(const struct ops *ops, const size_t *sizes,
                     struct operands *with)
{
    ops->pool(with->m[0], (struct grid){sizes[0], sizes[1]}, with->m[1]);
    ops->pool_grad(with->m[2], (struct grid){sizes[0], sizes[1]}, with->m[3]);
}

static void run_softmax(const struct ops *ops, const size_t *sizes,
                        struct operands *with)
{
    (void)sizes;
    ops->softmax_loss(with->m[0], with->tokens, &with->totals);
    ops->softmax_loss_grad(with->m[1], with->tokens, 0.25, &with->totals);
}

static void run_clear_and_copy(const struct ops *ops, const size_t *sizes,
                               struct operands *with)
{
    (void)sizes;
    ops->clear(with->m[0]);
    ops->copy(with->m[1], with->m[2]);
}

static void run_sums(const struct ops *ops, const size_t *sizes,
                     struct operands *with)
{
    (void)sizes;
    ops->add(with->m[0], with->m[1], with->m[2]);
    ops->add(with->m[3], with->m[0], with->m[3]);
    ops->square_sums(with->m[1], with->squares);
}

static void run_embedding(const struct ops *ops, const size_t *sizes,
                          struct operands *with)
{
    (void)sizes;
    ops->embedding(with->tokens, with->m[0], with->m[1], with->m[2]);
    ops->embedding_grad(with->tokens, with->m[3], with->m[4], with->m[5]);
}

/* sizes[0]: whether something is added first. */
static void run_layernorm(const struct ops *ops, const size_t *sizes,
                          struct operands *with)
{
    const struct layernorm norm = {with->m[2], with->m[3], with->m[4],
                                   with->m[5]};
    const struct layernorm_grads grads = {with->m[8], with->m[9]};
    struct matrix delta = sizes[0] ? with->m[1] : (struct matrix){NULL, 0, 0};

    ops->layernorm(with->m[0], delta, &norm, with->m[6]);
    ops->layernorm_grad(&norm, with->m[1], &grads, with->m[7]);
}

static void run_gelu(const struct ops *ops, const size_t *sizes,
                     struct operands *with)
{
    (void)sizes;
    ops->gelu(with->m[0], with->m[1]);
    ops->gelu_grad(with->m[0], with->m[2]);
}

/* sizes[0], [1]: length, heads. */
static void run_attention(const struct ops *ops, const size_t *sizes,
                          struct operands *with)
{
    const struct attention how = {sizes[0], sizes[1], with->m[2], with->m[3],
                                  .known = 0};
    const struct attention_pass pass = {with->m[0], with->m[1], with->m[4],
                                        with->m[5]};

    ops->attention(with->m[0], &how, with->m[1]);
    ops->attention_grad(&pass, &how);
}

/* sizes[0] to [2]: length, heads, rows that are known. */
static void run_later_attention(const struct ops *ops, const size_t *sizes,
                                struct operands *with)
{
    const struct attention how = {sizes[0], sizes[1], with->m[2], with->m[3],
                                  .known = sizes[2]};

    ops->attention(with->m[0], &how, with->m[1]);
}

static void run_updates(const struct ops *ops, const size_t *sizes,
                        struct operands *with)
{
    const struct sgd_rates sgd = {0.9, 0.1, 0.01, 0.5};
    const struct adam_rates adam = {0.9, 0.999, 0.01, 1e-8, 0.99, 0.5};
    const struct adam_moments moments = {with->m[3], with->m[4]};

    (void)sizes;
    ops->relu(with->m[4]); /* second moments are not negative */
    ops->sgd(&sgd, with->m[0], with->m[1], with->m[2]);
    ops->adam(&adam, with->m[0], &moments, with->m[5]);
}

#define LINEAR(has_bias, n, in, out)                                           \
    {.name = "linear " #n " " #in " " #out,                                    \
     .run = run_linear,                                                        \
     .multiplies = true,                                                       \
     .sizes = {has_bias},                                                      \
     .shapes = {{IN, n, in}, {IN, out, in}, {IN, 1, out}, {OUT, n, out}}},     \
    {                                                                          \
        .name = "linear grads " #n " " #in " " #out, .run = run_linear_grads,  \
        .multiplies = true, .sizes = {has_bias}, .shapes = {                   \
            {IN, n, in},                                                       \
            {IN, n, out},                                                      \
            {OUT, out, in},                                                    \
            {has_bias ? OUT : SCRATCH, 1, out},                                \
            {IN, out, in},                                                     \
            {OUT, n, in}                                                       \
        }                                                                      \
    }

#define CONV(images, height, width, in, out, lines)                            \
    {.name = "conv " #images " " #height " " #width " " #lines,                \
     .run = run_conv,                                                          \
     .multiplies = true,                                                       \
     .sizes = {height, width},                                                 \
     .shapes = {{IN, (images) * (height) * (width), in},                       \
                {IN, out, 9 * (in)},                                           \
                {IN, 1, out},                                                  \
                {SCRATCH, (lines) * (width), 9 * (in)},                        \
                {OUT, (images) * (height) * (width), out}}},                   \
    {                                                                          \
        .name = "conv grads " #images " " #height " " #width " " #lines,       \
        .run = run_conv_grads, .multiplies = true, .sizes = {height, width},   \
        .shapes = {                                                            \
            {IN, (images) * (height) * (width), in},                           \
            {IN, out, 9 * (in)},                                               \
            {OUT, 1, out},                                                     \
            {SCRATCH, (lines) * (width), 9 * (in)},                            \
            {IN, (images) * (height) * (width), out},                          \
            {OUT, out, 9 * (in)},                                              \
            {OUT, (images) * (height) * (width), in}                           \
        }                                                                      \
    }

#define POOL(images, height, width, channels)                                  \
    {                                                                          \
        .name = "pool " #images " " #height " " #width, .run = run_pool,       \
        .sizes = {height, width}, .shapes = {                                  \
            {IN, (images) * (height) * (width), channels},                     \
            {OUT, (images) * ((height) / 2) * ((width) / 2), channels},        \
            {IN, (images) * ((height) / 2) * ((width) / 2), channels},         \
            {BOTH, (images) * (height) * (width), channels}                    \
        }                                                                      \
    }

#define SOFTMAX(rows, classes)                                                 \
    {                                                                          \
        .name = "softmax " #rows " " #classes, .run = run_softmax,             \
        .sizes = {classes}, .shapes = {                                        \
            {BOTH, rows, classes},                                             \
            {BOTH, rows, classes}                                              \
        }                                                                      \
    }

#define EMBEDDING(rows, tokens, length, width)                                 \
    {                                                                          \
        .name = "embedding " #rows " " #tokens " " #length,                    \
        .run = run_embedding, .sizes = {tokens}, .shapes = {                   \
            {IN, tokens, width},                                               \
            {IN, length, width},                                               \
            {OUT, rows, width},                                                \
            {IN, rows, width},                                                 \
            {BOTH, tokens, width},                                             \
            {OUT, length, width}                                               \
        }                                                                      \
    }

#define LAYERNORM(adds, rows, columns)                                         \
    {                                                                          \
        .name = "layernorm " #rows " " #columns, .run = run_layernorm,         \
        .sizes = {adds}, .shapes = {                                           \
            {IN, rows, columns},                                               \
            {LOST, rows, columns},                                             \
            {IN, 1, columns},                                                  \
            {IN, 1, columns},                                                  \
            {(adds) ? OUT : IN, rows, columns},                                \
            {OUT, rows, 2},                                                    \
            {OUT, rows, columns},                                              \
            {BOTH, rows, columns},                                             \
            {OUT, 1, columns},                                                 \
            {OUT, 1, columns}                                                  \
        }                                                                      \
    }

#define ATTENTION(sequences, length, heads, width)                             \
    {                                                                          \
        .name = "attention " #sequences " " #length " " #heads " " #width,     \
        .multiplies = true, .rounds_within = true, .run = run_attention,       \
        .sizes = {length, heads}, .shapes = {                                  \
            {IN, (sequences) * (length), 3 * (heads) * (width)},               \
            {OUT, (sequences) * (length), (heads) * (width)},                  \
            {OUT_LOG, (sequences) * (length), heads},                          \
            {SCRATCH, 2 * ATTENTION_BLOCK, length},                            \
            {IN, (sequences) * (length), (heads) * (width)},                   \
            {OUT, (sequences) * (length), 3 * (heads) * (width)}               \
        }                                                                      \
    }

/* More rows than one sweep of blocks takes. Emulated they take minutes, so they
 * are for devices alone, and come last. */
#define LARGE_CASES                                                            \
    SOFTMAX(2100, 7), LAYERNORM(1, 9000, 40), ATTENTION(2, 130, 2, 64),        \
        ATTENTION(2, 70, 3, 100), ATTENTION(2, 1024, 3, 64)
enum { LARGE_CASE_COUNT = 5 };

static const struct op_case op_cases[] = {
    {"normalize", run_normalize, .shapes = {{OUT, 11, 29}}},
    LINEAR(true, 7, 5, 9),
    LINEAR(false, 33, 16, 20),
    LINEAR(true, 1, 1, 1),
    LINEAR(true, 130, 12, 3),
    LINEAR(true, 300, 70, 33),
    LINEAR(true, 40, 1, 6),
    LINEAR(true, 1, 64, 64),
    {"relu", run_relu, .shapes = {{BOTH, 9, 31}}, .is_exact = true},
    {"dropout", run_dropout, {0}, {{BOTH, 9, 31}}, .is_exact = true},
    {"dropout from row 3", run_dropout, {3}, {{BOTH, 4, 7}}, .is_exact = true},
    {"dropout of one", run_dropout, {1}, {{BOTH, 1, 1}}, .is_exact = true},
    {"relu_dropout_grad", run_relu_dropout_grad,
     .shapes = {{IN, 9, 31}, {BOTH, 9, 31}}, .is_exact = true},
    CONV(2, 4, 5, 3, 4, 8),
    CONV(2, 4, 5, 3, 4, 1),
    CONV(3, 5, 2, 1, 2, 4),
    CONV(1, 1, 1, 2, 3, 1),
    CONV(5, 7, 3, 2, 5, 3),
    POOL(2, 4, 6, 3),
    POOL(2, 5, 7, 2),
    POOL(1, 2, 3, 1),
    POOL(3, 9, 4, 5),
    SOFTMAX(1, 1),
    SOFTMAX(9, 10),
    SOFTMAX(3, 700),
    SOFTMAX(5, 9001),
    {"clear and copy", run_clear_and_copy,
     .shapes = {{BOTH, 3, 5}, {IN, 9, 31}, {OUT, 9, 31}}, .is_exact = true},
    {"sums", run_sums,
     .shapes = {{IN, 11, 29}, {IN, 11, 29}, {OUT, 11, 29}, {BOTH, 11, 29}}},
    EMBEDDING(600, 5, 20, 7),
    EMBEDDING(12, 30, 4, 300),
    EMBEDDING(1100, 40, 20, 8),
    LAYERNORM(1, 9, 33),
    LAYERNORM(0, 150, 20),
    LAYERNORM(1, 1, 2),
    LAYERNORM(1, 3, 2000),
    LAYERNORM(1, 12, 300),
    {"gelu", run_gelu, .shapes = {{IN, 9, 31}, {OUT, 9, 31}, {BOTH, 9, 31}}},
    ATTENTION(2, 18, 2, 5),
    ATTENTION(1, 37, 1, 40),
    ATTENTION(2, 1, 1, 128),
    ATTENTION(1, 100, 1, 16),
    ATTENTION(1, 65, 2, 128),
    ATTENTION(3, 33, 1, 65),
    ATTENTION(1, 150, 2, 64),
    ATTENTION(2, 70, 3, 100),
    ATTENTION(1, 129, 1, 30),
    {.name = "attention from row 5",
     .run = run_later_attention,
     .multiplies = true,
     .rounds_within = true,
     .sizes = {20, 1, 5},
     .shapes =
         {{IN, 40, 3 * 4}, {BOTH, 40, 4}, {BOTH, 40, 1}, {SCRATCH, 128, 20}}},
    {.name = "attention from row 130",
     .run = run_later_attention,
     .multiplies = true,
     .rounds_within = true,
     .sizes = {150, 1, 130},
     .shapes = {{IN, 150, 3 * 40},
                {BOTH, 150, 40},
                {BOTH, 150, 1},
                {SCRATCH, 128, 150}}},
    {"updates", run_updates,
     .shapes = {{IN, 1, 1000},
                {BOTH, 1, 1000},
                {BOTH, 1, 1000},
                {BOTH, 1, 1000},
                {BOTH, 1, 1000},
                {BOTH, 1, 1000}}},
    LARGE_CASES,
};

#endif
