/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/history/enqueued.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct wish {
    uint64_t id;
    struct value *point;
};

void enqueued_add_take(struct enqueued *enqueued, uint64_t id,
                       struct value *point)
{
    enqueued->items = mem_grow(enqueued->items, enqueued->count,
                               &enqueued->capacity, sizeof(*enqueued->items));
    enqueued->items[enqueued->count++] = (struct wish){id, point};
}

uint64_t enqueued_fulfil(struct enqueued *enqueued, struct value *point,
                         size_t width)
{
    struct wish wish = enqueued->items[0];

    enqueued->count--;
    memmove(enqueued->items, enqueued->items + 1,
            enqueued->count * sizeof(*enqueued->items));
    memcpy(point, wish.point, width * sizeof(*point));
    free(wish.point);
    return wish.id;
}

void enqueued_clear(struct enqueued *enqueued)
{
    for (size_t i = 0; i < enqueued->count; i++)
        free(enqueued->items[i].point);
    free(enqueued->items);
    *enqueued = (struct enqueued){0};
}
