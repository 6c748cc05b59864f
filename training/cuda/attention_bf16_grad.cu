/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/attention_bf16.cuh"
#include "training/cuda/ops_cuda.cuh"

/*
 * Back, as attention_grad.cu: one kernel goes through the keys for each query,
 * one through the queries for each key, so that each number is added up by one
 * warp, in one order. The factor of the scores' gradients is left to the end.
 */

static constexpr int ROWS = HEAD_WARPS * SIDE;
/* Of a tile: fewer where a row's sums take more registers. */
template <int COLUMNS> static constexpr int OTHERS = COLUMNS > 64 ? 32 : 64;
template <int COLUMNS>
static constexpr size_t SHARED_BYTES =
    (2 * ROWS + 4 * OTHERS<COLUMNS>)*STRIDE<COLUMNS> * sizeof(bf16) +
    2 * OTHERS<COLUMNS> * sizeof(struct query_numbers);

/* Rows of two matrices in shared memory, and of queries their numbers. */
struct side {
    bf16 *rows[2];
    struct query_numbers *numbers;
};

/* Starts to copy rows of two kinds. */
template <int COLUMNS, int COUNT>
static __device__ inline void copy_side(const struct heads &it,
                                        const struct panels &panels,
                                        size_t head,
                                        const enum panel (&kinds)[2], int first,
                                        const struct side &to)
{
#pragma unroll
    for (int i = 0; i < 2; i++)
        copy_rows<COLUMNS, COUNT>(it,
                                  panel_of<COLUMNS>(it, panels, kinds[i], head),
                                  first, to.rows[i]);
}

/* A tile's queries, with zeroes behind the sequence's end. */
template <int COLUMNS>
static __device__ inline void copy_queries(const struct heads &it,
                                           const struct panels &panels,
                                           size_t head, int first,
                                           const struct side &to)
{
    const int query = first + (int)threadIdx.x;

    copy_side<COLUMNS, OTHERS<COLUMNS>>(it, panels, head, {PANEL_Q, PANEL_DY},
                                        first, to);
    if (threadIdx.x < OTHERS<COLUMNS>)
        copy_async<sizeof(struct query_numbers)>(
            to.numbers + threadIdx.x, panels.queries + head * it.length + query,
            query < (int)it.length);
}

template <int COLUMNS>
static __device__ inline void copy_keys(const struct heads &it,
                                        const struct panels &panels,
                                        size_t head, int first,
                                        const struct side &to)
{
    copy_side<COLUMNS, OTHERS<COLUMNS>>(it, panels, head, {PANEL_K, PANEL_V},
                                        first, to);
}

template <int COLUMNS>
static __device__ inline struct side own_side(float *shared)
{
    bf16 *const rows = (bf16 *)shared;

    return {{rows, rows + ROWS * STRIDE<COLUMNS>}, NULL};
}

/* The tile's, in one of two halves. */
template <int COLUMNS>
static __device__ inline struct side other_side(float *shared, int half)
{
    constexpr int NUMBERS = OTHERS<COLUMNS> * STRIDE<COLUMNS>;
    bf16 *const tiles = (bf16 *)shared + 2 * ROWS * STRIDE<COLUMNS>;
    bf16 *const rows = tiles + half * 2 * NUMBERS;

    return {{rows, rows + NUMBERS},
            (struct query_numbers *)(tiles + 4 * NUMBERS) +
                half * OTHERS<COLUMNS>};
}

/* to = the warp's rows times the tile's, transposed. */
template <int COLUMNS>
static __device__ inline void multiply_rows(
    const bf16 *own, const bf16 *tile,
    struct block (&to)[1][OTHERS<COLUMNS> / SIDE])
{
    struct left_factor left[1][COLUMNS / SIDE];

    load_strips<COLUMNS>(own, left);
    multiply<COLUMNS>(left, tile, to);
}

