/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/attention_bf16.cuh"
#include "training/cuda/ops_cuda.cuh"

/*
 * Back, as attention_grad.cu: first through the keys for each query, then
 * through the queries for each key.
 */

/* y dy of the lane's row, which is there for keys_grad, too. */
static __device__ float keep_products(const struct heads &it,
                                      const struct place &at)
{
    float own = 0;

    for (int i = 0; i < SIDE && at.own.first + i < it.length; i++) {
        const size_t query = at.own.first + i;
        const float product = product_of(it, at.own, query);

        if (at.own.lane == 0)
            it.products[(at.own.sequence + query) * it.heads + at.own.head] =
                product;
        if (i == lane_row(at))
            own = product;
    }
    return own;
}

template <int COLUMNS> static __global__ void queries_grad(struct heads it)
{
    alignas(32) extern __shared__ float shared[];
    const struct place at = take_place<COLUMNS>(it, shared);
    const size_t query = at.own.first + lane_row(at);
    const float product = keep_products(it, at);
    const float sum = query < it.length ? sum_of(it, at.own, query) : 0;
    block dq[COLUMNS / SIDE];

    load_panel<COLUMNS>(it, at.own,
                        {it.qkv, 3, 0, at.first, OWN_ROWS, STRIDE<COLUMNS>},
                        at.mine[0]);
    load_panel<COLUMNS>(it, at.own,
                        {it.dy, 1, 0, at.first, OWN_ROWS, STRIDE<COLUMNS>},
                        at.mine[1]);
    clear_sums<COLUMNS>(dq);
    for (size_t tile = 0; tile < at.first + OWN_ROWS && tile < it.length;
         tile += TILE) {
        load_keys<COLUMNS>(it, at, tile);
        if (tile >= at.own.first + SIDE)
            continue;
        multiply_rows<COLUMNS>(own_rows<COLUMNS>(at, 0), at.tile[0], at.scores);
        multiply_rows<COLUMNS>(own_rows<COLUMNS>(at, 1), at.tile[1], at.grads);
        for (int i = 0; i < LANE_NUMBERS; i++) {
            const float score = it.scale * at.scores[score_at(at, i)];
            const float dp = at.grads[score_at(at, i)];

            at.ds[share_at(at, i)] = __float2bfloat16_rn(
                tile + lane_column(at, i) <= query
                    ? expf(score - sum) * (dp - product) * it.scale
                    : 0);
        }
        __syncwarp();
        add_product<COLUMNS>(at.ds, at.tile[0], dq);
    }
    store_sums<COLUMNS>(it, at, dq, it.dqkv, 3, 0);
}

/* The next tile's queries, their dy, sums and products. */
template <int COLUMNS>
static __device__ void load_queries(const struct heads &it,
                                    const struct place &at, size_t tile)
{
    const size_t query = tile + threadIdx.x;

    __syncthreads();
    load_panel<COLUMNS>(it, at.own, {it.qkv, 3, 0, tile, TILE, STRIDE<COLUMNS>},
                        at.tile[0]);
    load_panel<COLUMNS>(it, at.own, {it.dy, 1, 0, tile, TILE, STRIDE<COLUMNS>},
                        at.tile[1]);
    if (threadIdx.x < TILE && query < it.length) {
        at.numbers[0][threadIdx.x] = sum_of(it, at.own, query);
        at.numbers[1][threadIdx.x] =
            it.products[(at.own.sequence + query) * it.heads + at.own.head];
    }
    __syncthreads();
}

template <int COLUMNS> static __global__ void keys_grad(struct heads it)
{
    alignas(32) extern __shared__ float shared[];
    const struct place at = take_place<COLUMNS>(it, shared);
    const size_t key = at.own.first + lane_row(at);
    block dk[COLUMNS / SIDE], dv[COLUMNS / SIDE];

    load_panel<COLUMNS>(it, at.own,
                        {it.qkv, 3, 1, at.first, OWN_ROWS, STRIDE<COLUMNS>},
                        at.mine[0]);
    load_panel<COLUMNS>(it, at.own,
                        {it.qkv, 3, 2, at.first, OWN_ROWS, STRIDE<COLUMNS>},
                        at.mine[1]);
    clear_sums<COLUMNS>(dk);
    clear_sums<COLUMNS>(dv);
    for (size_t tile = at.first; tile < it.length; tile += TILE) {
        load_queries<COLUMNS>(it, at, tile);
        if (tile + TILE <= at.own.first)
            continue;
        multiply_rows<COLUMNS>(own_rows<COLUMNS>(at, 0), at.tile[0], at.scores);
        multiply_rows<COLUMNS>(own_rows<COLUMNS>(at, 1), at.tile[1], at.grads);
        for (int i = 0; i < LANE_NUMBERS; i++) {
            const int column = lane_column(at, i);
            const size_t query = tile + column;
            float p = 0, ds = 0;

            if (key <= query && query < it.length) {
                p = expf(it.scale * at.scores[score_at(at, i)] -
                         at.numbers[0][column]);
                ds = p * (at.grads[score_at(at, i)] - at.numbers[1][column]) *
                     it.scale;
            }
            at.shares[share_at(at, i)] = __float2bfloat16_rn(p);
            at.ds[share_at(at, i)] = __float2bfloat16_rn(ds);
        }
        __syncwarp();
        add_product<COLUMNS>(at.shares, at.tile[1], dv);
        add_product<COLUMNS>(at.ds, at.tile[0], dk);
    }
    store_sums<COLUMNS>(it, at, dk, it.dqkv, 3, 1);
    store_sums<COLUMNS>(it, at, dv, it.dqkv, 3, 2);
}

void cuda_attention_grad_bf16(const struct attention_pass *pass,
                              const struct attention *how)
{
    const char *operation = "attention_grad";
    struct heads it = heads_of(pass->qkv, how);

    it.y = pass->y.data;
    it.dy = pass->dy.data;
    it.dqkv = pass->dqkv.data;
    device_check(operation,
                 cudaMallocAsync(&it.products,
                                 pass->y.rows * it.heads * sizeof(float),
                                 device_stream()));
    if (it.products == NULL)
        return;
    launch_by_width(operation, it, queries_grad<NARROW>, queries_grad<WIDE>);
    launch_by_width(operation, it, keys_grad<NARROW>, keys_grad<WIDE>);
    device_check(operation, cudaFreeAsync(it.products, device_stream()));
}
