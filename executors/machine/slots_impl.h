/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_SLOTS_IMPL_H
#define SMTUNE_EXECUTORS_MACHINE_SLOTS_IMPL_H

#include "executors/machine/slots.h"

/* What the files of slots share. */

struct slot {
    int64_t holder; /* 0: not ours */
    int fd;         /* -1: not opened yet */
};

struct slots_place {
    char *directory;
    int waiting_fd; /* -1: not opened yet */
    bool waits;
};

struct slots_pool {
    struct slots_pool *next;
    struct slots_place place;
    struct slot *slots;
    size_t count;
};

/* Parts of a GPU, of which several may be held at once. */
struct gpu_share {
    int64_t holder;
    size_t gpu;
    uint64_t parts; /* gpu_parts.h */
};

struct slots {
    struct slots_place machine;
    struct slot *cpus;
    struct cpu_place *places; /* [place_count], of the first CPUs */
    size_t place_count;
    struct slot *gpus; /* whole ones; those with shares have no holder */
    struct gpu_share *shares;
    size_t share_count, share_capacity;
    struct gpu *gpu_names;
    size_t cpu_count;
    size_t gpu_count;
    struct slots_pool *pools; /* those that were asked for so far */
};

/* ---- slots_file.c: one slot, a file that its holder locks ---- */

enum { SLOT_GPU_FILE_MAX = GPU_NAME_MAX + 4 };

/* "gpu-NAME"; the name of a MIG device may have slashes. */
void slot_gpu_file(const struct gpu *gpu, char file[SLOT_GPU_FILE_MAX]);
/* False: it is the file of something else. */
bool slot_gpu_of_file(const char *file, struct gpu *gpu);

/* -1: it cannot be opened. */
int slot_open_file(const struct slots_place *place, const char *name);
struct slot *slot_array_create(size_t count);
void slot_array_close(struct slot *slots, size_t count);
void slot_array_release(struct slot *slots, size_t count, int64_t holder);
/* Returns whether it is the holder's now. */
bool slot_take(const struct slots_place *place, struct slot *slot,
               const char *name, int64_t holder);

/* Those from `first` on, before `end`. */
struct slot_range {
    struct slot *slots;
    size_t first, end;
};

/* Takes up to so many of them, whose files are PREFIX0, PREFIX1 ...; returns
 * how many. */
int64_t slots_take_numbered(const struct slots_place *place, const char *prefix,
                            const struct slot_range *range, int64_t holder,
                            int64_t wanted);

/* ---- slots_machine.c: which CPUs and GPUs ---- */

/* Whether the attempt has all that it asks for; else it may have a part. */
bool slots_take_cpus(struct slots *slots, const struct attempt_spec *spec);
bool slots_take_gpus(struct slots *slots, const struct attempt_spec *spec);
/* Parts of GPUs; whole ones are slots like any other. */
void slots_release_parts(struct slots *slots, int64_t holder);

#endif
