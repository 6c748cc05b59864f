/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RANKS_GROUP_H
#define SMTUNE_ORCHESTRATOR_RANKS_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * The ranks of a distributed program on this machine, from their start to
 * their end: one command, started `tasks` times, that ends as one. The first
 * rank that fails ends the others, and nothing that any of them started
 * outlives them.
 */

/* The rank that failed first: by itself, not because it was told to end. */
struct rank_failure {
    int rank;
    const char *start_error; /* why it could not start; NULL: it did */
    int exit_code;           /* -1: it was ended by a signal */
    int signal;              /* 0: it exited */
    const char *tail;        /* its last output, as far as it is known, or "" */
    int others;              /* ranks that ran then, and were ended */
    bool was_warned;         /* it had the warning: no other one was ended */
};

struct rank_meeting; /* env.h */

struct rank_group_options {
    char *const *argv;        /* NULL-ended; found on the PATH */
    char *const *environment; /* NULL-ended */
    int tasks;                /* 1 to RANK_GROUP_MAX */
    /* There are more of them elsewhere: `tasks` is 1, and standard input tells
     * of signals that are meant for it, a byte each, SIGTERM at its end. NULL:
     * they are all here. */
    const struct rank_meeting *meeting;
    bool split_gpus; /* env.h */
    bool pins;       /* each rank to its share of the CPUs, by NUMA node */
    bool tag;        /* output.h */
    const char *log_directory; /* output.h; NULL: none */
    int64_t grace_ms; /* from SIGTERM, or a signal passed on, to SIGKILL */
    /* The first of it is a warning of the end: it is passed on, and from then
     * on no rank is ended because another one has. 0: there is none. */
    int warning;
    /* Called at the end, so that nothing comes between a rank's lines. */
    void (*failed)(void *user, const struct rank_failure *failure);
    void (*log_lost)(void *user, const struct err *why); /* a part of one */
    void *user;
};

/*
 * Runs them all and returns when nothing of them is left. SIGINT, SIGTERM and
 * SIGHUP are passed on to each rank; at the third of them all are killed.
 * SIGUSR1, SIGUSR2 and the warning go to those processes of each that handle
 * them. This process becomes a child subreaper, and
 * reaps all its children.
 *
 * *status is 0 when every rank exited with 0, else that of the first one that
 * failed: its exit status, or 128 + its signal; 126 or 127 where it could not
 * be started. Of one rank of many that ended because it was told to it is 0
 * where that came by standard input, else 1: what another one failed with is
 * more. Of one that failed after the warning it is 0, and warned.h has it. -1:
 * there is no way to start any.
 */
int rank_group_run(const struct rank_group_options *options, int *status,
                   struct err *err);

#endif
