/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

/* The 2 x 2 numbers that an output comes from: a b above c d. */
struct window {
    size_t a, b, c, d;
};

/* Of output i, where there are `channels`; lines are counted over all images.
 */
static __device__ struct window window_of(size_t i, struct grid grid,
                                          size_t channels)
{
    const size_t width = grid.width / 2, height = grid.height / 2;
    const size_t channel = i % channels, column = i / channels % width;
    const size_t line = i / channels / width;
    const size_t above = line / height * grid.height + line % height * 2;
    struct window at;

    at.a = (above * grid.width + 2 * column) * channels + channel;
    at.b = at.a + channels;
    at.c = at.a + grid.width * channels;
    at.d = at.c + channels;
    return at;
}

/* A NaN is larger than any number. */
static __device__ float larger(float a, float b)
{
    return a > b || isnan(a) ? a : b;
}

static __global__ void pool(const float *x, struct grid grid, struct matrix y)
{
    const size_t count = y.rows * y.columns;

    for (size_t i = first_element(); i < count; i += element_stride()) {
        const struct window at = window_of(i, grid, y.columns);

        y.data[i] = larger(larger(x[at.a], x[at.b]), larger(x[at.c], x[at.d]));
    }
}

void cuda_pool(struct matrix x, struct grid grid, struct matrix y)
{
    launch(each_of("pool", y.rows * y.columns), pool, (const float *)x.data,
           grid, y);
}

/* Where several are as large, the first gets all. */
static __global__ void pool_grad(struct matrix dy, struct grid grid, float *x)
{
    const size_t count = dy.rows * dy.columns;

    for (size_t i = first_element(); i < count; i += element_stride()) {
        const struct window at = window_of(i, grid, dy.columns);
        const float a = x[at.a], b = x[at.b], c = x[at.c], d = x[at.d];
        const bool is_up = larger(a, b) >= larger(c, d);
        const float up = is_up ? dy.data[i] : 0;
        const float low = is_up ? 0 : dy.data[i];

        x[at.a] = a >= b ? up : 0;
        x[at.b] = a >= b ? 0 : up;
        x[at.c] = c >= d ? low : 0;
        x[at.d] = c >= d ? 0 : low;
    }
}

/* What no output comes from, the last line and column of an odd number. */
static __global__ void clear_rest(struct matrix x, struct grid grid)
{
    const size_t count = x.rows * x.columns;

    for (size_t i = first_element(); i < count; i += element_stride()) {
        const size_t pixel = i / x.columns;

        if (pixel % grid.width >= grid.width / 2 * 2 ||
            pixel / grid.width % grid.height >= grid.height / 2 * 2)
            x.data[i] = 0;
    }
}

void cuda_pool_grad(struct matrix dy, struct grid grid, struct matrix x)
{
    launch(each_of("pool_grad", dy.rows * dy.columns), pool_grad, dy, grid,
           x.data);
    if (grid.width % 2 == 1 || grid.height % 2 == 1)
        launch(each_of("pool_grad", x.rows * x.columns), clear_rest, x, grid);
}
