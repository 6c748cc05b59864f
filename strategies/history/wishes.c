/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/history/wishes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct wish {
    uint64_t id;
    struct value *point;
};

void wishes_add_take(struct wishes *wishes, uint64_t id, struct value *point)
{
    wishes->items = mem_grow(wishes->items, wishes->count, &wishes->capacity,
                             sizeof(*wishes->items));
    wishes->items[wishes->count++] = (struct wish){id, point};
}

uint64_t wishes_fulfil(struct wishes *wishes, struct value *point, size_t width)
{
    struct wish wish = wishes->items[0];

    wishes->count--;
    memmove(wishes->items, wishes->items + 1,
            wishes->count * sizeof(*wishes->items));
    memcpy(point, wish.point, width * sizeof(*point));
    free(wish.point);
    return wish.id;
}

void wishes_clear(struct wishes *wishes)
{
    for (size_t i = 0; i < wishes->count; i++)
        free(wishes->items[i].point);
    free(wishes->items);
    *wishes = (struct wishes){0};
}
