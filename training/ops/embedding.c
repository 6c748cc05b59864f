/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Embedding of tokens and positions. Two rows of a batch may have the same
 * token, so gradients are added row by row, in the same order in every run. */
#include "training/ops/ops_cpu.h"

#include <string.h>

#include "base/compiler.h"

void cpu_clear(struct matrix x)
{
    memset(x.data, 0, x.rows * x.columns * sizeof(real));
}

void cpu_copy(struct matrix from, struct matrix to)
{
    memcpy(to.data, from.data, from.rows * from.columns * sizeof(real));
}

SIMD_CLONES void cpu_embedding(const uint16_t *tokens, struct matrix table,
                               struct matrix positions, struct matrix x)
{
    size_t width = x.columns;

    for (size_t row = 0; row < x.rows; row++) {
        const real *restrict token = table.data + tokens[row] * width;
        const real *restrict position =
            positions.data + row % positions.rows * width;
        real *restrict to = x.data + row * width;

        for (size_t i = 0; i < width; i++)
            to[i] = token[i] + position[i];
    }
}

static inline void add_to(real *restrict sum, const real *restrict x,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] += x[i];
}

SIMD_CLONES void cpu_embedding_grad(const uint16_t *tokens, struct matrix dx,
                                    struct matrix dtable,
                                    struct matrix dpositions)
{
    size_t width = dx.columns;

    cpu_clear(dpositions);
    for (size_t row = 0; row < dx.rows; row++) {
        const real *from = dx.data + row * width;

        add_to(dtable.data + tokens[row] * width, from, width);
        add_to(dpositions.data + row % dpositions.rows * width, from, width);
    }
}