template <int COLUMNS>
static __device__ inline void store_strip(
    const struct heads &it, const struct place &at,
    const struct block (&sums)[1][COLUMNS / SIDE], float factor, size_t third)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int row = at.own + block_row(2 * half);

        if (row < (int)it.length)
            store_row<COLUMNS>(it, at, row, 2 * half, sums[0], factor,
                               {it.dqkv, 3, third});
    }
}

/* Of the lane's two queries; the gradients of weights become those of scores.
 */
template <int BLOCKS>
static __device__ inline void grads_of_queries(
    float scale, const struct query_numbers (&queries)[2],
    const struct block (&scores)[BLOCKS], struct block (&grads)[BLOCKS])
{
#pragma unroll
    for (int i = 0; i < BLOCKS; i++)
#pragma unroll
        for (int j = 0; j < LANE_NUMBERS; j++) {
            const struct query_numbers query = queries[j / 2 % 2];

            grads[i].numbers[j] =
                fast_exp2(scores[i].numbers[j] * scale - query.log_sum) *
                (grads[i].numbers[j] - query.product);
        }
}

template <int COLUMNS>
static __global__ __launch_bounds__(HEAD_THREADS) void queries_grad(
    struct heads it, struct panels panels)
{
    alignas(32) extern __shared__ float shared[];
    constexpr int KEYS = OTHERS<COLUMNS>;
    const struct place at = take_place(it, ROWS, true);
    const struct side own = own_side<COLUMNS>(shared);
    const int strip = (at.own - at.first) * STRIDE<COLUMNS>;
    struct query_numbers numbers[2] = {};
    struct block dq[1][COLUMNS / SIDE];

#pragma unroll
    for (int i = 0; i < 2; i++)
        if (at.own + block_row(2 * i) < (int)it.length)
            numbers[i] =
                panels.queries[at.head * it.length + at.own + block_row(2 * i)];
    copy_side<COLUMNS, ROWS>(it, panels, at.head, {PANEL_Q, PANEL_DY}, at.first,
                             own);
    copy_keys<COLUMNS>(it, panels, at.head, 0, other_side<COLUMNS>(shared, 0));
    clear(dq);
    for (int tile = 0; tile < at.first + ROWS && tile < (int)it.length;
         tile += KEYS) {
        const int half = tile / KEYS % 2;
        const struct side keys = other_side<COLUMNS>(shared, half);
        struct block scores[1][KEYS / SIDE], grads[1][KEYS / SIDE];

        await_copies();
        __syncthreads(); /* the tile is there, and none reads the one before */
        copy_keys<COLUMNS>(it, panels, at.head, tile + KEYS,
                           other_side<COLUMNS>(shared, 1 - half));
        if (tile >= at.own + SIDE)
            continue;
        multiply_rows<COLUMNS>(own.rows[0] + strip, keys.rows[0], scores);
        multiply_rows<COLUMNS>(own.rows[1] + strip, keys.rows[1], grads);
        if (tile + KEYS > at.own)
            hide_keys(at.own, tile, scores[0]);
        grads_of_queries(it.scale * LOG2_E, numbers, scores[0], grads[0]);
        add_product<COLUMNS>(grads, keys.rows[0], dq);
    }
    await_copies();
    store_strip<COLUMNS>(it, at, dq, it.scale, 0);
}

/* Queries before the key do not see it, and behind the end there are none. */
template <int BLOCKS>
static __device__ inline void hide_queries(int key, int query, int length,
                                           struct block (&scores)[BLOCKS])
{
#pragma unroll
    for (int i = 0; i < BLOCKS; i++)
#pragma unroll
        for (int j = 0; j < LANE_NUMBERS; j++) {
            const int its = query + i * SIDE + block_column(j);

            if (key + block_row(j) > its || its >= length)
                scores[i].numbers[j] = -INFINITY;
        }
}

