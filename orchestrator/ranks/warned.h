/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RANKS_WARNED_H
#define SMTUNE_ORCHESTRATOR_RANKS_WARNED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * How a rank of several nodes failed after the warning of its end. Its task
 * exits with 0 then, or srun would end the others while they save. The status
 * is in a file beside the rank's log instead, `rank-N.end`, for the launch that
 * started them all.
 */

struct rank_end {
    int rank;
    int status;      /* of the rank: its exit status, or 128 + the signal */
    int64_t time_ms; /* by the clock of its node */
};

/* -1: the file cannot be written. */
int rank_end_write(const char *directory, const struct rank_end *end,
                   struct err *err);
/* Of all of them the one that ended first; false: there is none. */
bool rank_end_find(const char *directory, int tasks, struct rank_end *first);
/* Removes what an earlier launch has left there. */
void rank_end_clear(const char *directory, int tasks);

#endif
