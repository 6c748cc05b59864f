/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RANKS_STEP_H
#define SMTUNE_ORCHESTRATOR_RANKS_STEP_H

#include <stdint.h>

#include "base/err.h"
#include "orchestrator/ranks/group.h"

/*
 * The ranks of a distributed program on several nodes of the Slurm allocation
 * that this process is in: a step, started and watched over by srun, each of
 * whose tasks starts one rank and looks after it (ranks.h). Signals go to the
 * tasks as bytes on srun's standard input, which it copies to all of them:
 * Slurm itself would send them to each process of a rank.
 */
struct rank_step_options {
    /* What a task executes, NULL-ended: it becomes a rank, and is told of
     * signals on standard input. */
    char *const *argv;
    char *const *environment;  /* NULL-ended */
    int tasks;                 /* at least as many as nodes */
    int nodes;                 /* at most those of the allocation */
    int tasks_per_node;        /* 0: as srun distributes them */
    int64_t grace_ms;          /* within which a task ends its rank when told */
    int warning;               /* passed on, too (group.h); 0: there is none */
    const char *log_directory; /* of the ranks; NULL: none */
    /* The rank that failed first after the warning (group.h). */
    void (*failed)(void *user, const struct rank_failure *failure);
    void *user;
};

/*
 * Returns when srun has ended. SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are
 * passed on; the third of the first ones, or a task that has not ended after
 * the grace period, ends the step at once.
 *
 * *status is 128 + the signal that was passed on first, of those that end them;
 * else 0 when every task exited with 0, or the highest status of a task; where
 * ranks failed after the warning, that of the first. -1: there is no srun.
 */
int rank_step_run(const struct rank_step_options *options, int *status,
                  struct err *err);

#endif
