/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/columns.cuh"
#include "training/cuda/gemm.cuh"
#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

/* As op_conv.c: the patches under the window are written out for some lines of
 * pixels at a time and multiplied. Lines are counted over all images. */

enum { SIDE = CONV_SIDE, TAPS = CONV_SIDE * CONV_SIDE };

/* Some lines that follow each other, and their patches. */
struct chunk {
    struct grid grid;
    size_t line, lines;
    struct matrix patches;
};

/* One number a thread: patches[pixel][SIDE][SIDE][channels]. */
static __global__ void take_patches(struct chunk chunk, struct matrix x)
{
    const size_t count = chunk.patches.rows * chunk.patches.columns;
    const struct grid grid = chunk.grid;

    for (size_t i = first_element(); i < count; i += element_stride()) {
        const size_t channel = i % x.columns, tap = i / x.columns % TAPS;
        const size_t pixel = i / chunk.patches.columns;
        const size_t line = chunk.line + pixel / grid.width;
        /* One more than where it is, so that none is below 0. */
        const size_t down = line % grid.height + tap / SIDE;
        const size_t right = pixel % grid.width + tap % SIDE;
        float value = 0;

        if (down >= 1 && down <= grid.height && right >= 1 &&
            right <= grid.width)
            value = x.data[((line + tap / SIDE - 1) * grid.width + right - 1) *
                               x.columns +
                           channel];
        chunk.patches.data[i] = value;
    }
}

/* What patches of the chunk's pixels have of the one at `line` and `column`. */
static __device__ float patch_sum(const struct chunk &chunk, size_t line,
                                  size_t column, size_t place, size_t channels)
{
    const struct grid grid = chunk.grid;
    float sum = 0;

    for (size_t tap = 0; tap < TAPS; tap++) {
        const size_t from = line + 1 - tap / SIDE; /* its window's middle */
        const size_t across = column + 1 - tap % SIDE;

        if (from / grid.height == line / grid.height && from >= chunk.line &&
            from < chunk.line + chunk.lines && across < grid.width)
            sum +=
                chunk.patches.data[((from - chunk.line) * grid.width + across) *
                                       chunk.patches.columns +
                                   tap * channels + place];
    }
    return sum;
}

/* The other way round, for the pixels from line `first` to `end`. */
static __global__ void give_patches(struct chunk chunk, size_t first,
                                    size_t end, struct matrix x)
{
    const size_t row = chunk.grid.width * x.columns;

    for (size_t i = first * row + first_element(); i < end * row;
         i += element_stride())
        x.data[i] += patch_sum(chunk, i / row, i / x.columns % chunk.grid.width,
                               i % x.columns, x.columns);
}

/* The chunk after this one, of what has so many lines; false: there is none. */
static bool next_chunk(struct chunk *chunk, const struct conv_space *space,
                       size_t lines)
{
    size_t most = space->patches.rows / space->grid.width;

    chunk->grid = space->grid;
    chunk->line += chunk->lines;
    if (chunk->line == lines)
        return false;
    chunk->lines = lines - chunk->line < most ? lines - chunk->line : most;
    chunk->patches =
        matrix_rows(space->patches, chunk->lines * space->grid.width);
    return true;
}

/* The pixels of a chunk. */
static struct matrix pixels(struct matrix x, const struct chunk *chunk)
{
    x.data += chunk->line * chunk->grid.width * x.columns;
    x.rows = chunk->patches.rows;
    return x;
}

static void take(const char *operation, const struct chunk *chunk,
                 struct matrix x)
{
    launch(each_of(operation, chunk->patches.rows * chunk->patches.columns),
           take_patches, *chunk, x);
}

void cuda_conv(struct matrix x, struct matrix w, struct matrix bias,
               const struct conv_space *space, struct matrix y)
{
    struct chunk chunk = {};

    while (next_chunk(&chunk, space, x.rows / space->grid.width)) {
        take("conv", &chunk, x);
        cuda_linear(chunk.patches, w, bias, pixels(y, &chunk));
    }
}

void cuda_conv_grad_params(struct matrix x, struct matrix dy,
                           const struct conv_space *space, struct matrix dw,
                           struct matrix dbias)
{
    const char *operation = "conv_grad_params";
    struct chunk chunk = {};

    sum_columns(operation, dy, dbias);
    while (next_chunk(&chunk, space, x.rows / space->grid.width)) {
        const struct gemm product = {.operation = operation,
                                     .a = pixels(dy, &chunk),
                                     .b = chunk.patches,
                                     .d = dw,
                                     .transposes_a = true,
                                     .transposes_b = false,
                                     .adds = chunk.line > 0,
                                     .end = GEMM_PLAIN,
                                     .bias = NULL};

        take(operation, &chunk, x);
        gemm(&product);
    }
}

void cuda_conv_grad_input(struct matrix dy, struct matrix w,
                          const struct conv_space *space, struct matrix dx)
{
    const size_t lines = dy.rows / space->grid.width;
    struct chunk chunk = {};

    cuda_clear(dx);
    while (next_chunk(&chunk, space, lines)) {
        size_t first = chunk.line > 0 ? chunk.line - 1 : 0;
        size_t end = chunk.line + chunk.lines;

        end = end < lines ? end + 1 : end;
        cuda_linear_grad_input(pixels(dy, &chunk), w, chunk.patches);
        launch(each_of("conv_grad_input",
                       (end - first) * space->grid.width * dx.columns),
               give_patches, chunk, first, end, dx);
    }
}
