/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/space/hash_set.h"

#include <stdlib.h>

#include "base/mem.h"

enum { CAPACITY_MIN = 64 };

/* The slot of the hash, or the free one where it belongs; open addressing. */
static uint64_t *slot_of(const struct hash_set *set, uint64_t hash)
{
    size_t i = hash & (set->capacity - 1);

    while (set->slots[i] != 0 && set->slots[i] != hash)
        i = (i + 1) & (set->capacity - 1);
    return &set->slots[i];
}

static void make_room(struct hash_set *set)
{
    struct hash_set larger = {.count = set->count};

    if (4 * (set->count + 1) <= 3 * set->capacity)
        return;
    larger.capacity = set->capacity > 0 ? 2 * set->capacity : CAPACITY_MIN;
    larger.slots = mem_array(larger.capacity, sizeof(*larger.slots));
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i] != 0)
            *slot_of(&larger, set->slots[i]) = set->slots[i];
    free(set->slots);
    *set = larger;
}

/* 0 marks a free slot, so that hash 0 has to share with 1. */
static uint64_t stored(uint64_t hash)
{
    return hash != 0 ? hash : 1;
}

bool hash_set_has(const struct hash_set *set, uint64_t hash)
{
    return set->count > 0 && *slot_of(set, stored(hash)) != 0;
}

bool hash_set_add(struct hash_set *set, uint64_t hash)
{
    uint64_t *slot;

    make_room(set);
    slot = slot_of(set, stored(hash));
    if (*slot != 0)
        return false;
    *slot = stored(hash);
    set->count++;
    return true;
}

void hash_set_clear(struct hash_set *set)
{
    free(set->slots);
    *set = (struct hash_set){0};
}
