/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/columns.cuh"
#include "training/cuda/gemm.cuh"
#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

extern "C" {
#include "training/ops/conv_chunk.h"
}

/* As conv.c: the patches under the window are written out for some lines of
 * pixels at a time and multiplied. Lines are counted over all images. */

enum { SIDE = CONV_SIDE, TAPS = CONV_SIDE * CONV_SIDE };

/* One number a thread: patches[pixel][SIDE][SIDE][channels], in rows `stride`
 * apart. */
template <typename Number>
static __global__ void take_patches(struct conv_chunk chunk, struct matrix x,
                                    Number *patches, size_t stride)
{
    const size_t count = chunk.patches.rows * chunk.patches.columns;
    const struct grid grid = chunk.grid;

    for (size_t i = first_element(); i < count; i += element_stride()) {
        const size_t channel = i % x.columns, tap = i / x.columns % TAPS;
        const size_t pixel = i / chunk.patches.columns;
        const size_t place = i % chunk.patches.columns;
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
        patches[pixel * stride + place] = (Number)value;
    }
}

/* What patches of the chunk's pixels have of the one at `line` and `column`. */
static __device__ float patch_sum(const struct conv_chunk &chunk, size_t line,
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
static __global__ void give_patches(struct conv_chunk chunk, size_t first,
                                    size_t end, struct matrix x)
{
    const size_t row = chunk.grid.width * x.columns;

    for (size_t i = first * row + first_element(); i < end * row;
         i += element_stride())
        x.data[i] += patch_sum(chunk, i / row, i / x.columns % chunk.grid.width,
                               i % x.columns, x.columns);
}

/* As a product multiplies them: bf16 needs no more room than float. */
template <typename Number>
static struct operand take(const char *operation,
                           const struct conv_chunk *chunk, struct matrix x)
{
    struct operand taken = operand_of(chunk->patches);

    taken.type = type_of<Number>;
    if (taken.type == CUDA_R_16BF)
        taken.stride = bf16_stride(taken.columns);
    launch(each_of(operation, taken.rows * taken.columns), take_patches<Number>,
           *chunk, x, (Number *)chunk->patches.data, taken.stride);
    return taken;
}

template <typename Number>
void cuda_conv(struct matrix x, struct matrix w, struct matrix bias,
               const struct conv_space *space, struct matrix y)
{
    struct conv_chunk chunk = {};

    while (conv_chunk_next(&chunk, space, x)) {
        const struct gemm product = {.operation = "conv",
                                     .type = type_of<Number>,
                                     .a = take<Number>("conv", &chunk, x),
                                     .b = operand_of(w),
                                     .d = conv_chunk_pixels(&chunk, y),
                                     .transposes_a = false,
                                     .transposes_b = true,
                                     .adds = false,
                                     .end = GEMM_ADD_BIAS,
                                     .bias = bias.data};

        gemm(&product);
    }
}

template <typename Number>
void cuda_conv_grad_params(struct matrix x, struct matrix dy,
                           const struct conv_space *space, struct matrix dw,
                           struct matrix dbias)
{
    const char *operation = "conv_grad_params";
    struct conv_chunk chunk = {};

    sum_columns(operation, dy, dbias);
    while (conv_chunk_next(&chunk, space, x)) {
        const struct operand patches = take<Number>(operation, &chunk, x);
        const struct gemm product = {
            .operation = operation,
            .type = type_of<Number>,
            .a = operand_of(conv_chunk_pixels(&chunk, dy)),
            .b = patches,
            .d = dw,
            .transposes_a = true,
            .transposes_b = false,
            .adds = chunk.line > 0,
            .end = GEMM_PLAIN,
            .bias = NULL};

        gemm(&product);
    }
}

template <typename Number>
void cuda_conv_grad_input(struct matrix dy, struct matrix w,
                          const struct conv_space *space, struct matrix dx)
{
    const size_t lines = dy.rows / space->grid.width;
    struct conv_chunk chunk = {};

    cuda_clear(dx);
    while (conv_chunk_next(&chunk, space, dy)) {
        size_t first = chunk.line > 0 ? chunk.line - 1 : 0;
        size_t end = chunk.line + chunk.lines;

        end = end < lines ? end + 1 : end;
        cuda_linear_grad_input<Number>(conv_chunk_pixels(&chunk, dy), w,
                                       chunk.patches);
        launch(each_of("conv_grad_input",
                       (end - first) * space->grid.width * dx.columns),
               give_patches, chunk, first, end, dx);
    }
}

template decltype(cuda_conv<float>) cuda_conv<float>;
template decltype(cuda_conv<bf16>) cuda_conv<bf16>;
template decltype(cuda_conv_grad_params<float>) cuda_conv_grad_params<float>;
template decltype(cuda_conv_grad_params<bf16>) cuda_conv_grad_params<bf16>;
template decltype(cuda_conv_grad_input<float>) cuda_conv_grad_input<float>;
template decltype(cuda_conv_grad_input<bf16>) cuda_conv_grad_input<bf16>;
