/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_GPUS_H
#define SMTUNE_EXECUTORS_MACHINE_GPUS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The machine's GPUs, by what CUDA_VISIBLE_DEVICES calls them: "0", "1", ...
 * as CUDA counts them in the order of the PCI bus, or an unique name. A part of
 * a GPU that the driver made (MIG) is a GPU of its own: "MIG-" and its UUID, or
 * "MIG-GPU-UUID/1/0" from drivers before 470.
 */

enum { GPUS_MAX = 64, GPU_NAME_MAX = 64 };

struct gpu {
    char name[GPU_NAME_MAX];
};

/*
 * Finds GPUs through the driver's files below root ("" for the machine's
 * own): those in proc/driver/nvidia/gpus whose device file exists, else
 * dev/nvidia0 and so on. `visible` is CUDA_VISIBLE_DEVICES as this program
 * has it, or NULL: where set, the GPUs are those it names, if there are any at
 * all. Returns their number.
 */
size_t gpus_find(const char *root, const char *visible,
                 struct gpu gpus[GPUS_MAX]);

/* The names in a CUDA_VISIBLE_DEVICES, up to the first that is none: so CUDA
 * reads it. Returns their number. */
size_t gpus_parse(const char *visible, struct gpu gpus[GPUS_MAX]);

/* Whether it is a MIG device. A process of CUDA uses only the first one that it
 * sees, however many are visible. */
bool gpu_is_mig(const struct gpu *gpu);

/* The next field of a line of nvidia-smi's CSV up to `end`, cut to `size`,
 * without blanks around it; *at goes behind it, NULL after the last. Whether
 * there is one, else it is empty. */
bool gpu_field_next(const char **at, const char *end, char *field, size_t size);

#endif
