/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/columns.cuh"

#include "training/cuda/launch.cuh"

/*
 * Rows are cut into parts. A block adds up 32 columns of a part, each of its
 * warps every eighth row; then the parts are added up. Plain sums come first in
 * the scratch, weighted ones behind them.
 */

static constexpr size_t PARTS_MAX = 128, PART_ROWS_MIN = 64;

struct columns {
    const float *dy;
    const float *x, *stats; /* NULL: plain sums alone */
    size_t rows, columns, parts;
    float *plain, *weighted; /* [parts][columns] */
};

static __device__ void add_up(const float (*from)[WARP], float *to, size_t at)
{
    float sum = 0;

    for (int i = 0; i < WARPS; i++)
        sum += from[i][threadIdx.x];
    to[at] = sum;
}

static __global__ void sum_parts(struct columns it)
{
    __shared__ float plain[WARPS][WARP], weighted[WARPS][WARP];
    size_t column = (size_t)blockIdx.x * WARP + threadIdx.x;
    size_t begin = it.rows * blockIdx.y / it.parts;
    size_t end = it.rows * (blockIdx.y + 1) / it.parts;
    float sum = 0, product = 0;

    for (size_t row = begin + threadIdx.y; row < end && column < it.columns;
         row += WARPS) {
        float dy = it.dy[row * it.columns + column];

        sum += dy;
        if (it.x != NULL)
            product += dy *
                       (it.x[row * it.columns + column] - it.stats[2 * row]) *
                       it.stats[2 * row + 1];
    }
    plain[threadIdx.y][threadIdx.x] = sum;
    weighted[threadIdx.y][threadIdx.x] = product;
    __syncthreads();
    if (threadIdx.y > 0 || column >= it.columns)
        return;
    add_up(plain, it.plain, blockIdx.y * it.columns + column);
    if (it.x != NULL)
        add_up(weighted, it.weighted, blockIdx.y * it.columns + column);
}

static __global__ void join_parts(const float *__restrict__ parts, size_t count,
                                  size_t columns, float *__restrict__ sums)
{
    for (size_t column = first_element(); column < columns;
         column += element_stride()) {
        float sum = 0;

#pragma unroll 16
        for (size_t i = 0; i < count; i++)
            sum += parts[i * columns + column];
        sums[column] = sum;
    }
}

/* How many parts there are, of which each has `sums` rows of sums. */
static size_t parts_of(struct matrix x, size_t sums)
{
    size_t parts = (x.rows + PART_ROWS_MIN - 1) / PART_ROWS_MIN;
    size_t room = SCRATCH_NUMBERS / (sums * x.columns);

    parts = parts < PARTS_MAX ? parts : PARTS_MAX;
    return parts < room ? parts : room;
}

static void start(const char *operation, struct columns *it, size_t sums)
{
    const struct matrix shape = {NULL, it->rows, it->columns};

    it->parts = parts_of(shape, sums);
    it->plain = device_scratch();
    it->weighted = it->plain + it->parts * it->columns;
    if (it->parts == 0)
        device_fail(operation, "too many columns: %zu, more than %zu",
                    it->columns, SCRATCH_NUMBERS / 2);
    else
        launch({operation,
                dim3((unsigned)((it->columns + WARP - 1) / WARP),
                     (unsigned)it->parts),
                dim3(WARP, WARPS), 0},
               sum_parts, *it);
}

static void join(const char *operation, const struct columns *it,
                 const float *parts, struct matrix sums)
{
    launch(each_of(operation, it->columns), join_parts, parts, it->parts,
           it->columns, sums.data);
}

void sum_columns(const char *operation, struct matrix x, struct matrix sums)
{
    struct columns it = {};

    it.dy = x.data;
    it.rows = x.rows;
    it.columns = x.columns;
    start(operation, &it, 1);
    join(operation, &it, it.plain, sums);
}

void sum_norm_columns(const char *operation, const struct layernorm *norm,
                      struct matrix dy, const struct layernorm_grads *sums)
{
    struct columns it = {};

    it.dy = dy.data;
    it.x = norm->sum.data;
    it.stats = norm->stats.data;
    it.rows = dy.rows;
    it.columns = dy.columns;
    start(operation, &it, 2);
    join(operation, &it, it.plain, sums->bias);
    join(operation, &it, it.weighted, sums->gain);
}
