/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/rng.h"

#include <string.h>

/*
 * Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3", SC11, section 3.3 and table 2.
 */

enum { ROUNDS = 10, WORDS = 4 };

static const uint32_t multiplier[2] = {0xD2511F53u, 0xCD9E8D57u};
static const uint32_t weyl[2] = {0x9E3779B9u, 0xBB67AE85u};

static void round_once(uint32_t word[WORDS], const uint32_t key[2])
{
    uint64_t product0 = (uint64_t)multiplier[0] * word[0];
    uint64_t product1 = (uint64_t)multiplier[1] * word[2];
    uint32_t mixed[WORDS] = {
        (uint32_t)(product1 >> 32) ^ word[1] ^ key[0],
        (uint32_t)product1,
        (uint32_t)(product0 >> 32) ^ word[3] ^ key[1],
        (uint32_t)product0,
    };

    memcpy(word, mixed, sizeof(mixed));
}

static void refill(struct rng *rng)
{
    uint32_t key[2] = {rng->key[0], rng->key[1]};

    memcpy(rng->block, rng->counter, sizeof(rng->block));
    for (int i = 0; i < ROUNDS; i++) {
        round_once(rng->block, key);
        key[0] += weyl[0];
        key[1] += weyl[1];
    }
    rng->counter[0]++;
    rng->used = 0;
}

void rng_init(struct rng *rng, uint64_t seed, uint64_t trial, uint32_t stream)
{
    *rng = (struct rng){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .counter = {0, stream, (uint32_t)trial, (uint32_t)(trial >> 32)},
        .used = WORDS,
    };
}

uint32_t rng_u32(struct rng *rng)
{
    if (rng->used >= WORDS)
        refill(rng);
    return rng->block[rng->used++];
}

uint64_t rng_u64(struct rng *rng)
{
    uint64_t low = rng_u32(rng);

    return low | (uint64_t)rng_u32(rng) << 32;
}

void rng_skip(struct rng *rng, uint64_t words)
{
    uint64_t left = (uint64_t)(WORDS - rng->used);

    if (words <= left) {
        rng->used += (int)words;
        return;
    }
    words -= left;
    rng->counter[0] += (uint32_t)(words / WORDS);
    rng->used = WORDS;
    if (words % WORDS != 0) {
        refill(rng);
        rng->used = (int)(words % WORDS);
    }
}

double rng_uniform(struct rng *rng)
{
    return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    /* 2^64 mod bound values at the bottom would make some residues likelier */
    uint64_t unfair = (0 - bound) % bound;
    uint64_t word;

    do {
        word = rng_u64(rng);
    } while (word < unfair);
    return word % bound;
}
