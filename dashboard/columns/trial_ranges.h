/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_COLUMNS_TRIAL_RANGES_H
#define SMTUNE_DASHBOARD_COLUMNS_TRIAL_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Which trials a client asks for, by their numbers. */

enum { TRIAL_RANGES_MAX = 1000 };

struct trial_range {
    int64_t first, last;
};

struct trial_ranges {
    struct trial_range *ranges; /* [count], rising; NULL: none */
    size_t count;
};

/* Of "1,5,9-20"; NULL: all. ERR_USAGE where it is anything else. To be cleared
 * in any case. */
int trial_ranges_read(const char *text, struct trial_ranges *ranges,
                      struct err *err);
void trial_ranges_clear(struct trial_ranges *ranges);

#endif
