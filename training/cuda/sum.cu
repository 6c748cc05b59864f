/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

/* What gradients need before an update. */

static __global__ void add(const float *a, const float *b, float *sum,
                           size_t count)
{
    for (size_t i = first_element(); i < count; i += element_stride())
        sum[i] = a[i] + b[i];
}

void cuda_add(struct matrix a, struct matrix b, struct matrix sum)
{
    const size_t count = sum.rows * sum.columns;

    launch(each_of("add", count), add, (const float *)a.data,
           (const float *)b.data, sum.data, count);
}

/* A warp has a row. */
static __global__ void square_sums(struct matrix x, double *squares)
{
    const size_t row = (size_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    double sum = 0;

    if (row >= x.rows)
        return;
    for (size_t i = threadIdx.x % WARP; i < x.columns; i += WARP) {
        const double value = (double)x.data[row * x.columns + i];

        sum += value * value;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0)
        squares[row] = sum;
}

void cuda_square_sums(struct matrix x, double *squares)
{
    launch(each_block("square_sums", (x.rows + WARPS - 1) / WARPS), square_sums,
           x, squares);
}
