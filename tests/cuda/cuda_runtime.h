/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_CUDA_CUDA_RUNTIME_H
#define SMTUNE_TESTS_CUDA_CUDA_RUNTIME_H

#include <deque>
#include <functional>
#include <math.h>
#include <memory>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <vector>

/*
 * As much of CUDA as training/cuda uses, on the processor, so that the kernels
 * are tested where there is no device. Threads of a block are fibers of one
 * thread, which change at barriers alone; what is put on a stream runs when
 * that stream is waited for, and by whoever does. A barrier that some threads
 * never reach ends the program. What is captured is kept with its arguments as
 * they were, and put on a stream as often as its graph is launched.
 *
 * Each thread has a current device, which is the first until it chooses another
 * one. What is asked for on a stream of another device is refused, and what
 * needs a context makes one on the current device: EMULATED_CONTEXTS names a
 * file for a line each, with the process and the device.
 */

/* One thread has all fibers: what is its own is theirs in common. */
#define __shared__ thread_local
#define __global__
#define __device__
#define __launch_bounds__(...)

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};

struct dim3 {
    unsigned x, y, z;

    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1)
        : x(a), y(b), z(c)
    {
    }
};

extern dim3 gridDim, blockDim, blockIdx, threadIdx;

/* Threads and blocks run from the last to the first. */
extern "C" void emulated_reverse(bool is_reversed);

enum cudaError_t {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901
};
enum {
    cudaMemAttachGlobal = 1,
    cudaStreamNonBlocking = 1,
    cudaEventDisableTiming = 2
};
enum cudaDeviceAttr {
    cudaDevAttrConcurrentManagedAccess,
    cudaDevAttrComputeCapabilityMajor
};
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold };
typedef struct emulated_pool *cudaMemPool_t;
enum cudaMemcpyKind { cudaMemcpyDefault };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
    cudaMemoryType type;
};

/* Work gives false where it has to be tried again later. */
typedef std::function<bool()> emulated_work;
struct emulated_graph {
    std::vector<emulated_work> work;
    std::vector<std::shared_ptr<void>> memory; /* asked for on the way */
    bool is_invalid; /* something else was asked for, too */
};
typedef struct emulated_graph *cudaGraph_t, *cudaGraphExec_t;
struct emulated_stream {
    int device;
    std::deque<emulated_work> work;
    uint64_t asked, done;
    cudaGraph_t capture; /* or NULL */
};
typedef struct emulated_stream *cudaStream_t;
struct emulated_event {
    int device;
    cudaStream_t stream; /* where it was recorded, or NULL */
    uint64_t place;
};
typedef struct emulated_event *cudaEvent_t;
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
};

const char *cudaGetErrorString(cudaError_t status);
cudaError_t cudaGetLastError();
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr what, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceGetPCIBusId(char *name, int bytes, int device);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *it,
                                     const void *data);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *to, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t emulated_allocate(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t emulated_allocate_async(void **memory, size_t bytes,
                                    cudaStream_t stream);
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what,
                                    void *value);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream);

template <typename T> cudaError_t cudaMalloc(T **memory, size_t bytes)
{
    return emulated_allocate((void **)memory, bytes);
}

template <typename T>
cudaError_t cudaMallocManaged(T **memory, size_t bytes, unsigned)
{
    return emulated_allocate((void **)memory, bytes);
}

template <typename T>
cudaError_t cudaMallocAsync(T **memory, size_t bytes, cudaStream_t stream)
{
    return emulated_allocate_async((void **)memory, bytes, stream);
}

template <typename T>
cudaError_t cudaFuncSetAttribute(T *, cudaFuncAttribute, int)
{
    return cudaSuccess;
}

/* Whether this thread may put something on it. */
bool emulated_is_current(cudaStream_t stream);
/* On the stream, as whatever the device does. */
void emulated_put(cudaStream_t stream, emulated_work work);
void emulated_run(const cudaLaunchConfig_t &config,
                  const std::function<void()> &kernel);

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                               void (*kernel)(Parameters...),
                               Arguments &&...arguments)
{
    const cudaLaunchConfig_t how = *config;
    const dim3 grid = how.gridDim, block = how.blockDim;

    if (block.x * block.y * block.z > 1024 || grid.x > 2147483647U ||
        grid.x == 0 || grid.y - 1 > 65534 || grid.z != 1)
        return cudaErrorInvalidConfiguration;
    if (!emulated_is_current(how.stream))
        return cudaErrorInvalidResourceHandle;
    emulated_put(how.stream, [=] {
        emulated_run(how, [=] { kernel(arguments...); });
        return true;
    });
    return cudaSuccess;
}

void __syncthreads();
/* What all lanes of this warp have given, by lane. */
const uint64_t *emulated_exchange(uint64_t bits);

template <typename T> T __shfl_sync(unsigned, T value, int lane)
{
    uint64_t bits = 0;
    T result;

    memcpy(&bits, &value, sizeof(value));
    memcpy(&result, &emulated_exchange(bits)[lane], sizeof(result));
    return result;
}

template <typename T> T __shfl_xor_sync(unsigned mask, T value, int lanes)
{
    return __shfl_sync(mask, value, (int)(threadIdx.x % 32) ^ lanes);
}

static inline void __syncwarp()
{
    emulated_exchange(0);
}

static inline float __fdividef(float a, float b)
{
    return a / b;
}

#endif
