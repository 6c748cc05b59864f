/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_UTIL_PAIR_MAP_H
#define SMTUNE_TRAINING_UTIL_PAIR_MAP_H

#include <stddef.h>
#include <stdint.h>

/* A number for each of some pairs of tokens. Embedded: begin with all zeroes,
 * end with pair_map_clear. */
struct pair_map {
    uint32_t *keys;   /* [capacity] */
    uint32_t *values; /* [capacity]; PAIR_MAP_NONE: free */
    size_t count, capacity;
};

#define PAIR_MAP_NONE UINT32_MAX

static inline uint32_t pair_key(uint16_t left, uint16_t right)
{
    return (uint32_t)left << 16 | right;
}

/* The pair's number, or PAIR_MAP_NONE. */
uint32_t pair_map_get(const struct pair_map *map, uint32_t key);
/* Of a pair that has none yet. */
void pair_map_add(struct pair_map *map, uint32_t key, uint32_t value);
void pair_map_clear(struct pair_map *map);

#endif
