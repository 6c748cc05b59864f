/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_HISTORY_WISHES_H
#define SMTUNE_STRATEGIES_HISTORY_WISHES_H

#include <stddef.h>
#include <stdint.h>

#include "base/value.h"

/* Settings that wait for a trial, first come first served. To be started from
 * zeroes. */
struct wishes {
    struct wish *items; /* [count], the next one first */
    size_t count, capacity;
};

/* Takes over the point. */
void wishes_add_take(struct wishes *wishes, uint64_t id, struct value *point);
/* Into point[width]; the id. count is over 0. */
uint64_t wishes_fulfil(struct wishes *wishes, struct value *point,
                       size_t width);
void wishes_clear(struct wishes *wishes);

#endif
