/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_MACHINE_MACHINE_H
#define SMTUNE_ORCHESTRATOR_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* What this machine has for trials, as this process may use it. */
struct machine {
    int cpus;        /* that this process may use, by affinity and quota */
    int cpus_online; /* of the machine */
    int gpus;
    int64_t memory_bytes;           /* of the machine */
    int64_t memory_available_bytes; /* without swapping */
};

void machine_probe(struct machine *machine);

/* What control groups trials can be given here, in words ("none"); returns
 * whether their memory and CPUs can be limited by these. */
bool machine_describe_cgroups(struct buf *out);

/* The programs that run containers, in the order in which smtune takes them,
 * with their versions; "" where PATH has none. */
void machine_describe_containers(struct buf *out);
/* The same of those that activate conda environments. */
void machine_describe_conda(struct buf *out);

/* Where CPU and GPU slots are shared between engines of one user; ERR_FAILED
 * when that place is not safe to use. */
int machine_slots_directory(char *path, size_t size, struct err *err);

/* Whether processes have descriptors here (base/system/process_hold.h). */
bool machine_has_descriptors(void);

#endif
