/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/ops_cpu.h"

#include "base/compiler.h"
#include "training/util/fast_math.h"

/*
 * Hendrycks and Gimpel, "Gaussian error linear units", 2016, section 2:
 * 0.5 x (1 + tanh(u)) with u = sqrt(2 / pi) (x + 0.044715 x^3). Since
 * 0.5 (1 + tanh(u)) = 1 / (1 + e^-2u), one exponential does.
 */
static const real TWICE_ROOT = (real)1.5957691216057308; /* 2 sqrt(2 / pi) */
static const real CUBIC = (real)0.044715;

SIMD_CLONES void cpu_gelu(struct matrix x, struct matrix y)
{
    const real *restrict from = x.data;
    real *restrict to = y.data;
    size_t count = x.rows * x.columns;

    for (size_t i = 0; i < count; i++) {
        real v = from[i];
        real twice_u = TWICE_ROOT * v * (1 + CUBIC * v * v);

        to[i] = v / (1 + fast_exp(-twice_u));
    }
}

/* With s = 1 / (1 + e^-2u): (x s)' = s + x s (1 - s) (2u)'. */
SIMD_CLONES void cpu_gelu_grad(struct matrix x, struct matrix dy)
{
    const real *restrict from = x.data;
    real *restrict gradient = dy.data;
    size_t count = x.rows * x.columns;

    for (size_t i = 0; i < count; i++) {
        real v = from[i];
        real twice_u = TWICE_ROOT * v * (1 + CUBIC * v * v);
        real slope = TWICE_ROOT * (1 + 3 * CUBIC * v * v);
        real s = 1 / (1 + fast_exp(-twice_u));

        gradient[i] *= s + v * s * (1 - s) * slope;
    }
}
