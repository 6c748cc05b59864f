/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_SPAWN_H
#define SMTUNE_EXECUTORS_SHIM_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "executors/attempt/attempt_file.h"
#include "executors/executor.h"
#include "executors/machine/cgroup.h"

/* Starting a command: what lies between an attempt's spec and its exec. */

struct child_stack;

/* What all commands of one shim are started with. */
struct spawner {
    struct claim claim; /* boot_id, host, shim_pid, shim_start */
    int null_fd;        /* /dev/null */
    char *stack;        /* of a child until it executes its command */
    uint64_t tick_ns;   /* of the clock of start times; 0: not to be trusted */
    mode_t umask;       /* of this process */
    struct child_stack *nests; /* of children that ran beside us */
    /* A command is killed when this process dies: for where nobody else could
     * know that it lives. */
    bool ends_with_us;
};

/* What a command is given beside its spec. */
struct spawn_place {
    const char *gpus;     /* becomes CUDA_VISIBLE_DEVICES; or NULL */
    struct cgroup *group; /* which it enters, as far as it may; or NULL */
    bool overlaps;        /* we would rather not wait for it to be executed */
};

enum { SPAWN_TEXT_MAX = 256 };

/* 0, or -1 with an error, when it is to be cleared as well. */
int spawner_init(struct spawner *spawner, struct err *err);
void spawner_clear(struct spawner *spawner);

/*
 * Claims the attempt's directory and starts its command there, in a session
 * of its own, with stdout and stderr in `log`, no stdin, default signals, and
 * no other descriptor open than the claim's. Returns the pid of a command that
 * runs, with its start time (as in struct claim) in *pid_start; -1 with
 * ERR_BUSY when somebody else has the claim, else with ERR_FAILED and the
 * reason in at most SPAWN_TEXT_MAX bytes. Where the start overlaps, whether it
 * failed is known later, from spawn_result().
 */
pid_t spawn_command(struct spawner *spawner, const struct attempt_spec *spec,
                    const struct spawn_place *place, uint64_t *pid_start,
                    struct err *err);

/* Waits until the process with the pid, if it was started so that it overlaps,
 * has executed its command or failed to. */
void spawn_await(struct spawner *spawner, pid_t pid);

/* To be asked about every command that has ended: 0 when it was executed, or -1
 * with the reason as spawn_command() gives it. */
int spawn_result(struct spawner *spawner, pid_t pid, struct err *err);

#endif
