/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_LOCK_H
#define SMTUNE_STORE_LOCK_H

#include <stdint.h>

#include "base/err.h"

/*
 * The writers' lock: smtune.lock in the store's directory, flocked by whoever
 * writes or checkpoints, with the holder's pid in it. The kernel lets go of it
 * when its holder dies.
 */

/* A descriptor of the file, made if need be; the caller's to close. -1 with an
 * error. */
int lock_open(const char *directory, struct err *err);

enum { LOCK_WAIT_MS = 10000 }; /* that of the store's own functions */

/* 0 when it is ours. Waits at most wait_ms; then -1 with ERR_BUSY, which names
 * the holder. */
int lock_take(int fd, int64_t wait_ms, struct err *err);
void lock_release(int fd);

/* The process that keeps a byte of a file locked for writing, as fcntl knows
 * it; 0: nobody, or it cannot be told. The file is not opened, for to close it
 * again would take this process's own locks of it away. */
long lock_find_holder(const char *path, int64_t byte);

#endif
