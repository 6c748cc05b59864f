/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_ATTENTION_BF16_CUH
#define SMTUNE_TRAINING_CUDA_ATTENTION_BF16_CUH

#include <mma.h>

#include "training/cuda/attention.cuh"
#include "training/cuda/operand.cuh"

/*
 * What both ways of attention on tensor cores share, for GPUs of compute
 * capability 8 and later. A warp has 16 rows of one side and goes through the
 * other side tile by tile. What is multiplied is bf16: q, k, v and dy, and the
 * probabilities and the scores' gradients that are worked out on the way; sums
 * and exponentials are float. Which numbers of a product a lane holds is not
 * told, so scores go through shared memory.
 */

namespace wmma = nvcuda::wmma;

static constexpr int SIDE = 16; /* of what a tensor core multiplies */
static constexpr int OWN_ROWS = HEAD_WARPS * SIDE;
/* Rows in shared memory lie so that a warp's reads meet few banks twice. */
static constexpr int SCORE_STRIDE = TILE + 4, SHARE_STRIDE = TILE + 8;
static constexpr int SCORES = SIDE * SCORE_STRIDE, SHARES = SIDE * SHARE_STRIDE;
template <int COLUMNS> static constexpr int STRIDE = COLUMNS + 8;

typedef wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, bf16, wmma::row_major>
    left_factor;
template <typename Layout>
using right_factor =
    wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, bf16, Layout>;
typedef wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> block;

/* Where a warp works. */
struct place {
    size_t first;            /* the block's first row of the sequence */
    struct seat own;         /* of this warp's own rows */
    float *scores, *grads;   /* [SIDE][SCORE_STRIDE]: this warp's own */
    bf16 *shares, *ds;       /* [SIDE][SHARE_STRIDE]: likewise */
    bf16 *mine[2], *tile[2]; /* [OWN_ROWS] and [TILE][STRIDE]: all warps' */
    float *numbers[2];       /* [TILE] */
};

template <int COLUMNS>
static constexpr size_t SHARED_BYTES =
    (2 * OWN_ROWS + 2 * TILE) * STRIDE<COLUMNS> * sizeof(bf16) +
    HEAD_WARPS * 2 * (SCORES * sizeof(float) + SHARES * sizeof(bf16)) +
    2 * TILE * sizeof(float);

template <int COLUMNS>
static __device__ inline struct place take_place(const struct heads &it,
                                                 float *shared)
{
    const size_t blocks = (it.length + OWN_ROWS - 1) / OWN_ROWS;
    struct place at = {};
    bf16 *panels;

    at.first = blockIdx.x % blocks * OWN_ROWS;
    at.own.head = blockIdx.x / blocks % it.heads;
    at.own.sequence = blockIdx.x / blocks / it.heads * it.length;
    at.own.warp = threadIdx.x / WARP;
    at.own.lane = threadIdx.x % WARP;
    at.own.first = at.first + at.own.warp * SIDE;
    at.scores = shared + at.own.warp * 2 * SCORES;
    at.grads = at.scores + SCORES;
    at.numbers[0] = shared + HEAD_WARPS * 2 * SCORES;
    at.numbers[1] = at.numbers[0] + TILE;
    panels = (bf16 *)(at.numbers[1] + TILE);
    at.shares = panels + at.own.warp * 2 * SHARES;
    at.ds = at.shares + SHARES;
    panels += HEAD_WARPS * 2 * SHARES;
    for (int i = 0; i < 2; i++) {
        at.mine[i] = panels + i * OWN_ROWS * STRIDE<COLUMNS>;
        at.tile[i] = panels + (2 * OWN_ROWS + i * TILE) * STRIDE<COLUMNS>;
    }
    return at;
}

/* Rows of a head, with zeroes behind its width and the sequence's end. */
template <int COLUMNS>
static __device__ inline void load_panel(const struct heads &it,
                                         const struct seat &seat,
                                         const struct rows &rows, bf16 *to)
{
    for (int i = (int)threadIdx.x; i < (int)rows.count * COLUMNS;
         i += (int)blockDim.x) {
        const size_t row = rows.first + i / COLUMNS, column = i % COLUMNS;
        const bool is_there = row < it.length && column < it.width;

        to[i / COLUMNS * rows.stride + i % COLUMNS] = __float2bfloat16_rn(
            is_there
                ? rows.from[head_at(it, seat, row, rows.thirds, rows.third) +
                            column]
                : 0);
    }
}

