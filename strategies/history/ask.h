/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_HISTORY_ASK_H
#define SMTUNE_STRATEGIES_HISTORY_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "strategies/space/space.h"

struct hash_set;
struct history;
struct reason;

/* One call for a candidate. */
struct ask {
    uint64_t trial;                /* the number of the trial to be */
    const struct history *history; /* NULL where the method does not learn */
    const struct hash_set *given;  /* hashes of points not to come again */
    struct space *space;
    uint64_t cursor;       /* in: where the last one ended; out: this one's */
    struct value *point;   /* out: [space_count] */
    struct reason *reason; /* out: method, and NaNs, are filled in before */
};

/* Whether the point satisfies the constraints and is not among ask->given. */
bool ask_accepts(const struct ask *ask, const struct value *point);

#endif
