/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/device.cuh"

#include <atomic>
#include <mutex>
#include <stdarg.h>
#include <stdio.h>

#include "training/cuda/gemm.cuh"
#include "training/cuda/nccl.cuh"
#include "training/cuda/ops_cuda.cuh"
#include "training/cuda/recording.cuh"

/*
 * Numbers live in managed memory: the device's pages move to the processor when
 * that touches them, and back. So checkpoints, checksums, sums over ranks and
 * first values are the processor's own code, unchanged, and what it does not
 * touch in a step stays where it is. It needs a device that allows both sides
 * at once, as gradients are sent while the pass still runs.
 */

static constexpr int MARKS = 64;
static constexpr int BF16_MAJOR = 8; /* compute capability */

static struct device {
    int index;
    cudaStream_t stream;
    float *scratch;
    struct totals *partial; /* [PENDING_MAX][TOTALS_MAX] */
    struct pending pending;
    cudaEvent_t marks[MARKS]; /* in turns: who comes late waits longer */
    uint64_t mark_count;
    std::atomic<const char *> operation; /* the last one */
    std::mutex lock;                     /* of what is below */
    struct err failure;
    bool is_recording, has_misrecorded;
} device;

cudaStream_t device_stream(void)
{
    return device.stream;
}

float *device_scratch(void)
{
    return device.scratch;
}

void device_fail(const char *operation, const char *format, ...)
{
    char text[ERR_TEXT_MAX / 2];
    va_list args;
    const std::lock_guard<std::mutex> guard(device.lock);

    device.has_misrecorded = device.is_recording;
    if (device.is_recording || device.failure.kind != ERR_NONE)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    err_set(&device.failure, ERR_FAILED, "cuda, %s: %s", operation, text);
}

void device_check(const char *operation, cudaError_t status)
{
    device.operation = operation;
    if (status != cudaSuccess)
        device_fail(operation, "%s", cudaGetErrorString(status));
}

struct totals *device_totals(const char *operation, int count,
                             struct totals *to)
{
    struct pending *pending = &device.pending;
    struct totals *from = device.partial + pending->batches * TOTALS_MAX;

    if (pending->batches == PENDING_MAX) {
        device_fail(operation, "more than %d batches at once", PENDING_MAX);
        return device.partial;
    }
    pending->each[pending->batches++] = {from, to, count};
    return from;
}

static void add_totals(void)
{
    for (int i = 0; i < device.pending.batches; i++) {
        const struct pending_totals *it = &device.pending.each[i];

        for (int j = 0; j < it->count; j++) {
            it->to->loss += it->from[j].loss;
            it->to->errors += it->from[j].errors;
        }
    }
}

void device_begin_recording(void)
{
    const std::lock_guard<std::mutex> guard(device.lock);

    device.is_recording = true;
}

bool device_end_recording(void)
{
    const std::lock_guard<std::mutex> guard(device.lock);
    const bool is_whole = !device.has_misrecorded;

    device.is_recording = device.has_misrecorded = false;
    return is_whole;
}

struct pending *device_pending(void)
{
    return &device.pending;
}

static int tell_failure(struct err *err)
{
    const std::lock_guard<std::mutex> guard(device.lock);

    if (device.failure.kind == ERR_NONE)
        return 0;
    if (err != NULL)
        *err = device.failure;
    return -1;
}

static int cuda_synchronize(struct err *err)
{
    cudaError_t status = cudaStreamSynchronize(device.stream);

    if (status != cudaSuccess)
        device_fail(device.operation.load() != NULL ? device.operation.load()
                                                    : "start",
                    "this operation or an earlier one failed: %s (to find "
                    "which, set CUDA_LAUNCH_BLOCKING=1 and --no-cuda-graphs)",
                    cudaGetErrorString(status));
    else
        add_totals();
    device.pending.batches = 0;
    return tell_failure(err);
}

static uint64_t cuda_mark(void)
{
    uint64_t mark = device.mark_count++;

    device_check("mark",
                 cudaEventRecord(device.marks[mark % MARKS], device.stream));
    return mark;
}

/* A failure is told by the next synchronize. */
static void cuda_await(uint64_t mark)
{
    device_check("mark", cudaEventSynchronize(device.marks[mark % MARKS]));
}

static void *cuda_allocate(size_t bytes, struct err *err)
{
    void *memory = NULL;
    cudaError_t status =
        cudaMallocManaged(&memory, bytes > 0 ? bytes : 1, cudaMemAttachGlobal);

    if (status == cudaSuccess)
        status = cudaMemsetAsync(memory, 0, bytes, device.stream);
    if (status == cudaSuccess)
        status = cudaStreamSynchronize(device.stream);
    if (status == cudaSuccess)
        return memory;
    cudaFree(memory);
    err_set(err, ERR_FAILED, "cuda cannot allocate %zu MiB: %s", bytes >> 20,
            cudaGetErrorString(status));
    return NULL;
}

