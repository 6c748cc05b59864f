/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/ops_cpu.h"

#include "base/compiler.h"

/* Of the pixels of Fashion-MNIST's training images. */
static const real PIXEL_MEAN = (real)0.2860;
static const real PIXEL_DEVIATION = (real)0.3530;

SIMD_CLONES void cpu_normalize(const uint8_t *bytes, struct matrix x)
{
    const real scale = 1 / (255 * PIXEL_DEVIATION);
    const real shift = -PIXEL_MEAN / PIXEL_DEVIATION;
    size_t count = x.rows * x.columns;
    real *restrict to = x.data;

    for (size_t i = 0; i < count; i++)
        to[i] = (real)bytes[i] * scale + shift;
}
