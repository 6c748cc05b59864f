/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_FOLDERS_H
#define SMTUNE_TESTS_FAULT_SIM_FOLDERS_H

#include "tests/fault/sim/world.h"

/*
 * The folders that the engine makes in a world, and the files that it copies.
 * They are real ones; one that was made since its parent was last synced is
 * lost or kept by a power cut, by the seed. A file that was not synced is cut
 * short or kept.
 */
struct folders;

struct folders *folders_create(void);
void folders_destroy(struct folders *folders);

/* Whether a power cut would leave it where it is. */
bool folders_last(const struct folders *folders, const char *path);
void folders_cut_power(struct folders *folders, struct rng *rng);

#endif
