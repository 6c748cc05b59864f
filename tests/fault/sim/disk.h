/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_DISK_H
#define SMTUNE_TESTS_FAULT_SIM_DISK_H

#include "tests/fault/sim/world.h"

/*
 * The files of SQLite in a world, in memory: vfs.c is the virtual file system
 * that puts them there. What was written and not synced is lost, kept or
 * torn by a power cut, by the seed.
 */
struct disk;

/* vfs.c: makes the simulated disk SQLite's default. Once, before any other
 * use of SQLite. */
void disk_register(void);

struct disk *disk_create(void);
void disk_destroy(struct disk *disk);
/* A disk with the same files, all synced. */
struct disk *disk_copy(const struct disk *disk);

/* The process that had files open is gone; what it wrote stays. */
void disk_kill(struct disk *disk);
/* So is what it had not synced, or some of it. */
void disk_cut_power(struct disk *disk, struct rng *rng);

/* No file can grow between those two times. */
void disk_fill(struct disk *disk, int64_t from_ms, int64_t until_ms);
/* The n-th write or sync from now on fails; 0: none does. */
void disk_fail_at(struct disk *disk, int64_t nth);
/* Likewise the n-th row that an engine asks for. */
void disk_deny_at(struct disk *disk, int64_t nth);

#endif
