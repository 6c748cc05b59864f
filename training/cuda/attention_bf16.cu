/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/attention_bf16.cuh"
#include "training/cuda/ops_cuda.cuh"

/*
 * Forth: algorithm 1 of Dao, "FlashAttention-2", 2023, with one sweep over the
 * keys. The softmax is that of attention.cu, to the base 2: log2(e) is part of
 * the factor that scores are scaled by.
 */

static constexpr int KEYS = 64; /* of a tile */

template <int COLUMNS> static constexpr int STRIPS = COLUMNS > 64 ? 1 : 2;
template <int COLUMNS>
static constexpr int ROWS = HEAD_WARPS *SIDE *STRIPS<COLUMNS>;
template <int COLUMNS>
static constexpr size_t SHARED_BYTES =
    (ROWS<COLUMNS> + 4 * KEYS) * STRIDE<COLUMNS> * sizeof(bf16);

/* Of a strip's queries: a lane has numbers of two, in each block's halves. */
struct softmax {
    float largest[2]; /* score, not scaled */
    float sum[2];     /* of this lane's numbers */
};

/* The query's largest score so far; all of its four lanes get it. */
static __device__ inline float largest_score(
    float largest, int half, const struct block (&scores)[KEYS / SIDE])
{
#pragma unroll
    for (int i = 0; i < KEYS / SIDE; i++)
#pragma unroll
        for (int j = 2 * half; j < LANE_NUMBERS; j += 4)
            largest = fmaxf(
                largest, fmaxf(scores[i].numbers[j], scores[i].numbers[j + 1]));
    for (int lane = 1; lane < 4; lane *= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, lane));
    return largest;
}

/* The scores become weights; what was added up before is scaled anew. A NaN is
 * no largest score, but its weight is a NaN. */
template <int COLUMNS>
static __device__ inline void weigh(float scale, int half,
                                    struct block (&scores)[KEYS / SIDE],
                                    struct softmax *softmax,
                                    struct block (&answers)[COLUMNS / SIDE])
{
    const float before = softmax->largest[half];
    const float largest = largest_score(before, half, scores);
    const float factor = fast_exp2((before - largest) * scale);
    const float offset = largest * scale;
    float sum = softmax->sum[half] * factor;

#pragma unroll
    for (int i = 0; i < KEYS / SIDE; i++)
#pragma unroll
        for (int j = 2 * half; j < LANE_NUMBERS; j += 4)
#pragma unroll
            for (int k = j; k < j + 2; k++) {
                scores[i].numbers[k] =
                    fast_exp2(scores[i].numbers[k] * scale - offset);
                sum += scores[i].numbers[k];
            }
#pragma unroll
    for (int i = 0; i < COLUMNS / SIDE; i++)
#pragma unroll
        for (int j = 2 * half; j < LANE_NUMBERS; j += 4) {
            answers[i].numbers[j] *= factor;
            answers[i].numbers[j + 1] *= factor;
        }
    softmax->largest[half] = largest;
    softmax->sum[half] = sum;
}

template <int COLUMNS>
static __device__ inline void finish(const struct heads &it,
                                     const struct place &at, int strip,
                                     const struct softmax &softmax,
                                     const struct block (&sums)[COLUMNS / SIDE])
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int query = at.own + strip * SIDE + block_row(2 * half);
        const unsigned heads = (unsigned)it.heads;
        const size_t row = (size_t)(at.head / heads) * it.length + query;
        float sum = softmax.sum[half];

        for (int lane = 1; lane < 4; lane *= 2)
            sum += __shfl_xor_sync(0xffffffffU, sum, lane);
        if (query < (int)it.known || query >= (int)it.length)
            continue;
        if (block_column(0) == 0)
            it.sums[row * heads + at.head % heads] =
                softmax.largest[half] * it.scale + logf(sum);
        store_row<COLUMNS>(it, at, query, 2 * half, sums, 1 / sum,
                           {it.to_y, 1, 0});
    }
}

