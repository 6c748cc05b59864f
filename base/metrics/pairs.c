/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/scan.h"

#include <stdlib.h>

#include "base/mem.h"

/* The list of what a line has. */

void metric_pairs_clear(struct metric_pairs *pairs)
{
    free(pairs->items);
    buf_clear(&pairs->names);
}

void metric_pairs_add(struct metric_pairs *pairs,
                      const struct metric_pair *pair)
{
    if (pairs->count == METRIC_LINE_MAX_PAIRS)
        return;
    pairs->items = mem_grow(pairs->items, pairs->count, &pairs->capacity,
                            sizeof(*pairs->items));
    pairs->items[pairs->count++] = *pair;
}
