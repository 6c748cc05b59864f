/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_HTTP_BLOB_H
#define SMTUNE_DASHBOARD_HTTP_BLOB_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * Bytes that never change and that several threads and answers share: who
 * holds one counts, and the last to let go frees it.
 */
struct blob {
    const char *data;
    size_t length;
};

/* Takes over what the buffer holds, which is empty then. */
struct blob *blob_create(struct buf *bytes);
/* Bytes that live as long as the program. */
struct blob *blob_of_static(const void *data, size_t length);
/* Whether it is such bytes, and takes no memory. */
bool blob_is_static(const struct blob *blob);
/* One more holder; the same blob. */
struct blob *blob_hold(struct blob *blob);
void blob_release(struct blob *blob); /* NULL is allowed */

#endif
