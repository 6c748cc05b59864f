/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/cuda/cuda_runtime.h"

#include <iterator>
#include <map>
#include <mutex>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sched.h>
#include <set>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
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
alignas(128) thread_local float shared[SHARED_BYTES / sizeof(float)];

static std::mutex lock; /* of streams, events and memory; while work runs */
static std::map<uintptr_t, size_t> pieces;
static struct emulated_pool {
    std::multimap<size_t, void *> pieces; /* by size: those that are free */

    ~emulated_pool()
    {
        for (const auto &piece : pieces)
            free(piece.second);
    }
} pool;
static std::set<int> contexts; /* the devices on which there is one */
static thread_local int own_device;
static thread_local cudaGraph_t own_capture; /* that of this thread, if any */
static fiber fibers[1024];                   /* their stacks stay */
static uint64_t slots[2][32][32];            /* of each warp, in turns */
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
    /* Else the sanitizer clears its notes of the whole stack at each switch. */
    it.context.uc_stack.ss_size = 0;
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

/* With the first thing of this thread that needs one on its device. */
static void need_context()
{
    const std::lock_guard<std::mutex> guard(lock);
    const char *path = getenv("EMULATED_CONTEXTS");
    FILE *log;

    if (!contexts.insert(own_device).second || path == nullptr)
        return;
    log = fopen(path, "a");
    if (log == nullptr)
        abort();
    fprintf(log, "%d %d\n", (int)getpid(), own_device);
    fclose(log);
}

bool emulated_is_current(cudaStream_t stream)
{
    need_context();
    return stream->device == own_device;
}

void emulated_put(cudaStream_t stream, emulated_work work)
{
    const std::lock_guard<std::mutex> guard(lock);

    if (stream->capture != nullptr) {
        stream->capture->work.push_back(std::move(work));
        return;
    }
    stream->work.push_back(std::move(work));
    stream->asked++;
}

/* What a thread may not do while it captures: that is worth nothing then. */
static bool is_capturing()
{
    if (own_capture != nullptr)
        own_capture->is_invalid = true;
    return own_capture != nullptr;
}

/* Whether the stream has come to the place, with all that could be done now. */
static bool run_to(cudaStream_t stream, uint64_t place)
{
    const std::lock_guard<std::mutex> guard(lock);

    while (stream->done < place && stream->work.front()()) {
        stream->work.pop_front();
        stream->done++;
    }
    return stream->done >= place;
}

static uint64_t place_of(cudaStream_t stream)
{
    const std::lock_guard<std::mutex> guard(lock);

    return stream->asked;
}

void emulated_reverse(bool reversed)
{
    is_reversed = reversed;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    const uint64_t place = place_of(stream);

    need_context();
    if (is_capturing())
        return cudaErrorStreamCaptureUnsupported;
    while (!run_to(stream, place))
        sched_yield();
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *to, unsigned)
{
    need_context();
    *to = new emulated_stream{own_device, {}, 0, 0, nullptr};
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *to, unsigned)
{
    need_context();
    *to = new emulated_event{own_device, nullptr, 0};
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    need_context();
    if (event->device != stream->device)
        return cudaErrorInvalidResourceHandle;

    const std::lock_guard<std::mutex> guard(lock);

    if (is_capturing())
        return cudaErrorStreamCaptureUnsupported;
    *event = {event->device, stream, stream->asked};
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    emulated_event now;

    need_context();
    {
        const std::lock_guard<std::mutex> guard(lock);

        now = *event;
    }
    return now.stream == nullptr || run_to(now.stream, now.place)
               ? cudaSuccess
               : cudaErrorNotReady;
}

/* Those of other devices, too. */
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    while (cudaEventQuery(event) == cudaErrorNotReady)
        sched_yield();
    return cudaSuccess;
}

/* EMULATED_GRAPHS=none is a device that cannot; else it names a file for a line
 * a launch. */
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    const char *said = getenv("EMULATED_GRAPHS");

    if (is_capturing() || (said != nullptr && strcmp(said, "none") == 0))
        return cudaErrorStreamCaptureUnsupported;
    stream->capture = own_capture = new emulated_graph{{}, {}, false};
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = stream->capture;
    stream->capture = own_capture = nullptr;
    if (*graph == nullptr)
        return cudaErrorInvalidValue;
    if (!(*graph)->is_invalid)
        return cudaSuccess;
    delete *graph;
    *graph = nullptr;
    return cudaErrorStreamCaptureInvalidated;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *to, cudaGraph_t graph,
                                 unsigned long long)
{
    *to = new emulated_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    const char *said = getenv("EMULATED_GRAPHS");
    FILE *log;

    if (!emulated_is_current(stream))
        return cudaErrorInvalidResourceHandle;
    log = said != nullptr ? fopen(said, "a") : nullptr;
    for (const emulated_work &each : graph->work)
        emulated_put(stream, each);
    if (log == nullptr)
        return cudaSuccess;
    fprintf(log, "launch of %zu\n", graph->work.size());
    fclose(log);
    return cudaSuccess;
}

