/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/ops_cpu.h"

#include "base/compiler.h"

/* What gradients need before an update. */

SIMD_CLONES void cpu_add(struct matrix a, struct matrix b, struct matrix sum)
{
    for (size_t i = 0; i < sum.rows * sum.columns; i++)
        sum.data[i] = a.data[i] + b.data[i];
}

enum { LANES = 8 };

SIMD_CLONES static double square_sum(const real *numbers, size_t count)
{
    double lanes[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] +=
                (double)numbers[i + lane] * (double)numbers[i + lane];
    for (; i < count; i++)
        lanes[0] += (double)numbers[i] * (double)numbers[i];
    for (size_t lane = 0; lane < LANES; lane++)
        sum += lanes[lane];
    return sum;
}

void cpu_square_sums(struct matrix x, double *squares)
{
    for (size_t row = 0; row < x.rows; row++)
        squares[row] = square_sum(x.data + row * x.columns, x.columns);
}
