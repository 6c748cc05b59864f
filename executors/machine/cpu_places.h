/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_CPU_PLACES_H
#define SMTUNE_EXECUTORS_MACHINE_CPU_PLACES_H

#include <sched.h>
#include <stddef.h>

/* The CPUs that this process may run on, and their NUMA nodes. */

struct cpu_place {
    int cpu, node;
};

/* Those of its affinity, by node, then by number; at most CPU_SETSIZE. `root`
 * is "" for the machine's own files; a machine without files of nodes has one
 * node. */
size_t cpu_places_find(const char *root, struct cpu_place places[CPU_SETSIZE]);

#endif
