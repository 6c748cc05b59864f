/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_ATTEMPT_FILE_H
#define SMTUNE_EXECUTORS_ATTEMPT_ATTEMPT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "executors/executor.h"

/*
 * The two small files by which an attempt is known, whoever started it and
 * whoever has died since: `claim` and `exit`, a line of JSON each, in the
 * attempt's directory. Needs no library but libc, for the shim's sake.
 *
 * The claim is made with O_EXCL and flocked before anything is written to it.
 * The lock is inherited by the command and by all that it starts, so that it
 * tells whether anything lives. Whoever holds the lock of a claim that is
 * still empty may write a void claim (pid 0) to it: its maker, who comes for
 * the lock next, then starts nothing.
 *
 * Both are known by the attempt's number. A negative one is that of a reserve
 * (attempt_spec.reserves), of which a directory has one at most: what it has
 * written counts as the attempt's own.
 *
 * On a cluster the claim may be another host's. Then neither its pids nor a
 * lock that looks free say anything, as not every file system takes locks from
 * one host to another; a lock that is held proves that something lives. An
 * empty claim whose maker holds a lock that we cannot see looks like one that
 * was left: so the attempt of a job is to be judged when the job cannot be
 * about to start it (it waits, or the queue says that it is no more).
 */

enum { CLAIM_CGROUP_MAX = 256 };

struct claim {
    int64_t attempt;
    int64_t pid;        /* of the command; 0: void, nobody may start it now */
    uint64_t pid_start; /* clock ticks since boot, as in /proc/PID/stat */
    int64_t shim_pid;   /* who looks after it and will write `exit` */
    uint64_t shim_start;
    int64_t time_ms; /* wall clock */
    char boot_id[40];
    char host[65];
    char cgroup[CLAIM_CGROUP_MAX]; /* directory of its control group, or "" */
    char node[EXECUTOR_NODE_MAX];  /* of a cluster, or "" */
    int64_t job;                   /* of Slurm's in which it is, or 0 */
    bool is_in_pilot; /* whose pulse is the pilot's; no other of its own */
};

enum {
    CLAIM_LINE_MAX = 2560,
    EXIT_LINE_MAX = 2048,
};

/* What a claim and its lock say. */
enum claim_state {
    CLAIM_VOID, /* never started, and never will be */
    CLAIM_HELD, /* it or a descendant lives, here or elsewhere */
    /* It was started on this host, and nothing of it lives. Where *claim has no
     * host, the claim is damaged, and what lives is not known either. */
    CLAIM_FREE,
    CLAIM_ELSEWHERE /* it was started on another host; `exit`, the pulse and
                       whoever runs that host tell whether it lives */
};

/* Fills boot_id and host with those of this machine. */
void claim_identify(struct claim *claim);

/*
 * Makes and locks the claim in the directory. Returns its descriptor
 * (O_CLOEXEC), still empty; -1 with ERR_BUSY when somebody else has it.
 */
int claim_create(const char *directory, struct err *err);

/* The claim's line, with its newline; returns its length. */
size_t claim_format(const struct claim *claim, char line[CLAIM_LINE_MAX]);

/*
 * Decides about an attempt that somebody may have started: reads its claim
 * and tries its lock. Where it was never started, sees to it that it never
 * will be. *claim has pid 0 while its maker has not written it. Returns an
 * enum claim_state, or -1 when that cannot be seen now.
 */
int claim_judge(const char *directory, int64_t attempt, struct claim *claim,
                struct err *err);

/* Whether somebody has made it, as far as can be seen now. */
bool claim_exists(const char *directory);

/* The claim as it is, with nothing decided. Returns 1, 0 where there is none or
 * its maker has not written it, -1 with errno when that cannot be seen now. */
int claim_read(const char *directory, struct claim *claim);

/* Whether it is of another machine. One that names a node is of a cluster,
 * whose hosts may bear one name. */
bool claim_is_elsewhere(const struct claim *claim);

/* Whether the claim's lock is free: nothing that inherited it lives. */
bool claim_is_free(const char *directory);

/* Writes `exit`, by rename. ERR_NOT_FOUND when the directory is gone. */
int exit_write(const char *directory, const struct attempt_exit *end,
               struct err *err);

/* When it last wrote to its log or its metrics, by the wall clock, as far as
 * can be seen; 0 where it never did. */
int64_t attempt_last_written_ms(const char *directory);

/* Whether there is no room for what an attempt writes to its directory. */
bool attempt_disk_is_full(const char *directory);

/* Returns 1 when the attempt's `exit` is there, 0 when it is not (another
 * attempt's or half a file counts as none), -1 with errno when that cannot be
 * seen now. end->attempt is `attempt` also where a reserve wrote it. */
int exit_read(const char *directory, int64_t attempt, struct attempt_exit *end);
/* The same of whatever attempt had the directory. */
int exit_read_any(const char *directory, struct attempt_exit *end);

/* Whether its time limit ended it, or it ended by itself after the warning
 * before that, badly or as link_exits has it: what its spec says of these
 * counts, and no more. */
bool exit_is_by_time(const struct attempt_exit *end,
                     const struct attempt_spec *spec);

#endif
