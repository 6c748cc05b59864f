/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/attention_bf16.cuh"
#include "training/cuda/ops_cuda.cuh"

/*
 * Forth: algorithm 1 of attention.cu in two sweeps over the keys, one for each
 * query's sum and one for its values. So what is added up is never scaled anew,
 * and can stay in registers.
 */

/* Of what a lane has seen of a row: the largest score, and the sum of
 * exponentials over it. */
struct softmax {
    float largest, sum;
};

static __device__ void see_score(float score, struct softmax *seen)
{
    if (score > seen->largest) {
        seen->sum *= expf(seen->largest - score);
        seen->largest = score;
    }
    seen->sum += expf(score - seen->largest);
}

/* The logarithm of the row's sum, of both its lanes. */
static __device__ float log_sum(const struct softmax &seen)
{
    const float other = __shfl_xor_sync(0xffffffffU, seen.largest, 1);
    const float largest = other > seen.largest ? other : seen.largest;
    float sum = seen.sum * expf(seen.largest - largest);

    sum += __shfl_xor_sync(0xffffffffU, sum, 1);
    return largest + logf(sum);
}

/* The sum of the lane's query. */
template <int COLUMNS>
static __device__ float row_log_sum(const struct heads &it,
                                    const struct place &at)
{
    const size_t query = at.own.first + lane_row(at);
    struct softmax seen = {-INFINITY, 0};

    for (size_t tile = 0; tile < at.first + OWN_ROWS && tile < it.length;
         tile += TILE) {
        __syncthreads();
        load_panel<COLUMNS>(it, at.own,
                            {it.qkv, 3, 1, tile, TILE, STRIDE<COLUMNS>},
                            at.tile[0]);
        __syncthreads();
        if (tile >= at.own.first + SIDE)
            continue;
        multiply_rows<COLUMNS>(own_rows<COLUMNS>(at, 0), at.tile[0], at.scores);
        for (int i = 0; i < LANE_NUMBERS; i++)
            if (tile + lane_column(at, i) <= query)
                see_score(it.scale * at.scores[score_at(at, i)], &seen);
        __syncwarp();
    }
    return log_sum(seen);
}

template <int COLUMNS> static __global__ void attention(struct heads it)
{
    alignas(32) extern __shared__ float shared[];
    const struct place at = take_place<COLUMNS>(it, shared);
    const size_t query = at.own.first + lane_row(at);
    block answers[COLUMNS / SIDE];
    float sum;

    load_panel<COLUMNS>(it, at.own,
                        {it.qkv, 3, 0, at.first, OWN_ROWS, STRIDE<COLUMNS>},
                        at.mine[0]);
    sum = row_log_sum<COLUMNS>(it, at);
    if (query >= it.known && query < it.length && at.own.lane % 2 == 0)
        it.sums[(at.own.sequence + query) * it.heads + at.own.head] = sum;
    clear_sums<COLUMNS>(answers);
    for (size_t tile = 0; tile < at.first + OWN_ROWS && tile < it.length;
         tile += TILE) {
        load_keys<COLUMNS>(it, at, tile);
        if (tile >= at.own.first + SIDE)
            continue;
        multiply_rows<COLUMNS>(own_rows<COLUMNS>(at, 0), at.tile[0], at.scores);
        for (int i = 0; i < LANE_NUMBERS; i++)
            at.shares[share_at(at, i)] = __float2bfloat16_rn(
                tile + lane_column(at, i) <= query
                    ? expf(it.scale * at.scores[score_at(at, i)] - sum)
                    : 0);
        __syncwarp();
        add_product<COLUMNS>(at.shares, at.tile[1], answers);
    }
    store_sums<COLUMNS>(it, at, answers, it.to_y, 1, 0);
}

void cuda_attention_bf16(struct matrix qkv, const struct attention *how,
                         struct matrix y)
{
    struct heads it = heads_of(qkv, how);

    it.to_y = y.data;
    launch_by_width("attention", it, attention<NARROW>, attention<WIDE>);
}
