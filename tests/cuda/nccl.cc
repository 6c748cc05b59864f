/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/cuda/cuda_runtime.h"

#include <atomic>
#include <fcntl.h>
#include <memory>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

/*
 * As much of NCCL as training/cuda/nccl.cu uses, between emulated devices: by
 * memory that the ranks of a host share. Nothing blocks; a collective is work
 * on its stream that is tried until all ranks have put their part. Sums are
 * added up in the order of comm.h.
 *
 * EMULATED_NCCL_LOG names a file for a line a call; EMULATED_NCCL_FAULT says
 * what goes wrong: "init", "call 7", and "stall 7" for a call that never ends.
 */

enum status { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID = 4, IN_PROGRESS = 7 };
enum { INT8 = 0, FLOAT = 7, RANKS = 16 };

static const size_t SLOT_BYTES = (size_t)8 << 20;

struct id {
    char bytes[128];
};

struct config {
    size_t bytes;
    unsigned magic, version;
    int blocking;
};

struct meeting {
    std::atomic<int> joined;
    std::atomic<unsigned> put[RANKS]; /* how many calls */
    alignas(64) char slots[2][RANKS][SLOT_BYTES];
};

struct group {
    struct meeting *meeting;
    int rank, size;
    unsigned calls; /* asked for */
};

typedef void (*finish)(const struct group *group, unsigned call, void *to,
                       size_t count, int root);

static const char *slot_of(const struct group *group, unsigned call, int rank)
{
    return group->meeting->slots[call % 2][rank];
}

static void note(const struct group *group, const char *what, size_t count)
{
    const char *path = getenv("EMULATED_NCCL_LOG");
    FILE *file = path != nullptr ? fopen(path, "a") : nullptr;

    if (file == nullptr)
        return;
    fprintf(file, "%d %s %zu\n", group->rank, what, count);
    fclose(file);
}

/* What the fault's number is, where it is of this kind; 0: it is not. */
static unsigned fault_at(const char *kind)
{
    const char *fault = getenv("EMULATED_NCCL_FAULT");
    size_t length = strlen(kind);

    return fault != nullptr && strncmp(fault, kind, length) == 0
               ? (unsigned)strtoul(fault + length, nullptr, 10)
               : 0;
}

static float tree_sum(const struct group *group, unsigned call, size_t at,
                      int first, int count)
{
    int split = 1;

    if (count == 1) {
        float value;

        memcpy(&value, slot_of(group, call, first) + at * sizeof(value),
               sizeof(value));
        return value;
    }
    while (2 * split < count)
        split *= 2;
    return tree_sum(group, call, at, first, split) +
           tree_sum(group, call, at, first + split, count - split);
}

static void sum(const struct group *group, unsigned call, size_t first,
                size_t count, float *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = tree_sum(group, call, first + i, 0, group->size);
}

static void reduce_all(const struct group *group, unsigned call, void *to,
                       size_t count, int)
{
    sum(group, call, 0, count, (float *)to);
}

static void reduce_share(const struct group *group, unsigned call, void *to,
                         size_t count, int)
{
    sum(group, call, (size_t)group->rank * count, count, (float *)to);
}

static void gather(const struct group *group, unsigned call, void *to,
                   size_t count, int)
{
    for (int i = 0; i < group->size; i++)
        memcpy((char *)to + (size_t)i * count, slot_of(group, call, i), count);
}

static void take(const struct group *group, unsigned call, void *to,
                 size_t count, int root)
{
    memcpy(to, slot_of(group, call, root), count);
}

static bool all_have_put(const struct group *group, unsigned call)
{
    for (int i = 0; i < group->size; i++)
        if (group->meeting->put[i] < call)
            return false;
    return true;
}

struct call {
    const char *name;
    const void *from;
    size_t bytes; /* that this rank puts */
    void *to;
    size_t count;
    int root;
    finish end;
};

static int ask(struct group *group, const struct call &it, cudaStream_t stream)
{
    const unsigned number = ++group->calls;
    const bool is_stalled = fault_at("stall ") == number;
    auto has_put = std::make_shared<bool>(false);

    note(group, it.name, it.count);
    if (it.bytes > SLOT_BYTES || fault_at("call ") == number)
        return INVALID;
    emulated_put(stream, [=] {
        if (!*has_put) {
            memcpy(group->meeting->slots[number % 2][group->rank], it.from,
                   it.bytes);
            group->meeting->put[group->rank] = number;
            *has_put = true;
        }
        if (is_stalled || !all_have_put(group, number))
            return false;
        it.end(group, number, it.to, it.count, it.root);
        return true;
    });
    return IN_PROGRESS;
}

extern "C" {

int ncclGetUniqueId(struct id *id)
{
    static std::atomic<int> made;

    snprintf(id->bytes, sizeof(id->bytes), "/emulated-nccl-%d-%d",
             (int)getpid(), made++);
    return SUCCESS;
}

int ncclCommInitRankConfig(struct group **to, int size, struct id id, int rank,
                           struct config *config)
{
    auto *made = new group();
    void *memory = MAP_FAILED;
    int fd;

    made->rank = rank;
    made->size = size;
    *to = made;
    note(made, "init", (size_t)size);
    if (getenv("EMULATED_NCCL_FAULT") != nullptr &&
        strcmp(getenv("EMULATED_NCCL_FAULT"), "init") == 0)
        return SYSTEM_ERROR;
    if (config->magic != 0xcafebeef || config->blocking != 0 || size > RANKS)
        return INVALID;
    fd = shm_open(id.bytes, O_RDWR | O_CREAT, 0600);
    if (fd >= 0 && ftruncate(fd, sizeof(struct meeting)) == 0)
        memory = mmap(nullptr, sizeof(struct meeting), PROT_READ | PROT_WRITE,
                      MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED)
        return SYSTEM_ERROR;
    made->meeting = (struct meeting *)memory;
    if (++made->meeting->joined == size)
        shm_unlink(id.bytes);
    return IN_PROGRESS;
}

int ncclCommGetAsyncError(struct group *group, int *status)
{
    *status = group->meeting->joined < group->size ? IN_PROGRESS : SUCCESS;
    return SUCCESS;
}

int ncclCommAbort(struct group *group)
{
    note(group, "abort", 0);
    if (group->meeting != nullptr)
        munmap(group->meeting, sizeof(struct meeting));
    delete group;
    return SUCCESS;
}

const char *ncclGetErrorString(int status)
{
    return status == SYSTEM_ERROR ? "unhandled system error"
                                  : "invalid argument";
}

const char *ncclGetLastError(struct group *)
{
    return "as it was told to";
}

int ncclAllReduce(const void *from, void *to, size_t count, int, int,
                  struct group *group, cudaStream_t stream)
{
    return ask(
        group,
        {"all-reduce", from, count * sizeof(float), to, count, 0, reduce_all},
        stream);
}

int ncclReduceScatter(const void *from, void *to, size_t count, int, int,
                      struct group *group, cudaStream_t stream)
{
    return ask(group,
               {"reduce-scatter", from,
                (size_t)group->size * count * sizeof(float), to, count, 0,
                reduce_share},
               stream);
}

int ncclAllGather(const void *from, void *to, size_t count, int,
                  struct group *group, cudaStream_t stream)
{
    return ask(group, {"all-gather", from, count, to, count, 0, gather},
               stream);
}

int ncclBroadcast(const void *from, void *to, size_t count, int, int root,
                  struct group *group, cudaStream_t stream)
{
    return ask(group, {"broadcast", from, count, to, count, root, take},
               stream);
}
}
