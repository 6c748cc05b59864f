/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer normalization, row by row, with the sum before it (a residual). Only
 * the sum and each row's mean and inverse deviation are kept. The backward pass
 * computes the normalized values again, which saves memory.
 */
#include "training/ops/ops_cpu.h"

#include "base/compiler.h"
#include "training/util/fast_math.h"

static const real EPSILON = (real)1e-5;

static inline void add_row(const real *restrict x, const real *restrict delta,
                           real *restrict sum, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] = x[i] + delta[i];
}

/* To mean 0 and deviation 1, which are left in stats[0] and [1] (inverse). */
static inline void normalize_row(const real *restrict x,
                                 const struct layernorm *norm, real *stats,
                                 real *restrict y)
{
    const real *restrict gain = norm->gain.data;
    const real *restrict bias = norm->bias.data;
    size_t count = norm->gain.columns;
    real mean = fast_sum(x, count) / (real)count, inverse;

    for (size_t i = 0; i < count; i++)
        y[i] = x[i] - mean;
    inverse = 1 / real_sqrt(fast_dot(y, y, count) / (real)count + EPSILON);
    for (size_t i = 0; i < count; i++)
        y[i] = y[i] * inverse * gain[i] + bias[i];
    stats[0] = mean;
    stats[1] = inverse;
}

SIMD_CLONES void cpu_layernorm(struct matrix x, struct matrix delta,
                               const struct layernorm *norm, struct matrix y)
{
    for (size_t row = 0; row < y.rows; row++) {
        size_t at = row * y.columns;

        if (delta.data != NULL)
            add_row(x.data + at, delta.data + at, norm->sum.data + at,
                    y.columns);
        normalize_row(norm->sum.data + at, norm, norm->stats.data + 2 * row,
                      y.data + at);
    }
}

/*
 * With z the normalized row and g = gain dy: dx = (g - mean(g) - z mean(g z))
 * / deviation (Ba, Kiros and Hinton, "Layer normalization", 2016, in the form
 * of Ioffe and Szegedy, ICML 2015, section 3). What z takes is worked out
 * again: dy is overwritten by g.
 */
static inline void grad_row(const real *restrict x, const real *stats,
                            const struct layernorm_grads *grads,
                            const real *restrict gain, real *restrict dy,
                            real *restrict dx)
{
    size_t count = grads->gain.columns;
    const real mean = stats[0], inverse = stats[1];
    real *restrict dgain = grads->gain.data;
    real *restrict dbias = grads->bias.data;
    real mean_g, mean_gz;

    for (size_t i = 0; i < count; i++) {
        dgain[i] += dy[i] * ((x[i] - mean) * inverse);
        dbias[i] += dy[i];
        dy[i] *= gain[i];
    }
    mean_g = fast_sum(dy, count) / (real)count;
    mean_gz = (fast_dot(dy, x, count) / (real)count - mean_g * mean) * inverse;
    for (size_t i = 0; i < count; i++)
        dx[i] += (dy[i] - mean_g - (x[i] - mean) * inverse * mean_gz) * inverse;
}

SIMD_CLONES void cpu_layernorm_grad(const struct layernorm *norm,
                                    struct matrix dy,
                                    const struct layernorm_grads *grads,
                                    struct matrix dsum)
{
    cpu_clear(grads->gain);
    cpu_clear(grads->bias);
    for (size_t row = 0; row < dy.rows; row++) {
        size_t at = row * dy.columns;

        grad_row(norm->sum.data + at, norm->stats.data + 2 * row, grads,
                 norm->gain.data, dy.data + at, dsum.data + at);
    }
}
