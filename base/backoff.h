/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_BACKOFF_H
#define SMTUNE_BASE_BACKOFF_H

#include <stdint.h>

/* The next of waits that double, from min_ms to max_ms. *wait_ms is the last
 * one, 0 to begin with, and becomes what is returned. */
static inline int64_t backoff_next_ms(int64_t *wait_ms, int64_t min_ms,
                                      int64_t max_ms)
{
    int64_t next_ms = *wait_ms > max_ms / 2 ? max_ms : *wait_ms * 2;

    if (next_ms < min_ms)
        next_ms = min_ms;
    *wait_ms = next_ms < max_ms ? next_ms : max_ms;
    return *wait_ms;
}

#endif
