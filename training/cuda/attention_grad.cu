/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/attention.cuh"
#include "training/cuda/ops_cuda.cuh"

/*
 * Dao et al., "FlashAttention", NeurIPS 2022, algorithm 4, as two kernels: one
 * goes through the keys for each query, one through the queries for each key.
 * So every number is added up by one warp, in one order. Both work out the
 * probabilities p = exp(score - sum) again, and the scores' gradient p (dp - y
 * dy), scaled as the scores were.
 */

static __global__ void queries_grad(struct heads it)
{
    extern __shared__ float shared[];
    float *const q = shared, *const dy = q + BLOCK_ROWS * it.width;
    float *const keys = dy + BLOCK_ROWS * it.width;
    float *const values = keys + TILE * (it.width + 1);
    const struct seat seat = take_seat(it);
    const size_t end = seat.first + BLOCK_ROWS;
    const unsigned own = seat.warp * WARP_ROWS;
    float dq[WARP_ROWS][LANE_COLUMNS] = {};

    load_rows(it, seat, {it.qkv, 3, 0, seat.first, BLOCK_ROWS, it.width}, q);
    load_rows(it, seat, {it.dy, 1, 0, seat.first, BLOCK_ROWS, it.width}, dy);
    for (size_t tile = 0; tile < end && tile < it.length; tile += TILE) {
        load_tile(it, seat, tile, keys, values);
#pragma unroll
        for (unsigned i = 0; i < WARP_ROWS; i++) {
            const size_t query = seat.first + own + i;
            const size_t row = (own + i) * it.width;
            const size_t lane = seat.lane * (it.width + 1);
            float product, score, dp, ds = 0;

            if (query >= it.length || tile > query)
                continue;
            product = product_of(it, seat, query);
            score = it.scale * dot(q + row, keys + lane, it.width);
            dp = dot(dy + row, values + lane, it.width);
            if (tile + seat.lane <= query)
                ds = expf(score - sum_of(it, seat, query)) * (dp - product) *
                     it.scale;
            add_rows(ds, keys, it.width, dq[i]);
        }
    }
#pragma unroll
    for (unsigned i = 0; i < WARP_ROWS; i++)
        if (seat.first + own + i < it.length)
            store_row(dq[i], 1, it.width,
                      it.dqkv + head_at(it, seat, seat.first + own + i, 3, 0));
}

/* What a tile's queries bring besides: their sums, and their y dy. */
static __device__ void load_numbers(const struct heads &it,
                                    const struct seat &seat, size_t tile,
                                    float *sums, float *products)
{
    for (size_t i = seat.warp; i < TILE && tile + i < it.length;
         i += HEAD_WARPS) {
        const float product = product_of(it, seat, tile + i);

        if (seat.lane == 0) {
            sums[i] = sum_of(it, seat, tile + i);
            products[i] = product;
        }
    }
}

static __global__ void keys_grad(struct heads it)
{
    extern __shared__ float shared[];
    float *const k = shared, *const v = k + BLOCK_ROWS * it.width;
    float *const queries = v + BLOCK_ROWS * it.width;
    float *const dy = queries + TILE * (it.width + 1);
    float *const sums = dy + TILE * (it.width + 1), *const products =
                                                        sums + TILE;
    const struct seat seat = take_seat(it);
    const unsigned own = seat.warp * WARP_ROWS;
    float dk[WARP_ROWS][LANE_COLUMNS] = {}, dv[WARP_ROWS][LANE_COLUMNS] = {};

    load_rows(it, seat, {it.qkv, 3, 1, seat.first, BLOCK_ROWS, it.width}, k);
    load_rows(it, seat, {it.qkv, 3, 2, seat.first, BLOCK_ROWS, it.width}, v);
    for (size_t tile = seat.first; tile < it.length; tile += TILE) {
        const size_t query = tile + seat.lane;

        __syncthreads(); /* whoever still reads the tile before */
        load_rows(it, seat, {it.qkv, 3, 0, tile, TILE, it.width + 1}, queries);
        load_rows(it, seat, {it.dy, 1, 0, tile, TILE, it.width + 1}, dy);
        load_numbers(it, seat, tile, sums, products);
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < WARP_ROWS; i++) {
            const size_t key = seat.first + own + i;
            const size_t row = (own + i) * it.width;
            const size_t lane = seat.lane * (it.width + 1);
            const bool is_seen = key <= query && query < it.length;
            float p = 0, ds = 0;

            if (is_seen) {
                p = expf(it.scale * dot(k + row, queries + lane, it.width) -
                         sums[seat.lane]);
                ds = p *
                     (dot(v + row, dy + lane, it.width) - products[seat.lane]) *
                     it.scale;
            }
            add_rows(p, dy, it.width, dv[i]);
            add_rows(ds, queries, it.width, dk[i]);
        }
    }
#pragma unroll
    for (unsigned i = 0; i < WARP_ROWS; i++) {
        const size_t key = seat.first + own + i;

        if (key < it.length) {
            store_row(dk[i], 1, it.width,
                      it.dqkv + head_at(it, seat, key, 3, 1));
            store_row(dv[i], 1, it.width,
                      it.dqkv + head_at(it, seat, key, 3, 2));
        }
    }
}

void cuda_attention_grad(const struct attention_pass *pass,
                         const struct attention *how)
{
    struct heads it = heads_of(pass->qkv, how);

    it.y = pass->y.data;
    it.dy = pass->dy.data;
    it.dqkv = pass->dqkv.data;
    launch_heads("attention_grad", it, queries_grad, 2, 2);
    launch_heads("attention_grad", it, keys_grad, 2, 2);
}
