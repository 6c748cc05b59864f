/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each kind of communication needs to become one; the table of kinds is
 * comm.c. */
#include <errno.h>
#include <sys/mman.h>

#include "training/comm/comm_impl.h"

void comm_init(struct comm *comm, const struct comm_kind *kind,
               const struct rendezvous *rendezvous,
               const struct comm_options *options)
{
    comm->kind = kind;
    comm->rendezvous = rendezvous;
    comm->rank = rendezvous->rank;
    comm->size = rendezvous->size;
    comm->timeout_ms = options->timeout_ms;
    comm->bucket = -1;
    comm->call.bucket = -1;
}

void *comm_own_window(struct comm *comm, size_t bytes, struct err *err)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        err_set_errno(err, ERR_FAILED, errno,
                      "cannot allocate %zu bytes of memory", bytes);
        return NULL;
    }
    comm->own_window = memory;
    comm->own_window_bytes = bytes;
    return memory;
}
