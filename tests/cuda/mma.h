/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_CUDA_MMA_H
#define SMTUNE_TESTS_CUDA_MMA_H

#include <stdio.h>
#include <stdlib.h>
#include <type_traits>

#include "tests/cuda/cuda_bf16.h"
#include "tests/cuda/cuda_runtime.h"

/*
 * As much of tensor cores as training/cuda uses. Each lane reads a whole matrix
 * when it gets there, so that it finds out where another has not written yet
 * and no barrier is between them; it adds up and writes its part alone.
 */
namespace nvcuda::wmma
{

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major };

static constexpr int EMULATED_SIDE = 16;

template <typename Use, int, int, int, typename Number, typename Layout = void>
struct fragment {
    typedef Layout layout;
    float numbers[EMULATED_SIDE][EMULATED_SIDE]; /* row by row */
};

/* CUDA wants addresses of 32 bytes, and rows of 16. */
template <typename Number>
static inline void emulated_check(const Number *at, unsigned stride)
{
    if ((uintptr_t)at % 32 == 0 && stride * sizeof(Number) % 16 == 0)
        return;
    fprintf(stderr, "wmma: a matrix at %p, rows %u apart\n", (const void *)at,
            stride);
    abort();
}

template <typename Fragment> void fill_fragment(Fragment &to, float value)
{
    for (auto &row : to.numbers)
        for (float &number : row)
            number = value;
}

template <typename Fragment, typename Number>
void load_matrix_sync(Fragment &to, const Number *from, unsigned stride)
{
    const bool is_in_rows =
        std::is_same<typename Fragment::layout, row_major>::value;
    const size_t down = is_in_rows ? stride : 1,
                 right = is_in_rows ? 1 : stride;

    emulated_check(from, stride);
    for (size_t row = 0; row < EMULATED_SIDE; row++)
        for (size_t column = 0; column < EMULATED_SIDE; column++)
            to.numbers[row][column] = (float)from[row * down + column * right];
}

template <typename Sum, typename Left, typename Right>
void mma_sync(Sum &to, const Left &a, const Right &b, const Sum &c)
{
    for (unsigned i = threadIdx.x % 32; i < EMULATED_SIDE * EMULATED_SIDE;
         i += 32) {
        const unsigned row = i / EMULATED_SIDE, column = i % EMULATED_SIDE;
        float sum = c.numbers[row][column];

        for (int j = 0; j < EMULATED_SIDE; j++)
            sum += a.numbers[row][j] * b.numbers[j][column];
        to.numbers[row][column] = sum;
    }
}

template <typename Sum>
void store_matrix_sync(float *to, const Sum &from, unsigned stride, layout_t)
{
    emulated_check(to, stride);
    for (unsigned i = threadIdx.x % 32; i < EMULATED_SIDE * EMULATED_SIDE;
         i += 32)
        to[i / EMULATED_SIDE * stride + i % EMULATED_SIDE] =
            from.numbers[i / EMULATED_SIDE][i % EMULATED_SIDE];
}

} // namespace nvcuda::wmma

#endif
