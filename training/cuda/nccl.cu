/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/nccl.cuh"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of nccl.h what has been the same from version 2.14 on, so that nothing of
 * NCCL needs to be there where this is compiled. A communicator does not block:
 * what has been asked for may still be on its way to the stream.
 */

enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7 };
enum { NCCL_INT8 = 0, NCCL_FLOAT = 7, NCCL_SUM = 0 };

struct nccl_id {
    char bytes[NCCL_ID_BYTES];
};

struct nccl_config {
    size_t bytes;
    unsigned magic, version;
    int blocking;
};

typedef void *nccl_comm;

struct library {
    int (*get_id)(struct nccl_id *id);
    int (*init)(nccl_comm *comm, int size, struct nccl_id id, int rank,
                struct nccl_config *config);
    int (*all_reduce)(const void *from, void *to, size_t count, int type,
                      int sum, nccl_comm comm, cudaStream_t stream);
    int (*reduce_scatter)(const void *from, void *to, size_t count, int type,
                          int sum, nccl_comm comm, cudaStream_t stream);
    int (*all_gather)(const void *from, void *to, size_t count, int type,
                      nccl_comm comm, cudaStream_t stream);
    int (*broadcast)(const void *from, void *to, size_t count, int type,
                     int root, nccl_comm comm, cudaStream_t stream);
    int (*async_error)(nccl_comm comm, int *status);
    int (*abort)(nccl_comm comm);
    const char *(*error_text)(int status);
    const char *(*last_error)(nccl_comm comm);
};

static const char *const symbols[] = {
    "ncclGetUniqueId",       "ncclCommInitRankConfig", "ncclAllReduce",
    "ncclReduceScatter",     "ncclAllGather",          "ncclBroadcast",
    "ncclCommGetAsyncError", "ncclCommAbort",          "ncclGetErrorString",
    "ncclGetLastError"};

static constexpr size_t SYMBOLS = sizeof(symbols) / sizeof(*symbols);

static_assert(sizeof(struct library) == SYMBOLS * sizeof(void *));

struct nccl_way {
    struct library library;
    nccl_comm comm;
    int rank;
    cudaStream_t stream;
    cudaEvent_t done;
    bool has_asked, is_recorded; /* since the last test that was done */
};

static int check_cuda(cudaError_t status, struct err *err)
{
    return status == cudaSuccess ? 0
                                 : err_set(err, ERR_FAILED, "nccl: %s",
                                           cudaGetErrorString(status));
}

static int check(const struct nccl_way *way, int status, struct err *err)
{
    if (status == NCCL_SUCCESS || status == NCCL_IN_PROGRESS)
        return 0;
    return err_set(err, ERR_FAILED, "nccl: %s: %s",
                   way->library.error_text(status),
                   way->library.last_error(way->comm));
}

/* It stays loaded. Sums of switches (NVLS) may differ from run to run. */
static int load(struct library *library, struct err *err)
{
    void *handle, *found[SYMBOLS];

    setenv("NCCL_ALGO", "^NVLS", 0);
    handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return err_set(err, ERR_FAILED,
                       "cannot load NCCL: %s; install it, or add its folder to "
                       "LD_LIBRARY_PATH",
                       dlerror());
    for (size_t i = 0; i < SYMBOLS; i++) {
        found[i] = dlsym(handle, symbols[i]);
        if (found[i] == NULL)
            return err_set(
                err, ERR_FAILED,
                "NCCL is too old: it has no %s (needs 2.14 or later)",
                symbols[i]);
    }
    memcpy(library, found, sizeof(*library));
    return 0;
}

static void nccl_close(struct nccl_way *way)
{
    if (way->comm != NULL)
        way->library.abort(way->comm);
    if (way->done != NULL)
        cudaEventDestroy(way->done);
    if (way->stream != NULL)
        cudaStreamDestroy(way->stream);
    free(way);
}

static int prepare(struct nccl_way *way, char device[NCCL_DEVICE_MAX],
                   struct err *err)
{
    int index = 0;

    return load(&way->library, err) != 0 ||
                   check_cuda(cudaGetDevice(&index), err) != 0 ||
                   check_cuda(
                       cudaDeviceGetPCIBusId(device, NCCL_DEVICE_MAX, index),
                       err) != 0 ||
                   check_cuda(cudaStreamCreateWithFlags(&way->stream,
                                                        cudaStreamNonBlocking),
                              err) != 0 ||
                   check_cuda(cudaEventCreateWithFlags(&way->done,
                                                       cudaEventDisableTiming),
                              err) != 0
               ? -1
               : 0;
}

