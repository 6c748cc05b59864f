/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_TREE_H
#define SMTUNE_EXECUTORS_SHIM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "executors/executor.h"
#include "executors/machine/cgroup.h"
#include "executors/machine/gpu_sample.h"
#include "executors/machine/process_table.h"

/*
 * Which processes belong to which attempt. The shim is a subreaper, so all
 * that an attempt ever starts stays among the shim's descendants; an orphan
 * among them is known by its session or by the claim in its environment.
 */

/* An attempt that the supervisor looks after. Of thousands in a list few bytes
 * are looked at, so these come first. */
struct attempt {
    struct attempt *next, *before;
    pid_t pid;           /* of the command, and of its session and group */
    bool has_group;      /* which is not removed yet */
    bool was_over;       /* its memory limit, as of the last look */
    bool was_killed;     /* by us, as it did not heed SIGTERM */
    int64_t deadline_ms; /* clock_monotonic_ms() of each; 0: none */
    int64_t warn_ms;
    int64_t kill_ms;
    int64_t check_ms;
    int64_t reaped_ms;    /* when the command was; 0: it runs */
    int64_t memory_bytes; /* 0: no limit */

    uint64_t pid_start;
    int64_t time_ms; /* 0: no limit */
    int64_t grace_ms;
    int warn_signal;         /* at warn_ms */
    enum attempt_cause told; /* why it was told to end; CAUSE_OK: it was not */
    size_t living;           /* processes, as of the last census; 1 at first */
    int64_t rss_bytes;
    char *directory;
    char *visible;           /* its CUDA_VISIBLE_DEVICES; NULL: all GPUs */
    struct gpu_tally *gpus;  /* NULL: it asked for none */
    struct cgroup group;     /* if it has_group */
    struct attempt_exit end; /* as far as it is known */
};

/* All zeroes at first. */
struct tree {
    struct process_table table;
    struct attempt strays; /* owns descendants that no attempt was found for */
};

/* Reads the table anew and says in each row's owner, and in the attempts,
 * what belongs to which attempt. `spared` is a child that is no attempt's, and
 * no stray; 0: there is none. */
void tree_census(struct tree *tree, struct attempt *attempts, pid_t spared);

/* Kills what the census found of an attempt. */
void tree_kill(const struct tree *tree, const struct attempt *attempt);

/* Kills the strays that can be no running attempt's, being older than all of
 * them; returns their number, dead ones that were not reaped included. */
size_t tree_kill_strays(const struct tree *tree,
                        const struct attempt *attempts);

/* The sum of an attempt's proportional set sizes: what its processes share
 * counts once. */
int64_t tree_pss_bytes(const struct tree *tree, const struct attempt *attempt);

void tree_clear(struct tree *tree);

#endif