/* The scores become weights, and the gradients of those become the scores'. */
template <int BLOCKS>
static __device__ inline void grads_of_keys(float scale,
                                            const struct query_numbers *queries,
                                            struct block (&scores)[BLOCKS],
                                            struct block (&grads)[BLOCKS])
{
#pragma unroll
    for (int i = 0; i < BLOCKS; i++)
#pragma unroll
        for (int j = 0; j < LANE_NUMBERS; j++) {
            const struct query_numbers query =
                queries[i * SIDE + block_column(j)];
            const float weight =
                fast_exp2(scores[i].numbers[j] * scale - query.log_sum);

            scores[i].numbers[j] = weight;
            grads[i].numbers[j] =
                weight * (grads[i].numbers[j] - query.product);
        }
}

template <int COLUMNS>
static __global__ __launch_bounds__(
    HEAD_THREADS, COLUMNS > 64 ? 2 : 3) void keys_grad(struct heads it,
                                                       struct panels panels)
{
    alignas(32) extern __shared__ float shared[];
    constexpr int QUERIES = OTHERS<COLUMNS>;
    const struct place at = take_place(it, ROWS, false);
    const struct side own = own_side<COLUMNS>(shared);
    const int strip = (at.own - at.first) * STRIDE<COLUMNS>;
    struct block dk[1][COLUMNS / SIDE], dv[1][COLUMNS / SIDE];

    copy_side<COLUMNS, ROWS>(it, panels, at.head, {PANEL_K, PANEL_V}, at.first,
                             own);
    copy_queries<COLUMNS>(it, panels, at.head, at.first,
                          other_side<COLUMNS>(shared, 0));
    clear(dk);
    clear(dv);
    for (int tile = at.first; tile < (int)it.length; tile += QUERIES) {
        const int half = (tile - at.first) / QUERIES % 2;
        const struct side queries = other_side<COLUMNS>(shared, half);
        struct block scores[1][QUERIES / SIDE], grads[1][QUERIES / SIDE];

        await_copies();
        __syncthreads(); /* the tile is there, and none reads the one before */
        copy_queries<COLUMNS>(it, panels, at.head, tile + QUERIES,
                              other_side<COLUMNS>(shared, 1 - half));
        if (tile + QUERIES <= at.own)
            continue;
        multiply_rows<COLUMNS>(own.rows[0] + strip, queries.rows[0], scores);
        multiply_rows<COLUMNS>(own.rows[1] + strip, queries.rows[1], grads);
        if (tile < at.own + SIDE || tile + QUERIES > (int)it.length)
            hide_queries(at.own, tile, (int)it.length, scores[0]);
        grads_of_keys(it.scale * LOG2_E, queries.numbers, scores[0], grads[0]);
        add_product<COLUMNS>(scores, queries.rows[1], dv);
        add_product<COLUMNS>(grads, queries.rows[0], dk);
    }
    await_copies();
    store_strip<COLUMNS>(it, at, dk, it.scale, 1);
    store_strip<COLUMNS>(it, at, dv, 1, 2);
}

template <int COLUMNS>
static constexpr struct shape queries_shape = {
    COLUMNS, ROWS, SHARED_BYTES<COLUMNS>, queries_grad<COLUMNS>};
template <int COLUMNS>
static constexpr struct shape keys_shape = {
    COLUMNS, ROWS, SHARED_BYTES<COLUMNS>, keys_grad<COLUMNS>};
static constexpr struct shape queries_shapes[] = {queries_shape<32>,
                                                  queries_shape<64>,
                                                  queries_shape<128>},
                              keys_shapes[] = {keys_shape<32>, keys_shape<64>,
                                               keys_shape<128>};

void cuda_attention_grad_bf16(const struct attention_pass *pass,
                              const struct attention *how)
{
    const char *operation = "attention_grad";
    struct heads it = heads_of(pass->qkv, how);
    struct panels panels;

    it.y = pass->y.data;
    it.dy = pass->dy.data;
    it.dqkv = pass->dqkv.data;
    if (!has_width(operation, it) || !panels_take(operation, it, &panels))
        return;
    launch_shape(operation, it, panels, queries_shapes);
    launch_shape(operation, it, panels, keys_shapes);
    panels_release(operation, &panels);
}
