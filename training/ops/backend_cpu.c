/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/backend.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "training/util/pages.h"

/* Operations are done when they return, in the program's own memory. */

static int start(int local_rank, struct err *err)
{
    (void)local_rank;
    (void)err;
    return 0;
}

static void *allocate(size_t bytes, struct err *err)
{
    return real_array((bytes + sizeof(real) - 1) / sizeof(real), err);
}

static void enter_thread(void)
{
}

static void discard(void *memory, size_t bytes)
{
    struct pages pages = pages_within(memory, bytes);

    if (pages.bytes > 0)
        madvise(pages.at, pages.bytes, MADV_DONTNEED);
}

static int synchronize(struct err *err)
{
    (void)err;
    return 0;
}

static uint64_t mark(void)
{
    return 0;
}

static void await(uint64_t mark)
{
    (void)mark;
}

const struct backend backend_cpu = {
    .bytes = sizeof(struct backend),
    .ops_bytes = sizeof(struct ops),
    .name = "cpu",
    .ops = &ops_cpu,
    .takes_any_memory = true,
    .start = start,
    .enter_thread = enter_thread,
    .allocate = allocate,
    .release = free,
    .discard = discard,
    .synchronize = synchronize,
    .mark = mark,
    .await = await,
};

real *backend_array(const struct backend *backend, size_t count,
                    struct err *err)
{
    return backend->allocate(
        count < SIZE_MAX / sizeof(real) ? count * sizeof(real) : SIZE_MAX / 2,
        err);
}