static cudaError_t get_memory(void **memory, size_t bytes)
{
    need_context();

    const std::lock_guard<std::mutex> guard(lock);

    *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (*memory == nullptr)
        return cudaErrorMemoryAllocation;
    memset(*memory, 0xff, bytes);
    ASAN_POISON_MEMORY_REGION((char *)*memory + bytes,
                              (bytes + 63) / 64 * 64 - bytes);
    pieces[(uintptr_t)*memory] = bytes;
    return cudaSuccess;
}

cudaError_t emulated_allocate(void **memory, size_t bytes)
{
    return is_capturing() ? cudaErrorStreamCaptureUnsupported
                          : get_memory(memory, bytes);
}

/* Nothing is under way there: who used it has waited. */
cudaError_t cudaFree(void *memory)
{
    need_context();

    const std::lock_guard<std::mutex> guard(lock);

    pieces.erase((uintptr_t)memory);
    free(memory);
    return cudaSuccess;
}

/* The host asks in the order in which the one stream works. A graph has its
 * own. */
cudaError_t emulated_allocate_async(void **memory, size_t bytes,
                                    cudaStream_t stream)
{
    if (!emulated_is_current(stream))
        return cudaErrorInvalidResourceHandle;
    if (own_capture != nullptr) {
        cudaError_t status = get_memory(memory, bytes);

        own_capture->memory.emplace_back(*memory, cudaFree);
        return status;
    }
    {
        const std::lock_guard<std::mutex> guard(lock);
        auto piece = pool.pieces.find(bytes);

        if (piece != pool.pieces.end()) {
            *memory = piece->second;
            pool.pieces.erase(piece);
            return cudaSuccess;
        }
    }
    return get_memory(memory, bytes);
}

/* Who looks there again finds NaN. */
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream)
{
    size_t bytes;

    if (!emulated_is_current(stream))
        return cudaErrorInvalidResourceHandle;
    {
        const std::lock_guard<std::mutex> guard(lock);

        bytes = pieces.at((uintptr_t)memory);
        if (own_capture == nullptr)
            pool.pieces.emplace(bytes, memory);
    }
    return cudaMemsetAsync(memory, 0xff, bytes, stream);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *it, int)
{
    *it = &pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
{
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *it,
                                     const void *data)
{
    need_context();

    const std::lock_guard<std::mutex> guard(lock);
    auto after = pieces.upper_bound((uintptr_t)data);

    it->type = cudaMemoryTypeUnregistered;
    if (after != pieces.begin()) {
        const auto &piece = *std::prev(after);

        if ((uintptr_t)data < piece.first + piece.second)
            it->type = cudaMemoryTypeManaged;
    }
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream)
{
    if (!emulated_is_current(stream))
        return cudaErrorInvalidResourceHandle;
    emulated_put(stream, [=] {
        memset(to, value, bytes);
        return true;
    });
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind, cudaStream_t stream)
{
    need_context();
    emulated_put(stream, [=] {
        memcpy(to, from, bytes);
        return true;
    });
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t status)
{
    if (status == cudaErrorInvalidResourceHandle)
        return "invalid resource handle";
    return status == cudaSuccess ? "no error" : "an error";
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

/* Eight, if no other number is said. */
cudaError_t cudaGetDeviceCount(int *count)
{
    const char *said = getenv("EMULATED_DEVICES");

    *count = said != nullptr ? (int)strtol(said, nullptr, 10) : 8;
    return cudaSuccess;
}

/* Of compute capability 8, if no other is said. */
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr what, int)
{
    const char *said = getenv("EMULATED_CAPABILITY");
    const int capability = said != nullptr ? (int)strtol(said, nullptr, 10) : 8;

    *value = what == cudaDevAttrComputeCapabilityMajor ? capability : 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    int count = 0;

    cudaGetDeviceCount(&count);
    if (device < 0 || device >= count)
        return cudaErrorInvalidDevice;
    own_device = device;
    need_context();
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = own_device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *name, int bytes, int device)
{
    snprintf(name, (size_t)bytes, "0000:%02x:00.0", device);
    return cudaSuccess;
}