static void cuda_release(void *memory)
{
    cudaFree(memory);
}

/* Pages of managed memory come and go by themselves. */
static void cuda_discard(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}

static int count_devices(int *count, struct err *err)
{
    int driver = 0;
    cudaError_t status = cudaDriverGetVersion(&driver);

    if (status == cudaSuccess && driver == 0)
        return err_set(err, ERR_FAILED,
                       "no NVIDIA driver on this machine: install one, or use "
                       "--backend cpu");
    if (status == cudaSuccess)
        status = cudaGetDeviceCount(count);
    if (status != cudaSuccess || *count == 0)
        return err_set(err, ERR_FAILED,
                       "no usable GPU: %s; check nvidia-smi and "
                       "CUDA_VISIBLE_DEVICES, or use --backend cpu",
                       status != cudaSuccess ? cudaGetErrorString(status)
                                             : "none is visible");
    return 0;
}

static int check_device(int index, struct err *err)
{
    int concurrent = 0;

    cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess,
                           index);
    return concurrent != 0 ? 0
                           : err_set(err, ERR_FAILED,
                                     "GPU %d does not share memory with the "
                                     "CPU (concurrentManagedAccess is 0)",
                                     index);
}

static int cuda_start(int local_rank, struct err *err)
{
    int count = 0;
    cudaError_t status;

    if (count_devices(&count, err) != 0)
        return -1;
    device.index = local_rank % count;
    if (check_device(device.index, err) != 0)
        return -1;
    status = cudaSetDevice(device.index);
    if (status == cudaSuccess)
        status =
            cudaStreamCreateWithFlags(&device.stream, cudaStreamNonBlocking);
    if (status == cudaSuccess)
        status = cudaMalloc(&device.scratch, SCRATCH_NUMBERS * sizeof(float));
    if (status == cudaSuccess)
        status = cudaMallocManaged(
            &device.partial, PENDING_MAX * TOTALS_MAX * sizeof(*device.partial),
            cudaMemAttachGlobal);
    for (int i = 0; i < MARKS && status == cudaSuccess; i++)
        status =
            cudaEventCreateWithFlags(&device.marks[i], cudaEventDisableTiming);
    if (status != cudaSuccess)
        return err_set(err, ERR_FAILED, "cannot use GPU %d: %s", device.index,
                       cudaGetErrorString(status));
    return gemm_start(err);
}

/* CUDA gives a new thread the first GPU. There it would make a context of some
 * 500 MB, and could start nothing on this device's stream. */
static void cuda_enter_thread(void)
{
    const cudaError_t status = cudaSetDevice(device.index);

    if (status != cudaSuccess)
        device_fail("start", "a thread cannot use GPU %d: %s", device.index,
                    cudaGetErrorString(status));
}

/* Copies of operands come and go with every product, so what is free of their
 * memory stays this process's. */
static int keep_memory(int index, struct err *err)
{
    uint64_t all = UINT64_MAX;
    cudaMemPool_t pool;
    cudaError_t status = cudaDeviceGetDefaultMemPool(&pool, index);

    if (status == cudaSuccess)
        status = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
                                         &all);
    return status == cudaSuccess
               ? 0
               : err_set(err, ERR_FAILED, "GPU %d has no memory pool: %s",
                         index, cudaGetErrorString(status));
}

static int start_bf16(int local_rank, struct err *err)
{
    int major = 0;

    if (cuda_start(local_rank, err) != 0)
        return -1;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor,
                           device.index);
    if (major < BF16_MAJOR)
        return err_set(err, ERR_FAILED,
                       "GPU %d does not support bf16: its compute capability "
                       "is %d, not %d or later; use --precision fp32",
                       device.index, major, BF16_MAJOR);
    return keep_memory(device.index, err);
}

static constexpr struct backend backend_of(const struct ops *ops,
                                           int (*start)(int, struct err *))
{
    return {
        .bytes = sizeof(struct backend),
        .ops_bytes = sizeof(struct ops),
        .name = "cuda",
        .ops = ops,
        .takes_any_memory = false,
        .start = start,
        .enter_thread = cuda_enter_thread,
        .allocate = cuda_allocate,
        .release = cuda_release,
        .discard = cuda_discard,
        .synchronize = cuda_synchronize,
        .mark = cuda_mark,
        .await = cuda_await,
        .nccl = &nccl_calls,
        .recording = &recording_calls,
    };
}

/* By enum precision. */
extern "C" const struct backend smtrain_backends[] = {
    backend_of(&ops_cuda, cuda_start), backend_of(&ops_cuda_bf16, start_bf16)};