/* Starts to copy a tile's keys and values; returns where they will be. */
template <int COLUMNS>
static __device__ inline bf16 *copy_keys(const struct heads &it,
                                         const struct panels &panels,
                                         const struct place &at, int tile,
                                         bf16 *tiles)
{
    bf16 *const keys = tiles + tile / KEYS % 2 * 2 * KEYS * STRIDE<COLUMNS>;

    copy_rows<COLUMNS, KEYS>(
        it, panel_of<COLUMNS>(it, panels, PANEL_K, at.head), tile, keys);
    copy_rows<COLUMNS, KEYS>(it,
                             panel_of<COLUMNS>(it, panels, PANEL_V, at.head),
                             tile, keys + KEYS * STRIDE<COLUMNS>);
    return keys;
}

template <int COLUMNS>
static __global__ __launch_bounds__(HEAD_THREADS) void attention(
    struct heads it, struct panels panels)
{
    alignas(32) extern __shared__ float shared[];
    constexpr int COUNT = STRIPS<COLUMNS>;
    const struct place at = take_place(it, ROWS<COLUMNS>, true);
    const float scale = it.scale * LOG2_E;
    bf16 *const queries = (bf16 *)shared;
    bf16 *const tiles = queries + ROWS<COLUMNS> * STRIDE<COLUMNS>;
    struct left_factor q[COUNT][COLUMNS / SIDE];
    struct softmax softmax[COUNT];
    struct block answers[COUNT][COLUMNS / SIDE];
    const bf16 *keys, *next;

    if (at.first + ROWS<COLUMNS> <= (int)it.known)
        return;
    copy_rows<COLUMNS, ROWS<COLUMNS>>(
        it, panel_of<COLUMNS>(it, panels, PANEL_Q, at.head), at.first, queries);
    next = copy_keys<COLUMNS>(it, panels, at, 0, tiles);
    await_copies();
    __syncthreads();
    load_strips<COLUMNS>(queries + (at.own - at.first) * STRIDE<COLUMNS>, q);
    clear(answers);
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        softmax[i] = {{-INFINITY, -INFINITY}, {0, 0}};
    for (int tile = 0; tile < at.first + ROWS<COLUMNS> && tile < (int)it.length;
         tile += KEYS) {
        struct block scores[COUNT][KEYS / SIDE];

        await_copies();
        __syncthreads(); /* the tile is there, and none reads the one before */
        keys = next;
        next = copy_keys<COLUMNS>(it, panels, at, tile + KEYS, tiles);
        if (tile >= at.own + COUNT * SIDE)
            continue;
        multiply<COLUMNS>(q, keys, scores);
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            if (tile + KEYS > at.own + i * SIDE)
                hide_keys(at.own + i * SIDE, tile, scores[i]);
#pragma unroll
            for (int half = 0; half < 2; half++)
                weigh<COLUMNS>(scale, half, scores[i], &softmax[i], answers[i]);
        }
        add_product<COLUMNS>(scores, keys + KEYS * STRIDE<COLUMNS>, answers);
    }
    await_copies();
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        finish<COLUMNS>(it, at, i, softmax[i], answers[i]);
}

template <int COLUMNS>
static constexpr struct shape shape_of = {
    COLUMNS, ROWS<COLUMNS>, SHARED_BYTES<COLUMNS>, attention<COLUMNS>};
static constexpr struct shape shapes[] = {shape_of<32>, shape_of<64>,
                                          shape_of<128>};

void cuda_attention_bf16(struct matrix qkv, const struct attention *how,
                         struct matrix y)
{
    const char *operation = "attention";
    struct heads it = heads_of(qkv, how);
    struct panels panels;

    it.to_y = y.data;
    if (!has_width(operation, it) || !panels_take(operation, it, &panels))
        return;
    launch_shape(operation, it, panels, shapes);
    panels_release(operation, &panels);
}
