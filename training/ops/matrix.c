/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/matrix.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

static const size_t MAX_NUMBERS = (size_t)1 << 33;

/* Large ones begin with a page, so that parts can be given back. */
real *real_array(size_t count, struct err *err)
{
    size_t align = count < PAGE_BYTES ? REAL_ALIGN_BYTES : PAGE_BYTES;
    size_t bytes = (count * sizeof(real) + align - 1) / align * align;
    real *array = NULL;

    if (count <= MAX_NUMBERS)
        array = aligned_alloc(align, bytes);
    if (array == NULL) {
        err_set(err, ERR_FAILED,
                "out of memory: the model needs %zu MiB in one block",
                bytes >> 20);
        return NULL;
    }
    memset(array, 0, bytes);
    return array;
}
