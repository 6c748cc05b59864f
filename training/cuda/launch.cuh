/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_LAUNCH_CUH
#define SMTUNE_TRAINING_CUDA_LAUNCH_CUH

#include "training/cuda/device.cuh"

/* Starting kernels, and what threads of a block do together. Every sum has one
 * order, so the same numbers come to the same bits; there are no atomics. */

static constexpr int WARP = 32, THREADS = 256, WARPS = THREADS / WARP;

static constexpr float LOG2_E = 1.4426950408889634F; /* e^x = 2^(x LOG2_E) */

struct launch {
    const char *operation;
    dim3 blocks, threads;
    size_t shared_bytes;
};

/* Runs after what was asked for before. */
template <typename... Parameters, typename... Arguments>
static inline void launch(const struct launch &how,
                          void (*kernel)(Parameters...), Arguments... arguments)
{
    cudaLaunchConfig_t config = {};

    config.gridDim = how.blocks;
    config.blockDim = how.threads;
    config.dynamicSmemBytes = how.shared_bytes;
    config.stream = device_stream();
    if (how.shared_bytes > 48 * 1024)
        device_check(how.operation,
                     cudaFuncSetAttribute(
                         kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)how.shared_bytes));
    device_check(how.operation,
                 cudaLaunchKernelEx(&config, kernel, arguments...));
}

/* For kernels that take element after element, `stride` apart. */
static inline struct launch each_of(const char *operation, size_t count)
{
    size_t blocks = (count + THREADS - 1) / THREADS;

    if (blocks > 4096)
        blocks = 4096;
    return {operation, dim3(blocks > 0 ? (unsigned)blocks : 1), dim3(THREADS),
            0};
}

static inline struct launch each_block(const char *operation, size_t blocks)
{
    return {operation, dim3(blocks > 0 ? (unsigned)blocks : 1), dim3(THREADS),
            0};
}

static __device__ inline size_t first_element(void)
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ inline size_t element_stride(void)
{
    return (size_t)gridDim.x * blockDim.x;
}

/* All lanes of a warp get the sum. */
template <typename Number>
static __device__ inline Number warp_sum(Number value)
{
    for (int lane = WARP / 2; lane > 0; lane /= 2)
        value += __shfl_xor_sync(0xffffffffU, value, lane);
    return value;
}

static __device__ inline float warp_max(float value)
{
    for (int lane = WARP / 2; lane > 0; lane /= 2) {
        float other = __shfl_xor_sync(0xffffffffU, value, lane);

        value = other > value ? other : value;
    }
    return value;
}

/* All of a block's THREADS get the sum. The room is for one number a warp, and
 * free again once all threads have met after that. */
static __device__ inline float block_sum(float value, float *room)
{
    float sum = 0;

    value = warp_sum(value);
    if (threadIdx.x % WARP == 0)
        room[threadIdx.x / WARP] = value;
    __syncthreads();
    for (int i = 0; i < WARPS; i++)
        sum += room[i];
    return sum;
}

#endif
