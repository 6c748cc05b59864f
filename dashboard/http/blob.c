/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes with a count of holders. The count is atomic because answers are sent
 * in one thread and made in others. */
#include "dashboard/http/blob.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"

struct held_blob {
    struct blob blob;
    char *owned; /* NULL: it is the program's */
    atomic_int holders;
};

static struct blob *create(char *owned, const void *data, size_t length)
{
    struct held_blob *held = mem_zero(sizeof(*held));

    held->blob.data = data;
    held->blob.length = length;
    held->owned = owned;
    atomic_init(&held->holders, 1);
    return &held->blob;
}

struct blob *blob_create(struct buf *bytes)
{
    size_t length = bytes->length;
    char *data = buf_take(bytes);

    return create(data, data, length);
}

struct blob *blob_of_static(const void *data, size_t length)
{
    return create(NULL, data, length);
}

bool blob_is_static(const struct blob *blob)
{
    return ((const struct held_blob *)blob)->owned == NULL;
}

struct blob *blob_hold(struct blob *blob)
{
    atomic_fetch_add(&((struct held_blob *)blob)->holders, 1);
    return blob;
}

void blob_release(struct blob *blob)
{
    struct held_blob *held = (struct held_blob *)blob;

    if (held == NULL || atomic_fetch_sub(&held->holders, 1) > 1)
        return;
    free(held->owned);
    free(held);
}
