/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_SPACE_HASH_SET_H
#define SMTUNE_STRATEGIES_SPACE_HASH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A set of well-mixed 64-bit hashes, 16 bytes an element or so. Embedded:
 * starts from all zeroes, ends with hash_set_clear.
 */
struct hash_set {
    uint64_t *slots; /* 0: free */
    size_t capacity; /* a power of two */
    size_t count;
};

bool hash_set_has(const struct hash_set *set, uint64_t hash);
/* False when it was there already. */
bool hash_set_add(struct hash_set *set, uint64_t hash);
void hash_set_clear(struct hash_set *set);

#endif
