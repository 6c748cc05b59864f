/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_GPU_WATCH_H
#define SMTUNE_EXECUTORS_SHIM_GPU_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "executors/machine/gpu_sample.h"

/*
 * The use of the machine's GPUs, as nvidia-smi reports it: one process of it
 * for all attempts of a supervisor, which looks every GPU_WATCH_SECONDS. All
 * zeroes at first, and `fd` -1.
 */

#define GPU_WATCH_SECONDS 5

enum { GPU_WATCH_LINE_MAX = 256 };

struct gpu_watch {
    pid_t pid;      /* a child of this process that is not reaped; 0: none */
    int fd;         /* to be read when there is something; -1: none */
    bool was_tried; /* once: a machine without it is not asked again */
    char line[GPU_WATCH_LINE_MAX];
    size_t length;
};

/* Starts it, unless that was tried before. Where it cannot be started, or ends,
 * nothing is known of GPUs. */
void gpu_watch_start(struct gpu_watch *watch);

/* Reads what there is, and calls `sample` with each GPU's. */
void gpu_watch_read(struct gpu_watch *watch,
                    void (*sample)(void *user, const struct gpu_sample *),
                    void *user);

/* Kills it. Its parent reaps it. */
void gpu_watch_stop(struct gpu_watch *watch);

#endif
