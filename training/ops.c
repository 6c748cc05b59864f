/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"

/* Of the pixels of Fashion-MNIST's training images. */
static const real PIXEL_MEAN = (real)0.2860;
static const real PIXEL_DEVIATION = (real)0.3530;

SIMD_CLONES void op_normalize(const uint8_t *images, const uint32_t *rows,
                              struct matrix x)
{
    const real scale = 1 / (255 * PIXEL_DEVIATION);
    const real shift = -PIXEL_MEAN / PIXEL_DEVIATION;

    for (size_t row = 0; row < x.rows; row++) {
        const uint8_t *restrict from = images + rows[row] * x.columns;
        real *restrict to = x.data + row * x.columns;

        for (size_t i = 0; i < x.columns; i++)
            to[i] = (real)from[i] * scale + shift;
    }
}

void op_linear(struct matrix x, struct matrix w, struct matrix bias,
               struct matrix y)
{
    for (size_t row = 0; row < y.rows; row++)
        memcpy(y.data + row * y.columns, bias.data, y.columns * sizeof(real));
    real_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)y.rows,
              (int)y.columns, (int)x.columns, 1, x.data, (int)x.columns, w.data,
              (int)w.columns, 1, y.data, (int)y.columns);
}

SIMD_CLONES static void sum_rows(struct matrix x, real *restrict sum)
{
    memset(sum, 0, x.columns * sizeof(real));
    for (size_t row = 0; row < x.rows; row++) {
        const real *restrict from = x.data + row * x.columns;

        for (size_t i = 0; i < x.columns; i++)
            sum[i] += from[i];
    }
}

void op_linear_grad_params(struct matrix x, struct matrix dy, struct matrix dw,
                           struct matrix dbias)
{
    real_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)dw.rows,
              (int)dw.columns, (int)x.rows, 1, dy.data, (int)dy.columns, x.data,
              (int)x.columns, 0, dw.data, (int)dw.columns);
    sum_rows(dy, dbias.data);
}

void op_linear_grad_input(struct matrix dy, struct matrix w, struct matrix dx)
{
    real_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)dx.rows,
              (int)dx.columns, (int)dy.columns, 1, dy.data, (int)dy.columns,
              w.data, (int)w.columns, 0, dx.data, (int)dx.columns);
}

SIMD_CLONES void op_relu(struct matrix x)
{
    size_t count = x.rows * x.columns;

    for (size_t i = 0; i < count; i++)
        x.data[i] = x.data[i] < 0 ? 0 : x.data[i];
}

void op_dropout(struct matrix x, double rate, struct rng *rng)
{
    const uint32_t threshold = (uint32_t)(rate * 4294967296.0);
    const real scale = (real)(1 / (1 - rate));
    size_t count = x.rows * x.columns;

    for (size_t i = 0; i < count; i++)
        x.data[i] = rng_u32(rng) < threshold ? 0 : x.data[i] * scale;
}

SIMD_CLONES void op_relu_dropout_grad(struct matrix y, double rate,
                                      struct matrix dy)
{
    const real scale = (real)(1 / (1 - rate));
    const real *restrict output = y.data;
    real *restrict gradient = dy.data;
    size_t count = y.rows * y.columns;

    for (size_t i = 0; i < count; i++)
        gradient[i] = output[i] > 0 ? gradient[i] * scale : 0;
}

static size_t largest_index(const real *values, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (values[i] > values[best])
            best = i;
    return best;
}

/* The largest is taken out first, so that no exponential overflows. */
static real exponentials(real *x, size_t count, real largest)
{
    real sum = 0;

    for (size_t i = 0; i < count; i++) {
        x[i] = real_exp(x[i] - largest);
        sum += x[i];
    }
    return sum;
}

double op_softmax_loss(struct matrix logits, const uint8_t *labels,
                       size_t *errors)
{
    double loss = 0;

    for (size_t row = 0; row < logits.rows; row++) {
        real *x = logits.data + row * logits.columns;
        size_t best = largest_index(x, logits.columns);
        real above = x[best] - x[labels[row]];
        real sum = exponentials(x, logits.columns, x[best]);

        for (size_t i = 0; i < logits.columns; i++)
            x[i] /= sum;
        loss += (double)above + log((double)sum);
        *errors += best != labels[row];
    }
    return loss;
}

void op_softmax_loss_grad(struct matrix probabilities, const uint8_t *labels)
{
    const real scale = 1 / (real)probabilities.rows;

    for (size_t row = 0; row < probabilities.rows; row++) {
        real *p = probabilities.data + row * probabilities.columns;

        p[labels[row]] -= 1;
        for (size_t i = 0; i < probabilities.columns; i++)
            p[i] *= scale;
    }
}
