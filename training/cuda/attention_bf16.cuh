/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_ATTENTION_BF16_CUH
#define SMTUNE_TRAINING_CUDA_ATTENTION_BF16_CUH

#include <tensor_core.cuh>

#include "training/cuda/attention_panels.cuh"

/*
 * What both ways of attention on tensor cores share, for GPUs of compute
 * capability 8 and later (Dao, "FlashAttention-2", 2023). A warp has some rows
 * of one side, 16 for each of its strips, and goes through the other side tile
 * by tile. Scores, probabilities and sums stay in registers: a block of sums is
 * what the next product takes as its left factor. While a tile is multiplied,
 * the next one is copied to the other half of shared memory.
 */

static constexpr int HEAD_THREADS = HEAD_WARPS * WARP;

/* Of a row in shared memory: eight rows begin in different banks. */
template <int COLUMNS> static constexpr int STRIDE = COLUMNS + 8;

/* Where a thread block works. */
struct place {
    unsigned head; /* over all sequences */
    int first;     /* of its rows, in the sequence */
    int own;       /* likewise, of this warp's */
};

/* With the rows that see most first, so that those which end last are short.
 */
static __device__ inline struct place take_place(const struct heads &it,
                                                 int rows, bool begins_late)
{
    const unsigned blocks = ((unsigned)it.length + rows - 1) / rows;
    const unsigned block = blockIdx.x % blocks;
    struct place at;

    at.head = blockIdx.x / blocks;
    at.first = (int)(begins_late ? blocks - 1 - block : block) * rows;
    at.own = at.first + (int)threadIdx.x / WARP * (rows / HEAD_WARPS);
    return at;
}

/* Starts to copy rows of a panel; behind the sequence's end they are zeroes. */
template <int COLUMNS, int ROWS>
static __device__ inline void copy_rows(const struct heads &it,
                                        const bf16 *panel, int first, bf16 *to)
{
    constexpr int CHUNKS = COLUMNS / (int)PANEL_CHUNK;
    constexpr int STEP = HEAD_THREADS / CHUNKS; /* all threads' rows */
    const int row = (int)threadIdx.x / CHUNKS;
    const int column = (int)threadIdx.x % CHUNKS * (int)PANEL_CHUNK;

    to += row * STRIDE<COLUMNS> + column;
    panel += (size_t)(first + row) * COLUMNS + column;
#pragma unroll
    for (int i = 0; i < ROWS; i += STEP)
        copy_async<16>(to + i * STRIDE<COLUMNS>, panel + i * COLUMNS,
                       first + row + i < (int)it.length);
}

template <int COLUMNS, int STRIPS>
static __device__ inline void load_strips(
    const bf16 *rows, struct left_factor (&to)[STRIPS][COLUMNS / SIDE])
{
#pragma unroll
    for (int strip = 0; strip < STRIPS; strip++)
#pragma unroll
        for (int i = 0; i < COLUMNS / SIDE; i++)
            load_left(rows + strip * SIDE * STRIDE<COLUMNS> + i * SIDE,
                      STRIDE<COLUMNS>, &to[strip][i]);
}

template <int STRIPS, int BLOCKS>
static __device__ inline void clear(struct block (&sums)[STRIPS][BLOCKS])
{
#pragma unroll
    for (int strip = 0; strip < STRIPS; strip++)
#pragma unroll
        for (int i = 0; i < BLOCKS; i++)
#pragma unroll
            for (int j = 0; j < LANE_NUMBERS; j++)
                sums[strip][i].numbers[j] = 0;
}

/* to = a tileT, of rows of COLUMNS. */
template <int COLUMNS, int STRIPS, int BLOCKS>
static __device__ inline void multiply(
    const struct left_factor (&a)[STRIPS][COLUMNS / SIDE], const bf16 *tile,
    struct block (&to)[STRIPS][BLOCKS])
{
    clear(to);
#pragma unroll
    for (int i = 0; i < COLUMNS / SIDE; i++)
#pragma unroll
        for (int row = 0; row < BLOCKS; row++) {
            struct right_factor right;

            load_right(tile + row * SIDE * STRIDE<COLUMNS> + i * SIDE,
                       STRIDE<COLUMNS>, &right);
#pragma unroll
            for (int strip = 0; strip < STRIPS; strip++)
                multiply_add(a[strip][i], right, &to[strip][row]);
        }
}

