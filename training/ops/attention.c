/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/ops_cpu.h"

#include "base/compiler.h"
#include "training/util/fast_math.h"

/*
 * Dao et al., "FlashAttention", NeurIPS 2022: what a block of queries makes of
 * the keys before it is worked out in one piece of scratch, and again on the
 * way back (section 3.1 and algorithm 4), so that no [length][length] matrix
 * is kept. A block's keys are taken all at once: on a processor they fit into
 * its cache. Rows before a block's last key are cut to where they end.
 */

/* Queries `first` .. `first` + rows - 1 of one head of one sequence, and the
 * keys 0 .. keys - 1, which the last of them sees. */
struct block {
    size_t first, rows, keys;
    size_t width, heads;
    size_t stride; /* of a row of qkv */
    real scale;
};

/* Where a head of a sequence begins, in rows as those of qkv and of y. */
struct place {
    const real *q, *k, *v, *y, *dy;
    real *to_y, *dq, *dk, *dv;
    real *sums; /* every `heads`-th number is of this head */
};

/* to[rows][keys] = scale x from keysT. */
static void against_keys(const struct block *block, real scale,
                         const real *from, size_t from_stride, const real *keys,
                         real *to)
{
    real_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)block->rows,
              (int)block->keys, (int)block->width, scale, from,
              (int)from_stride, keys, (int)block->stride, 0, to,
              (int)block->keys);
}

/* to[rows][width] = weights[rows][keys] values[keys][width]. */
static void of_values(const struct block *block, const real *weights,
                      const real *values, real *to, size_t to_stride)
{
    real_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)block->rows,
              (int)block->width, (int)block->keys, 1, weights, (int)block->keys,
              values, (int)block->stride, 0, to, (int)to_stride);
}

/* to[keys][width] += weightsT[keys][rows] from[rows][width]. */
static void add_to_keys(const struct block *block, const real *weights,
                        const real *from, size_t from_stride, real *to)
{
    real_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)block->keys,
              (int)block->width, (int)block->rows, 1, weights, (int)block->keys,
              from, (int)from_stride, 1, to, (int)block->stride);
}

/* The softmax of what the causal mask leaves; the logarithm of the sum of
 * exponentials is returned. */
static inline real softmax_row(real *restrict scores, size_t seen, size_t keys)
{
    real largest = fast_max(scores, seen), sum;

    for (size_t i = 0; i < seen; i++)
        scores[i] = fast_exp(scores[i] - largest);
    sum = fast_sum(scores, seen);
    for (size_t i = 0; i < seen; i++)
        scores[i] /= sum;
    for (size_t i = seen; i < keys; i++)
        scores[i] = 0;
    return largest + (real)log((double)sum);
}

SIMD_CLONES static void softmax_block(const struct block *block, real *scores,
                                      real *sums)
{
    for (size_t row = 0; row < block->rows; row++)
        sums[row * block->heads] = softmax_row(
            scores + row * block->keys, block->first + row + 1, block->keys);
}

/* The same probabilities again, and with their gradient dp that of the
 * scores, in place of dp: p (dp - y dy), scaled as the scores were. */
SIMD_CLONES static void softmax_block_grad(const struct block *block,
                                           const struct place *at,
                                           real *restrict p, real *restrict dp)
{
    for (size_t row = 0; row < block->rows; row++) {
        size_t seen = block->first + row + 1;
        size_t from = row * block->heads * block->width;
        real sum = at->sums[row * block->heads];
        real product = fast_dot(at->y + from, at->dy + from, block->width);

        for (size_t i = 0; i < seen; i++) {
            p[i] = fast_exp(p[i] - sum);
            dp[i] = p[i] * (dp[i] - product) * block->scale;
        }
        for (size_t i = seen; i < block->keys; i++)
            p[i] = dp[i] = 0;
        p += block->keys;
        dp += block->keys;
    }
}

static void forward(const struct block *block, const struct place *at,
                    real *scratch)
{
    against_keys(block, block->scale, at->q, block->stride, at->k, scratch);
    softmax_block(block, scratch, at->sums);
    of_values(block, scratch, at->v, at->to_y, block->heads * block->width);
}

static void backward(const struct block *block, const struct place *at,
                     real *scratch)
{
    real *p = scratch, *dp = scratch + block->rows * block->keys;
    size_t y_stride = block->heads * block->width;

    against_keys(block, block->scale, at->q, block->stride, at->k, p);
    against_keys(block, 1, at->dy, y_stride, at->v, dp);
    softmax_block_grad(block, at, p, dp);
    add_to_keys(block, p, at->dy, y_stride, at->dv);
    of_values(block, dp, at->k, at->dq, block->stride);
    add_to_keys(block, dp, at->q, block->stride, at->dk);
}

/* Block after block of every head of every sequence. */
static struct block block_at(struct matrix qkv, const struct attention *how,
                             size_t first)
{
    size_t left = how->length - first;
    size_t rows = left < ATTENTION_BLOCK ? left : ATTENTION_BLOCK;
    size_t width = qkv.columns / 3 / how->heads;

    return (struct block){.first = first,
                          .rows = rows,
                          .keys = first + rows,
                          .width = width,
                          .heads = how->heads,
                          .stride = qkv.columns,
                          .scale = 1 / real_sqrt((real)width)};
}

static void forward_head(struct matrix qkv, const struct attention *how,
                         struct matrix y, size_t row, size_t head)
{
    size_t width = y.columns / how->heads;
    const real *q = qkv.data + row * qkv.columns + head * width;

    for (size_t i = how->known; i < how->length; i += ATTENTION_BLOCK) {
        const struct block block = block_at(qkv, how, i);
        const struct place at = {
            .q = q + i * qkv.columns,
            .k = q + y.columns,
            .v = q + 2 * y.columns,
            .to_y = y.data + (row + i) * y.columns + head * width,
            .sums = how->sums.data + (row + i) * how->heads + head};

        forward(&block, &at, how->scratch.data);
    }
}

void cpu_attention(struct matrix qkv, const struct attention *how,
                   struct matrix y)
{
    for (size_t row = 0; row < qkv.rows; row += how->length)
        for (size_t head = 0; head < how->heads; head++)
            forward_head(qkv, how, y, row, head);
}

static void backward_head(const struct attention_pass *pass,
                          const struct attention *how, size_t row, size_t head)
{
    size_t columns = pass->y.columns, width = columns / how->heads;
    size_t start = row * pass->qkv.columns + head * width;
    const real *q = pass->qkv.data + start;
    real *dq = pass->dqkv.data + start;

    for (size_t i = 0; i < how->length; i += ATTENTION_BLOCK) {
        const struct block block = block_at(pass->qkv, how, i);
        size_t output = (row + i) * columns + head * width;
        const struct place at = {.q = q + i * pass->qkv.columns,
                                 .k = q + columns,
                                 .v = q + 2 * columns,
                                 .y = pass->y.data + output,
                                 .dy = pass->dy.data + output,
                                 .dq = dq + i * pass->qkv.columns,
                                 .dk = dq + columns,
                                 .dv = dq + 2 * columns,
                                 .sums = how->sums.data +
                                         (row + i) * how->heads + head};

        backward(&block, &at, how->scratch.data);
    }
}

void cpu_attention_grad(const struct attention_pass *pass,
                        const struct attention *how)
{
    cpu_clear(pass->dqkv);
    for (size_t row = 0; row < pass->qkv.rows; row += how->length)
        for (size_t head = 0; head < how->heads; head++)
            backward_head(pass, how, row, head);
}