/* to [SIDE][TILE] = a bT; a [SIDE][COLUMNS], b [TILE][COLUMNS]. */
template <int COLUMNS>
static __device__ inline void multiply_rows(const bf16 *a, const bf16 *b,
                                            float *to)
{
    for (int row = 0; row < TILE; row += SIDE) {
        block sum;

        wmma::fill_fragment(sum, 0);
        for (int i = 0; i < COLUMNS; i += SIDE) {
            left_factor left;
            right_factor<wmma::col_major> right;

            wmma::load_matrix_sync(left, a + i, STRIDE<COLUMNS>);
            wmma::load_matrix_sync(right, b + row * STRIDE<COLUMNS> + i,
                                   STRIDE<COLUMNS>);
            wmma::mma_sync(sum, left, right, sum);
        }
        wmma::store_matrix_sync(to + row, sum, SCORE_STRIDE,
                                wmma::mem_row_major);
    }
    __syncwarp();
}

/* sums [SIDE][COLUMNS] += a b; a [SIDE][TILE], b [TILE][COLUMNS]. */
template <int COLUMNS>
static __device__ inline void add_product(const bf16 *a, const bf16 *b,
                                          block (&sums)[COLUMNS / SIDE])
{
    for (int row = 0; row < TILE; row += SIDE) {
        left_factor left;

        wmma::load_matrix_sync(left, a + row, SHARE_STRIDE);
#pragma unroll
        for (int i = 0; i < COLUMNS / SIDE; i++) {
            right_factor<wmma::row_major> right;

            wmma::load_matrix_sync(right, b + row * STRIDE<COLUMNS> + i * SIDE,
                                   STRIDE<COLUMNS>);
            wmma::mma_sync(sums[i], left, right, sums[i]);
        }
    }
    __syncwarp();
}

template <int COLUMNS>
static __device__ inline void clear_sums(block (&sums)[COLUMNS / SIDE])
{
#pragma unroll
    for (int i = 0; i < COLUMNS / SIDE; i++)
        wmma::fill_fragment(sums[i], 0);
}

/* This warp's rows from `known` on, to a third of rows of so many. */
template <int COLUMNS>
static __device__ inline void store_sums(const struct heads &it,
                                         const struct place &at,
                                         block (&sums)[COLUMNS / SIDE],
                                         float *to, size_t thirds, size_t third)
{
#pragma unroll
    for (int i = 0; i < COLUMNS / SIDE; i++) {
        wmma::store_matrix_sync(at.scores, sums[i], SCORE_STRIDE,
                                wmma::mem_row_major);
        __syncwarp();
        for (int j = (int)at.own.lane; j < SIDE * SIDE; j += WARP) {
            const size_t row = at.own.first + j / SIDE;
            const size_t column = i * SIDE + j % SIDE;

            if (row >= it.known && row < it.length && column < it.width)
                to[head_at(it, at.own, row, thirds, third) + column] =
                    at.scores[j / SIDE * SCORE_STRIDE + j % SIDE];
        }
        __syncwarp();
    }
}

/* A lane has every other number of one of the warp's rows: number i of that
 * row's TILE. */
static __device__ inline int lane_row(const struct place &at)
{
    return (int)at.own.lane / 2;
}

static __device__ inline int lane_column(const struct place &at, int i)
{
    return 2 * i + (int)at.own.lane % 2;
}

static constexpr int LANE_NUMBERS = TILE / 2;

static __device__ inline int score_at(const struct place &at, int i)
{
    return lane_row(at) * SCORE_STRIDE + lane_column(at, i);
}

static __device__ inline int share_at(const struct place &at, int i)
{
    return lane_row(at) * SHARE_STRIDE + lane_column(at, i);
}

/* The warp's part of what the block has of its own side. */
template <int COLUMNS>
static __device__ inline const bf16 *own_rows(const struct place &at, int which)
{
    return at.mine[which] + at.own.warp * SIDE * STRIDE<COLUMNS>;
}

/* The next tile's keys and values, once no warp reads those before. */
template <int COLUMNS>
static __device__ inline void load_keys(const struct heads &it,
                                        const struct place &at, size_t tile)
{
    __syncthreads();
    for (int i = 0; i < 2; i++)
        load_panel<COLUMNS>(
            it, at.own, {it.qkv, 3, (size_t)i + 1, tile, TILE, STRIDE<COLUMNS>},
            at.tile[i]);
    __syncthreads();
}

static constexpr int WIDE = HEAD_WIDTH_MAX, NARROW = WIDE / 2;

static inline void launch_by_width(const char *operation,
                                   const struct heads &it,
                                   void (*narrow)(struct heads),
                                   void (*wide)(struct heads))
{
    const size_t blocks = (it.length + OWN_ROWS - 1) / OWN_ROWS;
    const bool is_narrow = it.width <= NARROW;

    if (has_width(operation, it))
        launch({operation, dim3((unsigned)(blocks * it.heads * it.sequences)),
                dim3(HEAD_WARPS * WARP),
                is_narrow ? SHARED_BYTES<NARROW> : SHARED_BYTES<WIDE>},
               is_narrow ? narrow : wide, it);
}

#endif
