/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The choice of a backend. CUDA is a shared object, loaded only on request, so
 * that smtrain starts without the libraries of a GPU and one build serves all
 * machines. The object must come from the same sources as the program. If the
 * sizes of the two structs that both use differ, it is refused.
 */
#include "training/ops/backend.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fs.h"

const char *const precision_names[] = {"fp32", "bf16", NULL};

const struct backend *backend_load(const char *path, enum precision precision,
                                   int local_rank, struct err *err)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct backend *backend;

    if (library == NULL) {
        err_set(err, ERR_FAILED, "cannot load cuda: %s", dlerror());
        return NULL;
    }
    backend = dlsym(library, BACKEND_SYMBOL);
    if (backend == NULL || backend->bytes != sizeof(*backend) ||
        backend->ops_bytes != sizeof(struct ops)) {
        err_set(err, ERR_FAILED, "%s is from another version: run make again",
                path);
        return NULL;
    }
    backend += precision;
    return backend->start(local_rank, err) == 0 ? backend : NULL;
}

static const struct backend *open_cpu(enum precision precision, int local_rank,
                                      struct buf *notes, struct err *err)
{
    (void)notes;
    if (precision != PRECISION_FP32) {
        err_set(err, ERR_USAGE,
                "--precision %s requires --backend cuda: CPUs compute in fp32",
                precision_names[precision]);
        return NULL;
    }
    return backend_cpu.start(local_rank, err) == 0 ? &backend_cpu : NULL;
}

static const struct backend *open_cuda(enum precision precision, int local_rank,
                                       struct buf *notes, struct err *err)
{
    const struct backend *backend = NULL;
    char *folder = fs_program_directory();
    char *path = fs_join(folder, "smtrain-cuda.so");

    (void)notes;
    if (fs_exists(path))
        backend = backend_load(path, precision, local_rank, err);
    else
        err_set(err, ERR_FAILED,
                "smtrain was built without cuda: no such file '%s' (build it "
                "with nvcc and cuBLAS: make CUDA=yes)",
                path);
    free(path);
    free(folder);
    if (backend == NULL)
        err_prefix(err, "--backend cuda");
    return backend;
}

static const struct backend *open_auto(enum precision precision, int local_rank,
                                       struct buf *notes, struct err *err)
{
    const struct backend *backend =
        open_cuda(precision, local_rank, notes, err);

    if (backend != NULL) {
        buf_add_string(notes, "--backend auto: computing with cuda\n");
        return backend;
    }
    if (err != NULL)
        buf_printf(notes, "--backend auto: computing with cpu; %s\n",
                   err->text);
    return open_cpu(precision, local_rank, notes, err);
}

const char *const backend_names[] = {"cpu", "cuda", "auto", NULL};
static const struct backend *(*const openers[])(enum precision, int,
                                                struct buf *, struct err *) = {
    open_cpu, open_cuda, open_auto};

bool backend_may_be_device(int choice)
{
    return openers[choice] != open_cpu;
}

const struct backend *backend_open(int choice, enum precision precision,
                                   int local_rank, struct buf *notes,
                                   struct err *err)
{
    return openers[choice](precision, local_rank, notes, err);
}
