/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_EVIDENCE_H
#define SMTUNE_EXECUTORS_SHIM_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "executors/shim/tree.h"

/*
 * Why an attempt ended, from what was seen: the clock, the kernel's counters,
 * the sum of its processes' memory, the wait status. What nobody saw is said
 * not to be known.
 */

/* Reads the counters of an attempt's group, if it has one; returns whether the
 * kernel has killed any of its processes for lack of memory, which is noted. */
bool evidence_look(struct attempt *attempt);

/* Notes that the attempt's processes have been found to take more than its
 * memory limit. */
void evidence_of_memory(struct attempt *attempt);

/* How many processes the kernel has killed for lack of memory: on the whole
 * machine, and in the group of a cluster's job. */
struct oom_kills {
    int64_t machine, job;
};

/* Sets the cause and text of an attempt whose command was reaped with this
 * wait status; recent: the kills since some moment before. */
void evidence_judge(struct attempt *attempt, int status,
                    const struct oom_kills *recent);

/* How many there have been; group: the directory of the job's group, or NULL.
 * 0 where the kernel does not tell. */
struct oom_kills evidence_oom_kills(const char *group);

#endif
