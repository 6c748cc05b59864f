/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/rune_range.h"

bool rune_range_has(const struct rune_range *ranges, size_t count,
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
