/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_GPU_PARTS_H
#define SMTUNE_EXECUTORS_MACHINE_GPU_PARTS_H

#include <stdint.h>

/* Parts of one GPU, which several attempts share: a bit each. */

enum { GPU_PARTS = 60 }; /* halves, thirds, quarters, fifths ... are whole */

/* So many parts are at least that share of a GPU, 1 to GPU_PARTS. */
int gpu_parts_of(int permille);

/*
 * Takes `wanted` parts that are neither in `taken`, this process's own, nor
 * locked by another process, or none. fd: of the GPU's file; -1: nobody else
 * uses the GPU. Returns their bits; 0: there are too few.
 */
uint64_t gpu_parts_take(int fd, uint64_t taken, int wanted);
void gpu_parts_release(int fd, uint64_t parts);

#endif
