/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <initializer_list>

#include "training/cuda/columns.cuh"
#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

/*
 * A warp has a row, which it reads again from the cache: once for the mean,
 * once for the deviation, once for what comes of it. A row that is no longer
 * than its registers, and that can be read four numbers at a time, is read
 * once.
 */

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

static __device__ void keep_stats(const struct norm &it, size_t row, float mean,
                                  float inverse)
{
    if (threadIdx.x % WARP > 0)
        return;
    it.stats[2 * row] = mean;
    it.stats[2 * row + 1] = inverse;
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
    keep_stats(it, row, mean, inverse);
}

/* Fours of a row that a lane keeps, at most. */
static constexpr int ROW_FOURS = 8;
static constexpr size_t ROW_NUMBERS = (size_t)ROW_FOURS * WARP * 4;

struct lane_row {
    float4 fours[ROW_FOURS];
};

/* This lane's fours of a row; behind its end, zeroes. */
static __device__ struct lane_row read_row(const float *row, size_t columns)
{
    struct lane_row lane;

#pragma unroll
    for (int i = 0; i < ROW_FOURS; i++) {
        const size_t at = (threadIdx.x % WARP + (size_t)i * WARP) * 4;

        lane.fours[i] =
            at < columns ? *(const float4 *)(row + at) : float4{0, 0, 0, 0};
    }
    return lane;
}

static __device__ void write_row(const struct lane_row &lane, size_t columns,
                                 float *row)
{
#pragma unroll
    for (int i = 0; i < ROW_FOURS; i++) {
        const size_t at = (threadIdx.x % WARP + (size_t)i * WARP) * 4;

        if (at < columns)
            *(float4 *)(row + at) = lane.fours[i];
    }
}

/* Whether the lane's four number i is part of the row. */
static __device__ bool has_four(int i, size_t columns)
{
    return (threadIdx.x % WARP + (size_t)i * WARP) * 4 < columns;
}

static __device__ float sum_of(float4 x)
{
    return x.x + x.y + x.z + x.w;
}

static __device__ float4 operator+(float4 a, float4 b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

static __device__ float4 operator-(float4 a, float b)
{
    return {a.x - b, a.y - b, a.z - b, a.w - b};
}

static __device__ float4 operator*(float4 a, float4 b)
{
    return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}

static __device__ float4 operator*(float4 a, float b)
{
    return {a.x * b, a.y * b, a.z * b, a.w * b};
}

static __global__ void short_layernorm(struct norm it)
{
    const size_t row = warp_row(), at = row * it.columns;
    struct lane_row lane;
    float sum = 0, squares = 0, mean, inverse;

    if (row >= it.rows)
        return;
    lane = read_row((it.delta != NULL ? it.x : it.sum) + at, it.columns);
    if (it.delta != NULL) {
        const struct lane_row delta = read_row(it.delta + at, it.columns);

#pragma unroll
        for (int i = 0; i < ROW_FOURS; i++)
            lane.fours[i] = lane.fours[i] + delta.fours[i];
        write_row(lane, it.columns, it.sum + at);
    }
#pragma unroll
    for (int i = 0; i < ROW_FOURS; i++)
        sum += sum_of(lane.fours[i]);
    mean = warp_sum(sum) / (float)it.columns;
#pragma unroll
    for (int i = 0; i < ROW_FOURS; i++) {
        lane.fours[i] = lane.fours[i] - mean;
        if (has_four(i, it.columns))
            squares += sum_of(lane.fours[i] * lane.fours[i]);
    }
    inverse = 1 / sqrtf(warp_sum(squares) / (float)it.columns + 1e-5F);
    {
        const struct lane_row gain = read_row(it.gain, it.columns);
        const struct lane_row bias = read_row(it.bias, it.columns);

#pragma unroll
        for (int i = 0; i < ROW_FOURS; i++)
            lane.fours[i] =
                lane.fours[i] * inverse * gain.fours[i] + bias.fours[i];
    }
    write_row(lane, it.columns, it.y + at);
    keep_stats(it, row, mean, inverse);
}

static bool is_short(size_t columns, std::initializer_list<const float *> rows)
{
    uintptr_t addresses = 0;

    for (const float *row : rows)
        addresses |= (uintptr_t)row;
    return columns % 4 == 0 && columns <= ROW_NUMBERS &&
           addresses % sizeof(float4) == 0;
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

    launch(each_block("layernorm", (y.rows + WARPS - 1) / WARPS),
           is_short(y.columns, {it.x, it.delta, it.sum, it.y, it.gain, it.bias})
               ? short_layernorm
               : layernorm,
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

static __global__ void short_layernorm_grad(struct norm_grad it)
{
    const size_t row = warp_row(), at = row * it.columns;
    struct lane_row g, z, gain, dsum;
    float mean, inverse, mean_g = 0, mean_gz = 0;

    if (row >= it.rows)
        return;
    g = read_row(it.dy + at, it.columns);
    z = read_row(it.sum + at, it.columns);
    gain = read_row(it.gain, it.columns);
    mean = it.stats[2 * row];
    inverse = it.stats[2 * row + 1];
#pragma unroll
    for (int i = 0; i < ROW_FOURS; i++) {
        g.fours[i] = g.fours[i] * gain.fours[i];
        z.fours[i] = (z.fours[i] - mean) * inverse;
        mean_g += sum_of(g.fours[i]);
        mean_gz += sum_of(g.fours[i] * z.fours[i]);
    }
    dsum = read_row(it.dsum + at, it.columns);
    mean_g = warp_sum(mean_g) / (float)it.columns;
    mean_gz = warp_sum(mean_gz) / (float)it.columns;
#pragma unroll
    for (int i = 0; i < ROW_FOURS; i++)
        dsum.fours[i] = dsum.fours[i] +
                        (g.fours[i] - mean_g + z.fours[i] * -mean_gz) * inverse;
    write_row(dsum, it.columns, it.dsum + at);
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
           is_short(dy.columns, {it.sum, it.gain, it.dy, it.dsum})
               ? short_layernorm_grad
               : layernorm_grad,
           it);
}
