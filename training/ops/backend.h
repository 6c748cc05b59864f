/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_OPS_BACKEND_H
#define SMTUNE_TRAINING_OPS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/ops/ops.h"

struct buf;
struct nccl_calls;

/*
 * Operations that are asked for once and done many times. A recording is of
 * addresses, and of the values that operations were given beside them: replayed
 * it does the same to what lies there by then. Nothing may be under way when it
 * begins or is replayed (`synchronize`).
 */
struct recording;
struct recording_calls {
    /* From here on operations are kept and not done. -1: it cannot. */
    int (*begin)(void);
    /* The caller's to forget. NULL: something was asked for that cannot be
     * recorded; it is as if nothing had been. */
    struct recording *(*end)(void);
    void (*replay)(const struct recording *recording);
    void (*forget)(struct recording *recording);
};

/*
 * Where models compute: the operations, and the memory in which these find
 * their numbers. The processor reaches that memory, too, but operations may
 * still be under way when they return: what they read may be changed, and what
 * they give may be read, after `synchronize`.
 */
struct backend {
    size_t bytes, ops_bytes; /* of this and of struct ops, as it was compiled */
    const char *name;
    const struct ops *ops;
    bool takes_any_memory; /* of the process: not `allocate`'s alone */
    /* Chooses a device by the rank's number on its host; once, and first. -1
     * with ERR_FAILED: there is none that it could use. */
    int (*start)(int local_rank, struct err *err);
    /* In each thread but the one that started it, before anything else here:
     * from then on it uses the same device. */
    void (*enter_thread)(void);
    /* Zeroed, and aligned as real_array's; NULL with ERR_FAILED. */
    void *(*allocate)(size_t bytes, struct err *err);
    void (*release)(void *memory); /* takes NULL */
    /* What lies there is needed no more: it stays, or reads as zeroes. */
    void (*discard)(void *memory, size_t bytes);
    /* Waits for all operations. -1 with ERR_FAILED when one has failed since
     * the start: what came after it is worth nothing. */
    int (*synchronize)(struct err *err);
    /* A mark behind all operations that were asked for; and, in any thread,
     * until it is reached, or something has failed. */
    uint64_t (*mark)(void);
    void (*await)(uint64_t mark);
    const struct nccl_calls *nccl; /* nccl_calls.h; NULL: it is no GPU */
    const struct recording_calls *recording; /* NULL: it records nothing */
};

extern const struct backend backend_cpu;

/* What products of matrices multiply; all else is fp32. */
enum precision { PRECISION_FP32, PRECISION_BF16, PRECISIONS };
extern const char *const precision_names[]; /* NULL-ended */

/* cpu, cuda and auto, which is cuda where that can be had; NULL-ended. */
extern const char *const backend_names[];

/* Whether that of backend_names[choice] may be another than the processor. */
bool backend_may_be_device(int choice);

/* That of backend_names[choice], started. Appends a line to *notes that says
 * what `auto` came to. NULL with ERR_FAILED: what is missing for it; ERR_USAGE:
 * it has no such precision. */
const struct backend *backend_open(int choice, enum precision precision,
                                   int local_rank, struct buf *notes,
                                   struct err *err);

/* From a shared object, which has an array of them by this name, one of each
 * precision; it stays loaded. */
#define BACKEND_SYMBOL "smtrain_backends"
const struct backend *backend_load(const char *path, enum precision precision,
                                   int local_rank, struct err *err);

/* `count` zeroed numbers where the backend computes, or NULL with ERR_FAILED;
 * for backend->release. */
real *backend_array(const struct backend *backend, size_t count,
                    struct err *err);

#endif
