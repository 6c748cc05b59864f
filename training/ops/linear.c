/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Linear layers: y = x w' + bias and the two gradients, by BLAS. Weights are
 * stored with an output a row, so that the forward pass reads both matrices
 * along their rows.
 */
#include "training/ops/ops_cpu.h"

#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"

void cpu_linear(struct matrix x, struct matrix w, struct matrix bias,
                struct matrix y)
{
    const bool has_bias = bias.data != NULL;

    for (size_t row = 0; has_bias && row < y.rows; row++)
        memcpy(y.data + row * y.columns, bias.data, y.columns * sizeof(real));
    real_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)y.rows,
              (int)y.columns, (int)x.columns, 1, x.data, (int)x.columns, w.data,
              (int)w.columns, has_bias ? 1 : 0, y.data, (int)y.columns);
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

void cpu_linear_grad_input(struct matrix dy, struct matrix w, struct matrix dx)
{
    real_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)dx.rows,
              (int)dx.columns, (int)dy.columns, 1, dy.data, (int)dy.columns,
              w.data, (int)w.columns, 0, dx.data, (int)dx.columns);
}

void cpu_linear_grads(const struct linear_pass *pass)
{
    const struct matrix x = pass->x, dy = pass->dy, dw = pass->dw;

    real_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)dw.rows,
              (int)dw.columns, (int)x.rows, 1, dy.data, (int)dy.columns, x.data,
              (int)x.columns, 0, dw.data, (int)dw.columns);
    if (pass->dbias.data != NULL)
        sum_rows(dy, pass->dbias.data);
    if (pass->dx.data != NULL)
        cpu_linear_grad_input(dy, pass->w, pass->dx);
}
