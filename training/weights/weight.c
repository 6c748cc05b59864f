/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/weights/weight.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"

bool weight_is(const struct weight *weight, uint64_t rows, uint64_t columns)
{
    if (columns == 0)
        return weight->dimensions == 1 && weight->shape[0] == rows;
    return weight->dimensions == 2 && weight->shape[0] == rows &&
           weight->shape[1] == columns;
}

void weight_print_shape(const struct weight *weight, struct buf *out)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < weight->dimensions; i++)
        buf_printf(out, "%s%" PRIu64, i > 0 ? ", " : "", weight->shape[i]);
    buf_add_char(out, ']');
}

int weight_compare(const void *one, const void *other)
{
    const struct weight *a = one, *b = other;

    return strcmp(a->name, b->name);
}
