/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The check that every search method makes before it gives a point away. A
 * point is wrong if it violates a constraint or was given before. */
#include "strategies/history/ask.h"

#include "strategies/space/hash_set.h"

bool ask_accepts(const struct ask *ask, const struct value *point)
{
    return space_feasible(ask->space, point) &&
           (ask->given == NULL ||
            !hash_set_has(ask->given, space_hash(ask->space, point)));
}
