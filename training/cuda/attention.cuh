/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_ATTENTION_CUH
#define SMTUNE_TRAINING_CUDA_ATTENTION_CUH

#include "training/cuda/launch.cuh"

/*
 * What both ways of attention share. A block has some rows of one head of one
 * sequence, a few for each warp, and goes through the rows of the other side
 * tile by tile in shared memory, one for each lane. No matrix of scores is
 * kept anywhere.
 */

static constexpr int TILE = WARP;
static constexpr int HEAD_WARPS = 4, WARP_ROWS = 4;
static constexpr int BLOCK_ROWS = HEAD_WARPS * WARP_ROWS;
static constexpr int HEAD_WIDTH_MAX = 128;
static constexpr int LANE_COLUMNS = HEAD_WIDTH_MAX / WARP;

struct heads {
    const float *qkv, *y, *dy;
    float *to_y, *dqkv, *sums;
    size_t length, known, heads, width, sequences;
    float scale;
};

/* Where a block works, and this thread in it. */
struct seat {
    size_t first;    /* row of the sequence */
    size_t sequence; /* its first row */
    size_t head;
    unsigned warp, lane;
};

static __device__ inline struct seat take_seat(const struct heads &it)
{
    const size_t tiles = (it.length + BLOCK_ROWS - 1) / BLOCK_ROWS;
    struct seat seat;

    seat.first = blockIdx.x % tiles * BLOCK_ROWS;
    seat.head = blockIdx.x / tiles % it.heads;
    seat.sequence = blockIdx.x / tiles / it.heads * it.length;
    seat.warp = threadIdx.x / WARP;
    seat.lane = threadIdx.x % WARP;
    return seat;
}

/* Of a matrix of `thirds` x heads x width columns: where a row has its part. */
static __device__ inline size_t head_at(const struct heads &it,
                                        const struct seat &seat, size_t row,
                                        size_t thirds, size_t third)
{
    return ((seat.sequence + row) * thirds + third) * it.heads * it.width +
           seat.head * it.width;
}

/* Rows of a head to shared memory, `stride` apart; zeroes behind the
 * sequence's end. */
struct rows {
    const float *from;
    size_t thirds, third;
    size_t first, count, stride;
};

static __device__ inline void load_rows(const struct heads &it,
                                        const struct seat &seat,
                                        const struct rows &rows, float *to)
{
    for (size_t i = threadIdx.x; i < rows.count * it.width; i += blockDim.x) {
        const size_t row = rows.first + i / it.width, column = i % it.width;

        to[i / it.width * rows.stride + column] =
            row < it.length
                ? rows.from[head_at(it, seat, row, rows.thirds, rows.third) +
                            column]
                : 0;
    }
}

/* The next tile's keys and values, once no warp reads those before. */
static __device__ inline void load_tile(const struct heads &it,
                                        const struct seat &seat, size_t tile,
                                        float *keys, float *values)
{
    __syncthreads();
    load_rows(it, seat, {it.qkv, 3, 1, tile, TILE, it.width + 1}, keys);
    load_rows(it, seat, {it.qkv, 3, 2, tile, TILE, it.width + 1}, values);
    __syncthreads();
}

static __device__ inline float dot(const float *a, const float *b, size_t count)
{
    float sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* sum += the tile's rows, weighted by what each lane says for its own. */
static __device__ inline void add_rows(float weight, const float *tile,
                                       size_t width, float sum[LANE_COLUMNS])
{
    for (int row = 0; row < TILE; row++) {
        const float share = __shfl_sync(0xffffffffU, weight, row);

        for (int i = 0; i < LANE_COLUMNS; i++) {
            const size_t column = threadIdx.x % WARP + (size_t)i * WARP;

            if (column < width)
                sum[i] += share * tile[(size_t)row * (width + 1) + column];
        }
    }
}

static __device__ inline void store_row(const float sum[LANE_COLUMNS],
                                        float scale, size_t width, float *to)
{
    for (int i = 0; i < LANE_COLUMNS; i++) {
        const size_t column = threadIdx.x % WARP + (size_t)i * WARP;

        if (column < width)
            to[column] = sum[i] * scale;
    }
}

static __device__ inline float lane_dot(const float *a, const float *b,
                                        size_t width)
{
    float sum = 0;

    for (size_t i = threadIdx.x % WARP; i < width; i += WARP)
        sum += a[i] * b[i];
    return warp_sum(sum);
}

/* y dy of a query. */
static __device__ inline float product_of(const struct heads &it,
                                          const struct seat &seat, size_t query)
{
    const size_t at = head_at(it, seat, query, 1, 0);

    return lane_dot(it.y + at, it.dy + at, it.width);
}

static __device__ inline float sum_of(const struct heads &it,
                                      const struct seat &seat, size_t query)
{
    return it.sums[(seat.sequence + query) * it.heads + seat.head];
}

static inline struct heads heads_of(struct matrix qkv,
                                    const struct attention *how)
{
    struct heads it = {};

    it.qkv = qkv.data;
    it.sums = how->sums.data;
    it.length = how->length;
    it.known = how->known;
    it.heads = how->heads;
    it.width = qkv.columns / 3 / how->heads;
    it.sequences = qkv.rows / how->length;
    it.scale = 1 / sqrtf((float)it.width);
    return it;
}

static inline bool has_width(const char *operation, const struct heads &it)
{
    if (it.width > HEAD_WIDTH_MAX)
        device_fail(operation, "heads are too wide: %zu numbers, more than %d",
                    it.width, HEAD_WIDTH_MAX);
    return it.width <= HEAD_WIDTH_MAX;
}

/* `own` and `other` are how many arrays of a block's rows, and of a tile's, it
 * has in shared memory. */
static inline void launch_heads(const char *operation, const struct heads &it,
                                void (*kernel)(struct heads), size_t own,
                                size_t other)
{
    const size_t tiles = (it.length + BLOCK_ROWS - 1) / BLOCK_ROWS;
    const size_t numbers =
        own * BLOCK_ROWS * it.width + other * TILE * (it.width + 1) + 2 * TILE;

    if (has_width(operation, it))
        launch({operation, dim3((unsigned)(tiles * it.heads * it.sequences)),
                dim3(HEAD_WARPS * WARP), numbers * sizeof(float)},
               kernel, it);
}

#endif
