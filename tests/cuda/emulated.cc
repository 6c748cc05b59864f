/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/cuda/cuda_runtime.h"

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif

/* A fiber leaves the processor at a barrier, and a scheduler takes it up again
 * when all that have to be there are. */

static const size_t STACK_BYTES = 256 * 1024;
static const unsigned SHARED_BYTES = 96 * 1024;

enum state { READY, AT_WARP_BARRIER, AT_BLOCK_BARRIER, DONE };

struct fiber {
    ucontext_t context;
    void *stack, *fake_stack;
    enum state state;
    unsigned exchanges; /* with others of its warp */
    dim3 thread;
};

dim3 gridDim, blockDim, blockIdx, threadIdx;
alignas(16) thread_local float shared[SHARED_BYTES / sizeof(float)];

static std::vector<std::function<void()>> stream;
static fiber fibers[1024];        /* their stacks stay */
static uint64_t slots[2][32][32]; /* of each warp, in turns */
static const std::function<void()> *running_kernel;
static ucontext_t scheduler;
static void *scheduler_fake_stack;
static const void *scheduler_stack;
static size_t scheduler_stack_bytes;
static size_t current;
static bool is_reversed;

static void finish_switch(void *fake_stack, const void **stack, size_t *bytes)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fake_stack, stack, bytes);
#endif
    (void)fake_stack;
    (void)stack;
    (void)bytes;
}

static void start_switch(void **fake_stack, const void *stack, size_t bytes)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
#endif
    (void)fake_stack;
    (void)stack;
    (void)bytes;
}

static void leave(enum state state)
{
    fiber &it = fibers[current];

    it.state = state;
    start_switch(&it.fake_stack, scheduler_stack, scheduler_stack_bytes);
    swapcontext(&it.context, &scheduler);
    finish_switch(it.fake_stack, &scheduler_stack, &scheduler_stack_bytes);
}

static void fiber_main()
{
    finish_switch(nullptr, &scheduler_stack, &scheduler_stack_bytes);
    for (;;) {
        (*running_kernel)();
        leave(DONE);
    }
}

static void resume(size_t index)
{
    fiber &it = fibers[index];

    current = index;
    threadIdx = it.thread;
    start_switch(&scheduler_fake_stack, it.stack, STACK_BYTES);
    swapcontext(&scheduler, &it.context);
    finish_switch(scheduler_fake_stack, nullptr, nullptr);
}

void __syncthreads()
{
    leave(AT_BLOCK_BARRIER);
}

/* Who writes to these slots again has been at the barrier of the others, and
 * so have all who read these. */
const uint64_t *emulated_exchange(uint64_t bits)
{
    fiber &it = fibers[current];
    uint64_t *mine = slots[it.exchanges++ % 2][current / 32];

    mine[current % 32] = bits;
    leave(AT_WARP_BARRIER);
    return mine;
}

static void make_fiber(fiber &it)
{
    it.stack = malloc(STACK_BYTES);
    getcontext(&it.context);
    it.context.uc_stack.ss_sp = it.stack;
    it.context.uc_stack.ss_size = STACK_BYTES;
    it.context.uc_link = nullptr;
    it.fake_stack = nullptr;
    makecontext(&it.context, fiber_main, 0);
}

/* Each begins with the next block when it has done with one. */
static void begin_fiber(size_t index)
{
    fiber &it = fibers[index];

    if (it.stack == nullptr)
        make_fiber(it);
    it.state = READY;
    it.exchanges = 0;
    it.thread = dim3((unsigned)index % blockDim.x,
                     (unsigned)index / blockDim.x % blockDim.y,
                     (unsigned)index / blockDim.x / blockDim.y);
}

/* Whether all from `first` to `end` are there; then they may go on. */
static bool release(size_t first, size_t end, enum state state)
{
    for (size_t i = first; i < end; i++)
        if (fibers[i].state != state)
            return false;
    for (size_t i = first; i < end; i++)
        fibers[i].state = READY;
    return true;
}

static bool release_some(size_t count)
{
    bool any = release(0, count, AT_BLOCK_BARRIER);

    for (size_t i = 0; i < count; i += 32)
        any |= release(i, i + 32 < count ? i + 32 : count, AT_WARP_BARRIER);
    return any;
}

static bool all_done(size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fibers[i].state != DONE)
            return false;
    return true;
}

static void run_block(size_t count)
{
    for (size_t i = 0; i < count; i++)
        begin_fiber(i);
    do {
        for (size_t i = 0; i < count; i++) {
            size_t next = is_reversed ? count - 1 - i : i;

            if (fibers[next].state == READY)
                resume(next);
        }
    } while (release_some(count));
    if (all_done(count))
        return;
    fprintf(stderr, "block %u: a barrier that not all threads reach\n",
            blockIdx.x);
    abort();
}

/* What a block may use of it, with nothing of another block's in it. */
static void set_shared(size_t bytes)
{
    if (bytes > SHARED_BYTES) {
        fprintf(stderr, "%zu bytes of shared memory\n", bytes);
        abort();
    }
    ASAN_UNPOISON_MEMORY_REGION(shared, SHARED_BYTES);
    memset(shared, 0xff, SHARED_BYTES);
    ASAN_POISON_MEMORY_REGION((char *)shared + bytes, SHARED_BYTES - bytes);
}

void emulated_run(const cudaLaunchConfig_t &config,
                  const std::function<void()> &kernel)
{
    const size_t blocks = (size_t)config.gridDim.x * config.gridDim.y;

    running_kernel = &kernel;
    gridDim = config.gridDim;
    blockDim = config.blockDim;
    for (size_t i = 0; i < blocks; i++) {
        size_t block = is_reversed ? blocks - 1 - i : i;

        blockIdx =
            dim3((unsigned)(block % gridDim.x), (unsigned)(block / gridDim.x));
        set_shared(config.dynamicSmemBytes);
        run_block((size_t)blockDim.x * blockDim.y * blockDim.z);
    }
}

void emulated_put(std::function<void()> work)
{
    stream.push_back(std::move(work));
}

void emulated_reverse(bool reversed)
{
    is_reversed = reversed;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    for (size_t i = 0; i < stream.size(); i++)
        stream[i]();
    stream.clear();
    return cudaSuccess;
}

cudaError_t emulated_allocate(void **memory, size_t bytes)
{
    *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (*memory == nullptr)
        return cudaErrorMemoryAllocation;
    memset(*memory, 0xff, bytes);
    ASAN_POISON_MEMORY_REGION((char *)*memory + bytes,
                              (bytes + 63) / 64 * 64 - bytes);
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    cudaStreamSynchronize(nullptr);
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t)
{
    emulated_put([=] { memset(to, value, bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind, cudaStream_t)
{
    emulated_put([=] { memcpy(to, from, bytes); });
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t status)
{
    return status == cudaSuccess ? "no error" : "an error";
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int)
{
    *value = 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *to, unsigned)
{
    *to = nullptr;
    return cudaSuccess;
}
