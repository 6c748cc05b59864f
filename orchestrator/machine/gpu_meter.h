/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_MACHINE_GPU_METER_H
#define SMTUNE_ORCHESTRATOR_MACHINE_GPU_METER_H

#include <stddef.h>
#include <stdint.h>

/*
 * How much of this machine's NVIDIA GPUs is in use, as the driver's library
 * (NVML) says. It is looked for at run time: where there is none, or no driver,
 * there are no GPUs here.
 */

enum { GPU_USES_MAX = 64, GPU_MODEL_MAX = 96 };

struct gpu_use {
    size_t index;              /* in the order of the PCI bus */
    char model[GPU_MODEL_MAX]; /* "NVIDIA H100 80GB HBM3"; "": not known */
    double load; /* part of the last second or less that a kernel ran in, 0 to
                    1; NaN: not known */
    int64_t memory_used_bytes, memory_bytes; /* both 0: not known */
};

struct gpu_meter;

struct gpu_meter *gpu_meter_create(void);
void gpu_meter_destroy(struct gpu_meter *meter); /* NULL is allowed */

/* Fills in what each GPU does now, and returns their number. Loads the library
 * at the first call. It may take some ms, at the first call a second, and may
 * be called by several threads at once. */
size_t gpu_meter_read(struct gpu_meter *meter,
                      struct gpu_use uses[GPU_USES_MAX]);

#endif
