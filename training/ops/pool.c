/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/ops_cpu.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"

/* A NaN is larger than any number. Two choices, as compilers have a vector
 * instruction for each; of one with an `or` in it gcc makes jumps. */
static inline real larger(real a, real b)
{
    real most = a > b ? a : b;

    return isnan(a) ? a : most;
}

/* One line of outputs, from two of inputs. */
SIMD_CLONES static void pool_line(const real *restrict upper,
                                  const real *restrict lower, size_t width,
                                  size_t channels, real *restrict y)
{
    for (size_t x = 0; x < width; x++) {
        const real *restrict a = upper + 2 * x * channels;
        const real *restrict b = lower + 2 * x * channels;

        for (size_t i = 0; i < channels; i++)
            y[x * channels + i] = larger(larger(a[i], a[channels + i]),
                                         larger(b[i], b[channels + i]));
    }
}

/* Where several are as large, the first gets all. */
SIMD_CLONES static void pool_grad_line(const real *restrict dy, size_t width,
                                       size_t channels, real *restrict upper,
                                       real *restrict lower)
{
    for (size_t x = 0; x < width; x++) {
        const real *restrict from = dy + x * channels;
        real *restrict a = upper + 2 * x * channels;
        real *restrict b = a + channels;
        real *restrict c = lower + 2 * x * channels;
        real *restrict d = c + channels;

        for (size_t i = 0; i < channels; i++) {
            real up = larger(a[i], b[i]), low = larger(c[i], d[i]);
            real g_up = up >= low ? from[i] : 0;
            real g_low = up >= low ? 0 : from[i];
            real left = a[i] >= b[i] ? g_up : 0;
            real low_left = c[i] >= d[i] ? g_low : 0;

            b[i] = a[i] >= b[i] ? 0 : g_up;
            d[i] = c[i] >= d[i] ? 0 : g_low;
            a[i] = left;
            c[i] = low_left;
        }
    }
}

/* The two lines of inputs that a line of outputs comes from begin there; lines
 * are counted over all images. */
static real *inputs_of(struct matrix x, struct grid grid, size_t line)
{
    size_t height = grid.height / 2;

    return x.data + (line / height * grid.height + line % height * 2) *
                        grid.width * x.columns;
}

void cpu_pool(struct matrix x, struct grid grid, struct matrix y)
{
    size_t width = grid.width / 2, lines = y.rows / width;

    for (size_t i = 0; i < lines; i++) {
        const real *upper = inputs_of(x, grid, i);

        pool_line(upper, upper + grid.width * x.columns, width, x.columns,
                  y.data + i * width * x.columns);
    }
}

/* What no output comes from, the last line and column of an odd number. */
static void clear_rest(struct matrix x, struct grid grid)
{
    size_t line = grid.width * x.columns, lines = x.rows / grid.width;

    for (size_t i = 0; i < lines; i++) {
        real *from = x.data + i * line;

        if (grid.height % 2 == 1 && i % grid.height == grid.height - 1)
            memset(from, 0, line * sizeof(real));
        else if (grid.width % 2 == 1)
            memset(from + line - x.columns, 0, x.columns * sizeof(real));
    }
}

void cpu_pool_grad(struct matrix dy, struct grid grid, struct matrix x)
{
    size_t width = grid.width / 2, lines = dy.rows / width;

    for (size_t i = 0; i < lines; i++) {
        real *upper = inputs_of(x, grid, i);

        pool_grad_line(dy.data + i * width * x.columns, width, x.columns, upper,
                       upper + grid.width * x.columns);
    }
    clear_rest(x, grid);
}
