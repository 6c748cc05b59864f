/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_HISTORY_ENQUEUED_H
#define SMTUNE_STRATEGIES_HISTORY_ENQUEUED_H

#include <stddef.h>
#include <stdint.h>

#include "base/value.h"

/* Settings that wait for a trial, first come first served. To be started from
 * zeroes. */
struct enqueued {
    struct wish *items; /* [count], the next one first */
    size_t count, capacity;
};

/* Takes over the point. */
void enqueued_add_take(struct enqueued *enqueued, uint64_t id,
                       struct value *point);
/* Into point[width]; the id. count is over 0. */
uint64_t enqueued_fulfil(struct enqueued *enqueued, struct value *point,
                         size_t width);
void enqueued_clear(struct enqueued *enqueued);

#endif