/* sums += weights tile, with the weights rounded. */
template <int COLUMNS, int STRIPS, int BLOCKS>
static __device__ inline void add_product(
    const struct block (&weights)[STRIPS][BLOCKS], const bf16 *tile,
    struct block (&sums)[STRIPS][COLUMNS / SIDE])
{
#pragma unroll
    for (int row = 0; row < BLOCKS; row++) {
        struct left_factor left[STRIPS];

#pragma unroll
        for (int strip = 0; strip < STRIPS; strip++)
            round_block(weights[strip][row], &left[strip]);
#pragma unroll
        for (int i = 0; i < COLUMNS / SIDE; i++) {
            struct right_factor right;

            load_right_rows(tile + row * SIDE * STRIDE<COLUMNS> + i * SIDE,
                            STRIDE<COLUMNS>, &right);
#pragma unroll
            for (int strip = 0; strip < STRIPS; strip++)
                multiply_add(left[strip], right, &sums[strip][i]);
        }
    }
}

/* A query does not see the keys behind it. */
template <int BLOCKS>
static __device__ inline void hide_keys(int query, int key,
                                        struct block (&scores)[BLOCKS])
{
#pragma unroll
    for (int i = 0; i < BLOCKS; i++)
#pragma unroll
        for (int j = 0; j < LANE_NUMBERS; j++)
            if (key + i * SIDE + block_column(j) > query + block_row(j))
                scores[i].numbers[j] = -INFINITY;
}

/* A third of rows of so many, to which sums go times a factor. */
struct target {
    float *to;
    size_t thirds, third;
};

/* The lane's part of a row of the sequence: numbers 4j + first and the one
 * behind it, for each j. */
template <int COLUMNS>
static __device__ inline void store_row(
    const struct heads &it, const struct place &at, int row, int first,
    const struct block (&sums)[COLUMNS / SIDE], float factor,
    const struct target &target)
{
    const int width = (int)it.width;
    const unsigned heads = (unsigned)it.heads;
    const size_t rows = (size_t)(at.head / heads) * it.length + row;
    float *const to =
        target.to +
        ((rows * target.thirds + target.third) * heads + at.head % heads) *
            width;
    const bool is_even =
        width % 2 == 0 && (uintptr_t)target.to % sizeof(float2) == 0;

#pragma unroll
    for (int i = 0; i < COLUMNS / SIDE; i++)
#pragma unroll
        for (int j = first; j < LANE_NUMBERS; j += 4) {
            const int column = i * SIDE + block_column(j);

            if (is_even && column < width)
                *(float2 *)(to + column) = {sums[i].numbers[j] * factor,
                                            sums[i].numbers[j + 1] * factor};
        }
#pragma unroll
    for (int i = 0; i < COLUMNS / SIDE; i++)
#pragma unroll
        for (int j = first; j < LANE_NUMBERS; j += 4)
#pragma unroll
            for (int k = j; k < j + 2; k++)
                if (!is_even && i * SIDE + block_column(k) < width)
                    to[i * SIDE + block_column(k)] =
                        sums[i].numbers[k] * factor;
}

/* How a kernel is launched for heads of up to so many columns. */
struct shape {
    int columns, rows; /* of a panel; a thread block's own */
    size_t shared_bytes;
    void (*kernel)(struct heads it, struct panels panels);
};

static inline void launch_shape(const char *operation, const struct heads &it,
                                const struct panels &panels,
                                const struct shape (&shapes)[3])
{
    for (const struct shape &shape : shapes)
        if (shape.columns == panels.columns)
            launch({operation,
                    dim3((unsigned)((it.length + shape.rows - 1) / shape.rows *
                                    it.heads * it.sequences)),
                    dim3(HEAD_THREADS), shape.shared_bytes},
                   shape.kernel, it, panels);
}

#endif
