/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_CUDA_TENSOR_CORE_CUH
#define SMTUNE_TESTS_CUDA_TENSOR_CORE_CUH

#include <stdio.h>
#include <stdlib.h>

#include "tests/cuda/cuda_bf16.h"
#include "tests/cuda/cuda_runtime.h"

/*
 * training/cuda/tensor_core.cuh on the processor. Each lane reads whole
 * factors at once, so a test fails where another lane has not written yet and
 * no barrier is between them. A copy arrives when its thread waits for it, not
 * before.
 */

typedef __nv_bfloat16 bf16;

static constexpr int SIDE = 16;
static constexpr int LANE_NUMBERS = SIDE * SIDE / 32;

struct left_factor {
    float numbers[SIDE][SIDE]; /* [row][inner] */
};

struct right_factor {
    float numbers[SIDE][SIDE]; /* [column][inner] */
};

struct block {
    float numbers[LANE_NUMBERS];
};

static inline int emulated_row(int lane, int i)
{
    return lane / 4 + i / 2 % 2 * 8;
}

static inline int emulated_column(int lane, int i)
{
    return i / 4 * 8 + lane % 4 * 2 + i % 2;
}

static inline int block_row(int i)
{
    return emulated_row((int)threadIdx.x % 32, i);
}

static inline int block_column(int i)
{
    return emulated_column((int)threadIdx.x % 32, i);
}

static inline void emulated_aligned(const void *at, uintptr_t bytes)
{
    if ((uintptr_t)at % bytes == 0)
        return;
    fprintf(stderr, "%p is no multiple of %zu bytes\n", at, (size_t)bytes);
    abort();
}

static inline void emulated_load(const bf16 *from, int down, int right,
                                 float (&to)[SIDE][SIDE])
{
    emulated_aligned(from, 16);
    emulated_aligned(from + (down > right ? down : right), 16);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            to[i][j] = (float)from[i * down + j * right];
}

static inline void load_left(const bf16 *from, int stride,
                             struct left_factor *to)
{
    emulated_load(from, stride, 1, to->numbers);
}

static inline void load_right(const bf16 *from, int stride,
                              struct right_factor *to)
{
    emulated_load(from, stride, 1, to->numbers);
}

static inline void load_right_rows(const bf16 *from, int stride,
                                   struct right_factor *to)
{
    emulated_load(from, 1, stride, to->numbers);
}

static inline void round_block(const struct block &from, struct left_factor *to)
{
    for (int half = 0; half < LANE_NUMBERS; half += 4) {
        bf16 mine[4], theirs[4];
        uint64_t bits;
        const uint64_t *all;

        for (int i = 0; i < 4; i++)
            mine[i] = bf16(from.numbers[half + i]);
        memcpy(&bits, mine, sizeof(bits));
        all = emulated_exchange(bits);
        for (int lane = 0; lane < 32; lane++) {
            memcpy(theirs, &all[lane], sizeof(theirs));
            for (int i = 0; i < 4; i++)
                to->numbers[emulated_row(lane, half + i)]
                           [emulated_column(lane, half + i)] = (float)theirs[i];
        }
    }
}

static inline void multiply_add(const struct left_factor &a,
                                const struct right_factor &b,
                                struct block *sums)
{
    for (int i = 0; i < LANE_NUMBERS; i++) {
        const float *left = a.numbers[block_row(i)];
        const float *right = b.numbers[block_column(i)];
        float sum = sums->numbers[i];

        for (int j = 0; j < SIDE; j++)
            sum += left[j] * right[j];
        sums->numbers[i] = sum;
    }
}

struct emulated_copy {
    void *to;
    const void *from; /* NULL: zeroes */
    size_t bytes;
};

/* By thread of the block. */
static std::vector<emulated_copy> emulated_copies[1024];

template <int BYTES>
static inline void copy_async(void *to, const void *from, bool is_there)
{
    emulated_aligned(to, BYTES);
    emulated_aligned(from, BYTES);
    emulated_copies[threadIdx.x].push_back(
        {to, is_there ? from : nullptr, BYTES});
}

static inline void await_copies()
{
    for (const emulated_copy &each : emulated_copies[threadIdx.x])
        if (each.from != nullptr)
            memcpy(each.to, each.from, each.bytes);
        else
            memset(each.to, 0, each.bytes);
    emulated_copies[threadIdx.x].clear();
}

static inline float fast_exp2(float x)
{
    return exp2f(x);
}

#endif
