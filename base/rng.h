/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_RNG_H
#define SMTUNE_BASE_RNG_H

#include <stdint.h>

/*
 * A counter-based generator: Philox4x32-10 (Salmon et al., "Parallel random
 * numbers: as easy as 1, 2, 3", SC11). Its output is a function of the key
 * (seed, trial, stream) and a counter alone, so that a suggestion can be drawn
 * again from the record, in any order, on any machine. Plain data: copy it to
 * remember a position.
 */
struct rng {
    uint32_t key[2];
    uint32_t counter[4]; /* block number, stream, trial low, trial high */
    uint32_t block[4];
    int used; /* words of `block` already given out, 4: none left */
};

void rng_init(struct rng *rng, uint64_t seed, uint64_t trial, uint32_t stream);
/* The next random bits: one word, or two. */
uint32_t rng_u32(struct rng *rng);
uint64_t rng_u64(struct rng *rng);
/* As if so many words had been drawn; fewer than 2^34 in all. */
void rng_skip(struct rng *rng, uint64_t words);
/* Uniform in [0, 1), 53 bits. */
double rng_uniform(struct rng *rng);
/* Uniform in 0 .. bound - 1 without bias; bound > 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

#endif
