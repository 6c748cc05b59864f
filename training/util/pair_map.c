/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/util/pair_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_CAPACITY = 1024 };

/* Open addressing; the capacity is a power of 2. Where the key is, or could
 * be. */
static size_t slot_of(const struct pair_map *map, uint32_t key)
{
    size_t mask = map->capacity - 1;
    /* Fibonacci hashing (Knuth, vol. 3, 6.4). */
    size_t slot = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;

    while (map->values[slot] != PAIR_MAP_NONE && map->keys[slot] != key)
        slot = (slot + 1) & mask;
    return slot;
}

static void grow(struct pair_map *map)
{
    struct pair_map old = *map;

    map->capacity = old.capacity > 0 ? 2 * old.capacity : FIRST_CAPACITY;
    map->keys = mem_array(map->capacity, sizeof(*map->keys));
    map->values = mem_array(map->capacity, sizeof(*map->values));
    memset(map->values, 0xff, map->capacity * sizeof(*map->values));
    for (size_t i = 0; i < old.capacity; i++) {
        size_t slot;

        if (old.values[i] == PAIR_MAP_NONE)
            continue;
        slot = slot_of(map, old.keys[i]);
        map->keys[slot] = old.keys[i];
        map->values[slot] = old.values[i];
    }
    free(old.keys);
    free(old.values);
}

uint32_t pair_map_get(const struct pair_map *map, uint32_t key)
{
    return map->capacity > 0 ? map->values[slot_of(map, key)] : PAIR_MAP_NONE;
}

void pair_map_add(struct pair_map *map, uint32_t key, uint32_t value)
{
    size_t slot;

    if (2 * map->count >= map->capacity)
        grow(map);
    slot = slot_of(map, key);
    map->keys[slot] = key;
    map->values[slot] = value;
    map->count++;
}

void pair_map_clear(struct pair_map *map)
{
    free(map->keys);
    free(map->values);
    memset(map, 0, sizeof(*map));
}
