/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/attention.cuh"
#include "training/cuda/ops_cuda.cuh"

/*
 * Dao et al., "FlashAttention", NeurIPS 2022, algorithm 1, with the softmax of
 * Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018:
 * what was added up is scaled anew where a tile has a larger score.
 */

/* Of one query: its largest score, the sum of exponentials over it, and the
 * values weighted by them. */
struct answer {
    float largest, sum;
    float values[LANE_COLUMNS];
};

static __device__ void see_tile(const struct heads &it, const float *q,
                                const float *keys, const float *values,
                                bool is_seen, struct answer *answer)
{
    const float *key = keys + threadIdx.x % WARP * (it.width + 1);
    const float score = is_seen ? it.scale * dot(q, key, it.width) : -INFINITY;
    const float most = warp_max(score);
    const float largest = most > answer->largest ? most : answer->largest;
    const float p = is_seen ? expf(score - largest) : 0;
    const float factor = expf(answer->largest - largest);

    answer->sum = answer->sum * factor + warp_sum(p);
    for (int i = 0; i < LANE_COLUMNS; i++)
        answer->values[i] *= factor;
    add_rows(p, values, it.width, answer->values);
    answer->largest = largest;
}

static __device__ void finish(const struct heads &it, const struct seat &seat,
                              size_t query, const struct answer *answer)
{
    if (query < it.known || query >= it.length)
        return;
    store_row(answer->values, 1 / answer->sum, it.width,
              it.to_y + head_at(it, seat, query, 1, 0));
    if (seat.lane == 0)
        it.sums[(seat.sequence + query) * it.heads + seat.head] =
            answer->largest + logf(answer->sum);
}

static __global__ void attention(struct heads it)
{
    extern __shared__ float shared[];
    float *const q = shared, *const keys = q + BLOCK_ROWS * it.width;
    float *const values = keys + TILE * (it.width + 1);
    const struct seat seat = take_seat(it);
    const size_t end = seat.first + BLOCK_ROWS;
    const unsigned own = seat.warp * WARP_ROWS;
    struct answer answers[WARP_ROWS];

#pragma unroll
    for (int i = 0; i < WARP_ROWS; i++)
        answers[i] = {-INFINITY, 0, {0}};
    load_rows(it, seat, {it.qkv, 3, 0, seat.first, BLOCK_ROWS, it.width}, q);
    for (size_t tile = 0; tile < end && tile < it.length; tile += TILE) {
        load_tile(it, seat, tile, keys, values);
#pragma unroll
        for (unsigned i = 0; i < WARP_ROWS; i++) {
            const size_t query = seat.first + own + i;

            if (query >= it.known && query < it.length && tile <= query)
                see_tile(it, q + (own + i) * it.width, keys, values,
                         tile + seat.lane <= query, &answers[i]);
        }
    }
#pragma unroll
    for (unsigned i = 0; i < WARP_ROWS; i++)
        finish(it, seat, seat.first + own + i, &answers[i]);
}

void cuda_attention(struct matrix qkv, const struct attention *how,
                    struct matrix y)
{
    struct heads it = heads_of(qkv, how);

    it.to_y = y.data;
    launch_heads("attention", it, attention, 1, 2);
}
