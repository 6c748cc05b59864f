/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_RUNE_RANGE_H
#define SMTUNE_BASE_RUNE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tables of code points of Unicode. */
struct rune_range {
    uint32_t first, last;
};

/* Whether one of the ranges, [count] in ascending order, has the rune. */
static inline bool rune_range_has(const struct rune_range *ranges, size_t count,
                                  uint32_t rune)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rune > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && rune >= ranges[low].first;
}

#endif
