/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/columns.cuh"
#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

/* A warp has a row, which it reads again from the cache: once for the mean,
 * once for the deviation, once for what comes of it. */

struct norm {
    const float *x, *delta, *gain, *bias;
    float *sum, *stats, *y;
    size_t rows, columns;
};

static __device__ size_t warp_row(void)
{
    return (size_t)blockIdx.x * WARPS + threadIdx.x / WARP;
}

static __device__ float mean_of_sum(const struct norm &it, size_t at)
{
    float sum = 0;

    for (size_t i = threadIdx.x % WARP; i < it.columns; i += WARP) {
        if (it.delta != NULL)
            it.sum[at + i] = it.x[at + i] + it.delta[at + i];
        sum += it.sum[at + i];
    }
    return warp_sum(sum) / (float)it.columns;
}

static __global__ void layernorm(struct norm it)
{
    const size_t row = warp_row(), at = row * it.columns;
    float mean, inverse, squares = 0;

    if (row >= it.rows)
        return;
    mean = mean_of_sum(it, at);
    for (size_t i = threadIdx.x % WARP; i < it.columns; i += WARP)
        squares += (it.sum[at + i] - mean) * (it.sum[at + i] - mean);
    inverse = 1 / sqrtf(warp_sum(squares) / (float)it.columns + 1e-5F);
    for (size_t i = threadIdx.x % WARP; i < it.columns; i += WARP)
        it.y[at + i] =
            (it.sum[at + i] - mean) * inverse * it.gain[i] + it.bias[i];
    if (threadIdx.x % WARP == 0) {
        it.stats[2 * row] = mean;
        it.stats[2 * row + 1] = inverse;
    }
}

void cuda_layernorm(struct matrix x, struct matrix delta,
                    const struct layernorm *norm, struct matrix y)
{
    const struct norm it = {.x = x.data,
                            .delta = delta.data,
                            .gain = norm->gain.data,
                            .bias = norm->bias.data,
                            .sum = norm->sum.data,
                            .stats = norm->stats.data,
                            .y = y.data,
                            .rows = y.rows,
                            .columns = y.columns};

    launch(each_block("layernorm", (y.rows + WARPS - 1) / WARPS), layernorm,
           it);
}

struct norm_grad {
    const float *sum, *stats, *gain, *dy;
    float *dsum;
    size_t rows, columns;
};

/* As layernorm.c: (g - mean(g) - z mean(g z)) / deviation with z the
 * normalized row and g = gain dy. */
static __global__ void layernorm_grad(struct norm_grad it)
{
    const size_t row = warp_row(), at = row * it.columns;
    float mean, inverse, mean_g = 0, mean_gz = 0;

    if (row >= it.rows)
        return;
    mean = it.stats[2 * row];
    inverse = it.stats[2 * row + 1];
    for (size_t i = threadIdx.x % WARP; i < it.columns; i += WARP) {
        float g = it.dy[at + i] * it.gain[i];

        mean_g += g;
        mean_gz += g * (it.sum[at + i] - mean) * inverse;
    }
    mean_g = warp_sum(mean_g) / (float)it.columns;
    mean_gz = warp_sum(mean_gz) / (float)it.columns;
    for (size_t i = threadIdx.x % WARP; i < it.columns; i += WARP) {
        float g = it.dy[at + i] * it.gain[i];
        float z = (it.sum[at + i] - mean) * inverse;

        it.dsum[at + i] += (g - mean_g - z * mean_gz) * inverse;
    }
}

void cuda_layernorm_grad(const struct layernorm *norm, struct matrix dy,
                         const struct layernorm_grads *grads,
                         struct matrix dsum)
{
    const struct norm_grad it = {.sum = norm->sum.data,
                                 .stats = norm->stats.data,
                                 .gain = norm->gain.data,
                                 .dy = dy.data,
                                 .dsum = dsum.data,
                                 .rows = dy.rows,
                                 .columns = dy.columns};

    sum_norm_columns("layernorm_grad", norm, dy, grads);
    launch(each_block("layernorm_grad", (dy.rows + WARPS - 1) / WARPS),
           layernorm_grad, it);
}
