/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_SLOTS_CENSUS_H
#define SMTUNE_EXECUTORS_MACHINE_SLOTS_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#include "executors/machine/gpus.h"

/* Which slots of this machine are taken, by whomever, as the kernel's list of
 * locks says: looking takes none away from those who want one. */
enum { SLOTS_HOLDERS_MAX = 16 };

struct slots_census {
    size_t cpus_taken;
    size_t gpus_taken;
    struct gpu gpus[GPUS_MAX];          /* [gpus_taken] */
    int64_t holders[SLOTS_HOLDERS_MAX]; /* [holder_count] pids, each once; of
                                           runs the smtune-shim that has them */
    size_t holder_count;
};

/* directory: of slots_directory(). Nothing is taken where it is not there. */
void slots_count(const char *directory, struct slots_census *census);

#endif
