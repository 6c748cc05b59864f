/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ReLU and dropout. The mask of dropout is not stored: the output is 0 where
 * the gradient must be. The noise depends on seed, step and row alone, so any
 * split of a batch between ranks drops the same numbers.
 */
#include "training/ops/ops_cpu.h"

#include "base/compiler.h"
#include "base/rng.h"

SIMD_CLONES void cpu_relu(struct matrix x)
{
    size_t count = x.rows * x.columns;

    for (size_t i = 0; i < count; i++)
        x.data[i] = x.data[i] < 0 ? 0 : x.data[i];
}

void cpu_dropout(struct matrix x, double rate, const struct noise *noise)
{
    const uint32_t threshold = (uint32_t)(rate * 4294967296.0);
    const real scale = (real)(1 / (1 - rate));
    size_t count = x.rows * x.columns;
    struct rng rng;

    rng_init(&rng, noise->seed, *noise->step, noise->stream);
    rng_skip(&rng, noise->first_row * x.columns);
    for (size_t i = 0; i < count; i++)
        x.data[i] = rng_u32(&rng) < threshold ? 0 : x.data[i] * scale;
}

SIMD_CLONES void cpu_relu_dropout_grad(struct matrix y, double rate,
                                       struct matrix dy)
{
    const real scale = (real)(1 / (1 - rate));
    const real *restrict output = y.data;
    real *restrict gradient = dy.data;
    size_t count = y.rows * y.columns;

    for (size_t i = 0; i < count; i++)
        gradient[i] = output[i] > 0 ? gradient[i] * scale : 0;
}
