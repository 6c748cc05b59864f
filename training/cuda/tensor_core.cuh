/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_TENSOR_CORE_CUH
#define SMTUNE_TRAINING_CUDA_TENSOR_CORE_CUH

#include <cuda_bf16.h>

/*
 * Instructions of compute capability 8 and later, each in one function: tensor
 * cores (ldmatrix, mma.sync), copies to shared memory that a thread does not
 * wait for (cp.async), and 2^x. Factors are 16 x 16 numbers of bf16, sums 16 x
 * 16 of float; a warp has each of them together. The layouts are those of the
 * PTX manual, "Matrix fragments for mma.m16n8k16". tests/cuda has the same
 * functions for the processor.
 */

typedef __nv_bfloat16 bf16;

static constexpr int SIDE = 16;
static constexpr int LANE_NUMBERS = SIDE * SIDE / 32; /* of a block */

struct left_factor {
    unsigned pairs[4];
};

struct right_factor {
    unsigned pairs[4]; /* columns 0 .. 7, then 8 .. 15 */
};

struct block {
    float numbers[LANE_NUMBERS];
};

/* Where this lane's number i of a block is. Numbers 2j and 2j + 1 are
 * neighbours in a row, and numbers 4j to 4j + 3 in rows r, r, r + 8, r + 8. */
static __device__ inline int block_row(int i)
{
    return (int)threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
}

static __device__ inline int block_column(int i)
{
    return i / 4 * 8 + (int)threadIdx.x % 4 * 2 + i % 2;
}

static __device__ inline unsigned shared_address(const void *at)
{
    return (unsigned)__cvta_generic_to_shared(at);
}

/* Rows in shared memory begin at multiples of 16 bytes. */
static __device__ inline void load_matrices(const bf16 *at, unsigned pairs[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
                 "[%4];"
                 : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]),
                   "=r"(pairs[3])
                 : "r"(shared_address(at))
                 : "memory");
}

static __device__ inline void load_transposed(const bf16 *at, unsigned pairs[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, "
                 "%3}, [%4];"
                 : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]),
                   "=r"(pairs[3])
                 : "r"(shared_address(at))
                 : "memory");
}

/* The left factor a of a b, from [row][inner]. */
static __device__ inline void load_left(const bf16 *from, int stride,
                                        struct left_factor *to)
{
    const int lane = (int)threadIdx.x % 32;

    load_matrices(from + lane % 16 * stride + lane / 16 * 8, to->pairs);
}

/* The right factor b of a b, from [column][inner]. */
static __device__ inline void load_right(const bf16 *from, int stride,
                                         struct right_factor *to)
{
    const int lane = (int)threadIdx.x % 32;

    load_matrices(from + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8,
                  to->pairs);
}

/* The right factor b of a b, from [inner][column]. */
static __device__ inline void load_right_rows(const bf16 *from, int stride,
                                              struct right_factor *to)
{
    const int lane = (int)threadIdx.x % 32;

    load_transposed(from + lane % 16 * stride + lane / 16 * 8, to->pairs);
}

static __device__ inline unsigned round_pair(float first, float second)
{
    unsigned pair;

    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

/* A block as the left factor of the next product, rounded to the nearest. */
static __device__ inline void round_block(const struct block &from,
                                          struct left_factor *to)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        to->pairs[i] = round_pair(from.numbers[2 * i], from.numbers[2 * i + 1]);
}

static __device__ inline void add_half(const struct left_factor &a,
                                       const unsigned b[2], float sums[4])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a.pairs[0]), "r"(a.pairs[1]), "r"(a.pairs[2]), "r"(a.pairs[3]),
          "r"(b[0]), "r"(b[1]));
}

/* sums += a b */
static __device__ inline void multiply_add(const struct left_factor &a,
                                           const struct right_factor &b,
                                           struct block *sums)
{
    add_half(a, b.pairs, sums->numbers);
    add_half(a, b.pairs + 2, sums->numbers + 4);
}

/* Starts to copy BYTES (8 or 16) of global memory to shared memory, or zeroes
 * where there are none to be read. Both addresses are multiples of BYTES. */
template <int BYTES>
static __device__ inline void copy_async(void *to, const void *from,
                                         bool is_there)
{
    const int bytes = is_there ? BYTES : 0;

    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                         shared_address(to)),
                     "l"(from), "r"(bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(
                         shared_address(to)),
                     "l"(from), "n"(BYTES), "r"(bytes)
                     : "memory");
}

/* Until all copies that this thread has started are done. */
static __device__ inline void await_copies(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* 2^x, off by 2^-22 of it at most. */
static __device__ inline float fast_exp2(float x)
{
    float power;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

#endif
