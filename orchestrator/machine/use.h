/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_MACHINE_USE_H
#define SMTUNE_ORCHESTRATOR_MACHINE_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "orchestrator/machine/machine.h"

/* What of this machine is in use now, as the kernel's files say: no program is
 * started to find it out, and nothing waits. */

enum { MACHINE_GPUS_MAX = 64, MACHINE_NAME_MAX = 64 };

struct machine_gpu {
    char name[MACHINE_NAME_MAX]; /* as CUDA_VISIBLE_DEVICES calls it */
    bool is_taken;               /* a trial has its slot */
};

struct machine_use {
    struct machine machine;
    char host[MACHINE_NAME_MAX + 1];
    double load[3]; /* of 1, 5 and 15 minutes; NaN: not known */
    /* Of all CPUs together since the machine was started; 0: not known. */
    int64_t cpu_busy_ms, cpu_all_ms;
    size_t cpu_slots_taken; /* by this user's trials */
    size_t gpu_count;
    struct machine_gpu gpus[MACHINE_GPUS_MAX];
};

void machine_use_probe(struct machine_use *use);

/* Of the file system of a path; -1 with errno where that is not known. */
int machine_disk(const char *path, int64_t *size_bytes,
                 int64_t *available_bytes);

#endif