static struct nccl_way *nccl_open(char device[NCCL_DEVICE_MAX], struct err *err)
{
    struct nccl_way *way = (struct nccl_way *)calloc(1, sizeof(*way));

    if (way == NULL)
        abort();
    if (prepare(way, device, err) == 0)
        return way;
    nccl_close(way);
    return NULL;
}

static int nccl_make_id(struct nccl_way *way, char id[NCCL_ID_BYTES],
                        struct err *err)
{
    struct nccl_id made;

    if (check(way, way->library.get_id(&made), err) != 0)
        return -1;
    memcpy(id, made.bytes, NCCL_ID_BYTES);
    return 0;
}

static int nccl_join(struct nccl_way *way, const char id[NCCL_ID_BYTES],
                     int rank, int size, struct err *err)
{
    struct nccl_config config = {sizeof(config), 0xcafebeef, 21400, 0};
    struct nccl_id made;

    way->rank = rank;
    memcpy(made.bytes, id, NCCL_ID_BYTES);
    return check(way, way->library.init(&way->comm, size, made, rank, &config),
                 err);
}

static int ask_all_reduce(const struct nccl_way *way,
                          const struct nccl_request *it)
{
    return way->library.all_reduce(it->data, it->data, it->count, NCCL_FLOAT,
                                   NCCL_SUM, way->comm, way->stream);
}

static int ask_reduce_scatter(const struct nccl_way *way,
                              const struct nccl_request *it)
{
    float *own = (float *)it->data + (size_t)way->rank * it->count;

    return way->library.reduce_scatter(it->data, own, it->count, NCCL_FLOAT,
                                       NCCL_SUM, way->comm, way->stream);
}

static int ask_all_gather(const struct nccl_way *way,
                          const struct nccl_request *it)
{
    const char *own = (const char *)it->data + (size_t)way->rank * it->count;

    return way->library.all_gather(own, it->data, it->count, NCCL_INT8,
                                   way->comm, way->stream);
}

static int ask_broadcast(const struct nccl_way *way,
                         const struct nccl_request *it)
{
    return way->library.broadcast(it->data, it->data, it->count, NCCL_INT8,
                                  it->root, way->comm, way->stream);
}

static int (*const ways_to_ask[])(const struct nccl_way *,
                                  const struct nccl_request *) = {
    ask_all_reduce, ask_reduce_scatter, ask_all_gather, ask_broadcast};

static int nccl_ask(struct nccl_way *way, const struct nccl_request *request,
                    struct err *err)
{
    if (check(way, ways_to_ask[request->op](way, request), err) != 0)
        return -1;
    way->has_asked = true;
    way->is_recorded = false;
    return 0;
}

static int test_stream(struct nccl_way *way, struct err *err)
{
    cudaError_t status = cudaSuccess;

    if (!way->is_recorded)
        status = cudaEventRecord(way->done, way->stream);
    way->is_recorded = true;
    if (status == cudaSuccess)
        status = cudaEventQuery(way->done);
    if (status == cudaErrorNotReady)
        return 0;
    way->has_asked = false;
    return check_cuda(status, err) == 0 ? 1 : -1;
}

static int nccl_test(struct nccl_way *way, struct err *err)
{
    int status = NCCL_SUCCESS;

    if (check(way, way->library.async_error(way->comm, &status), err) != 0 ||
        check(way, status, err) != 0)
        return -1;
    if (status == NCCL_IN_PROGRESS)
        return 0;
    return way->has_asked ? test_stream(way, err) : 1;
}

static bool nccl_reaches(const void *data)
{
    struct cudaPointerAttributes it;

    return cudaPointerGetAttributes(&it, data) == cudaSuccess &&
           (it.type == cudaMemoryTypeDevice ||
            it.type == cudaMemoryTypeManaged);
}

const struct nccl_calls nccl_calls = {
    .open = nccl_open,
    .make_id = nccl_make_id,
    .join = nccl_join,
    .ask = nccl_ask,
    .test = nccl_test,
    .reaches = nccl_reaches,
    .close = nccl_close,
};
