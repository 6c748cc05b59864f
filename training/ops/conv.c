/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/ops_cpu.h"

#include <string.h>

#include "base/compiler.h"
#include "training/ops/conv_chunk.h"

/*
 * Each convolution is a matrix product with the patches under its window, which
 * are written out for a few lines of pixels at a time, so that they stay in the
 * cache (Chellapilla, Puri and Simard, IWFHR 2006). Lines are counted over all
 * images.
 */

enum { SIDE = CONV_SIDE, TAPS = CONV_SIDE * CONV_SIDE };

/* The line of pixels that is `offset` - 1 below `line` in its image, or NULL
 * where that is outside. */
static real *line_at(struct matrix x, const struct conv_space *space,
                     size_t line, size_t offset)
{
    size_t y = line % space->grid.height + offset;

    if (y < 1 || y > space->grid.height)
        return NULL;
    return x.data + (line + offset - 1) * space->grid.width * x.columns;
}

/* The patches of pixels that have neighbours on both sides. */
static inline void take_inner(const real *restrict from, size_t count,
                              size_t channels, real *restrict patches)
{
    for (size_t x = 0; x < count; x++)
        memcpy(patches + x * TAPS * channels, from + x * channels,
               SIDE * channels * sizeof(real));
}

/* patches[width][SIDE][SIDE][channels], of which this is [..][0][..][..]. */
static void take_line(const real *restrict from, size_t width, size_t channels,
                      real *restrict patches)
{
    const size_t bytes = channels * sizeof(real), step = TAPS * channels;
    real *last = patches + (width - 1) * step;

    memset(patches, 0, bytes);
    memset(last + 2 * channels, 0, bytes);
    if (width == 1) {
        memcpy(patches + channels, from, bytes);
        return;
    }
    memcpy(patches + channels, from, 2 * bytes);
    memcpy(last, from + (width - 2) * channels, 2 * bytes);
    if (channels == 1) /* then a few bytes, without a call */
        take_inner(from, width - 2, 1, patches + step);
    else
        take_inner(from, width - 2, channels, patches + step);
}

SIMD_CLONES static void clear_line(size_t width, size_t channels,
                                   real *restrict patches)
{
    const size_t run = SIDE * channels, step = TAPS * channels;

    for (size_t x = 0; x < width; x++)
        for (size_t i = 0; i < run; i++)
            patches[x * step + i] = 0;
}

/* The other way round: adds each element to the pixel that it came from. */
SIMD_CLONES static void give_line(const real *restrict patches, size_t width,
                                  size_t channels, real *restrict to)
{
    const size_t run = SIDE * channels, step = TAPS * channels;

    for (size_t x = 0; x < width; x++) {
        size_t begin = x == 0 ? channels : 0;
        size_t end = x + 1 == width ? run - channels : run;

        for (size_t i = begin; i < end; i++)
            to[x * channels + i - channels] += patches[x * step + i];
    }
}

static real *patches_of(const struct conv_chunk *chunk, size_t i, size_t offset)
{
    const struct matrix *patches = &chunk->patches;
    size_t width = patches->rows / chunk->lines;

    return patches->data + i * width * patches->columns +
           offset * (patches->columns / SIDE);
}

static void take_patches(const struct conv_chunk *chunk,
                         const struct conv_space *space, struct matrix x)
{
    for (size_t i = 0; i < chunk->lines; i++)
        for (size_t offset = 0; offset < SIDE; offset++) {
            const real *from = line_at(x, space, chunk->line + i, offset);
            real *to = patches_of(chunk, i, offset);

            if (from != NULL)
                take_line(from, space->grid.width, x.columns, to);
            else
                clear_line(space->grid.width, x.columns, to);
        }
}

static void give_patches(const struct conv_chunk *chunk,
                         const struct conv_space *space, struct matrix x)
{
    for (size_t i = 0; i < chunk->lines; i++)
        for (size_t offset = 0; offset < SIDE; offset++) {
            real *to = line_at(x, space, chunk->line + i, offset);

            if (to != NULL)
                give_line(patches_of(chunk, i, offset), space->grid.width,
                          x.columns, to);
        }
}

void cpu_conv(struct matrix x, struct matrix w, struct matrix bias,
              const struct conv_space *space, struct matrix y)
{
    struct conv_chunk chunk = {0};

    while (conv_chunk_next(&chunk, space, x)) {
        take_patches(&chunk, space, x);
        cpu_linear(chunk.patches, w, bias, conv_chunk_pixels(&chunk, y));
    }
}

SIMD_CLONES static void add_rows(struct matrix x, real *restrict sum)
{
    for (size_t row = 0; row < x.rows; row++) {
        const real *restrict from = x.data + row * x.columns;

        for (size_t i = 0; i < x.columns; i++)
            sum[i] += from[i];
    }
}

void cpu_conv_grad_params(struct matrix x, struct matrix dy,
                          const struct conv_space *space, struct matrix dw,
                          struct matrix dbias)
{
    struct conv_chunk chunk = {0};

    memset(dbias.data, 0, dbias.columns * sizeof(real));
    while (conv_chunk_next(&chunk, space, x)) {
        const struct matrix *patches = &chunk.patches;
        struct matrix part = conv_chunk_pixels(&chunk, dy);

        take_patches(&chunk, space, x);
        real_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)dw.rows,
                  (int)dw.columns, (int)part.rows, 1, part.data,
                  (int)part.columns, patches->data, (int)patches->columns,
                  chunk.line > 0, dw.data, (int)dw.columns);
        add_rows(part, dbias.data);
    }
}

void cpu_conv_grad_input(struct matrix dy, struct matrix w,
                         const struct conv_space *space, struct matrix dx)
{
    struct conv_chunk chunk = {0};

    memset(dx.data, 0, dx.rows * dx.columns * sizeof(real));
    while (conv_chunk_next(&chunk, space, dy)) {
        cpu_linear_grad_input(conv_chunk_pixels(&chunk, dy), w, chunk.patches);
        give_patches(&chunk, space, dx);
    }
}
