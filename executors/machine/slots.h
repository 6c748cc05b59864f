/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_SLOTS_H
#define SMTUNE_EXECUTORS_MACHINE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/system/runtime_folder.h"
#include "executors/executor.h"
#include "executors/machine/cpu_places.h"
#include "executors/machine/gpus.h"

/*
 * CPU and GPU slots of this machine, shared by all that one user runs, and
 * pools, shared by whoever names the same directory: a file a slot, locked by
 * whoever uses it. A lock goes with its process, so nothing is ever left
 * taken.
 */

enum { SLOTS_CPUS_MAX = 4096, SLOTS_PATH_MAX = RUNTIME_FOLDER_MAX };

struct slots;

/* The directory of the slots, made if it is not there: "slots" of
 * runtime_folder(). */
int slots_directory(char path[SLOTS_PATH_MAX], struct err *err);

/* Opens no file before one is needed. directory NULL: CPUs and GPUs are this
 * process's own, and only pools are shared. */
struct slots *slots_open(const char *directory, int cpus,
                         const struct gpu *gpus, size_t gpu_count);
void slots_close(struct slots *slots);
/* Which CPU each slot stands for, in this order, for attempts that are pinned:
 * to slots of one NUMA node where one has so many, else to any. Without this
 * the first of them has the machine's CPUs looked for. */
void slots_place(struct slots *slots, const struct cpu_place *places,
                 size_t count);

/*
 * Takes all slots that the spec asks for, or none, for its attempt (not 0).
 * Returns whether it has them; else what there was too little of is added to
 * *lacks, LACKS_CPUS and so on. One that was refused waits, and should come
 * again in about SLOTS_RETRY_MS with `is_turn` true; without it slots are
 * refused while another process waits for their like, so that each gets its
 * share.
 */
enum { SLOTS_RETRY_MS = 200 };
bool slots_take(struct slots *slots, const struct attempt_spec *spec,
                bool is_turn, uint32_t *lacks);
/* No longer waits for any. */
void slots_give_up(struct slots *slots);
/* Gives back all that the attempt `holder` has. */
void slots_release(struct slots *slots, int64_t holder);

/* The CPUs of the holder's slots. */
void slots_cpu_set(const struct slots *slots, int64_t holder, cpu_set_t *set);

/* The names of the holder's GPUs, "0,2". */
void slots_gpu_names(const struct slots *slots, int64_t holder, char *text,
                     size_t size);

#endif
