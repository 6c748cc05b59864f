/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_SUPERVISOR_H
#define SMTUNE_EXECUTORS_SHIM_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "executors/executor.h"

/*
 * Looks after running attempts: starts them, enforces their limits, ends
 * their process trees, writes their exit files. There is one in a process,
 * which it makes a child subreaper with all signals blocked.
 */

struct supervisor;

struct supervisor_events {
    void (*ended)(void *user, const struct attempt_exit *end);
    void (*signalled)(void *user, int signal_number); /* TERM, INT, HUP */
    void *user;
};

/* events are copied. From now on the process hears the signals named there by
 * these alone, and is a subreaper. NULL with an error. */
struct supervisor *supervisor_create(const struct supervisor_events *events,
                                     struct err *err);
/* From now on attempts get control groups where these can be made; partner as
 * for cgroup_site_open(). */
void supervisor_use_cgroups(struct supervisor *supervisor, pid_t partner);
/* It is on a cluster's node. What it starts says so in claim and `exit`: the
 * node and the job, and whether that is a pilot; and it does not live on
 * without this process, as no engine could see that from elsewhere. */
void supervisor_say_place(struct supervisor *supervisor, const char *node,
                          int64_t job, bool is_in_pilot);
void supervisor_destroy(struct supervisor *supervisor);

/*
 * Starts an attempt; gpus and overlaps as in struct spawn_place. Returns its
 * command's pid, after which `ended` comes once; 0 when it could not start,
 * which *end and `exit` then tell; -1 when the directory's claim is somebody
 * else's, which *end alone tells. That an overlapping one could not start is
 * told by `ended`, too.
 */
pid_t supervisor_start(struct supervisor *supervisor,
                       const struct attempt_spec *spec, const char *gpus,
                       bool overlaps, struct attempt_exit *end);

/* No effect on an attempt that it does not know. */
void supervisor_cancel(struct supervisor *supervisor, int64_t attempt,
                       enum cancel_mode mode);

/*
 * Ends all that run for a cause that is none of theirs; CAUSE_PREEMPTED counts
 * as displaced. An attempt that has just ended is one of them: whoever sent us
 * SIGTERM may have sent it to all processes of a job.
 */
void supervisor_end_all(struct supervisor *supervisor, enum attempt_cause cause,
                        enum cancel_mode mode, const char *text);

/* One that runs. */
struct supervised {
    int64_t attempt;
    pid_t pid;
    int64_t memory_bytes, grace_ms; /* as in its spec */
};

/* Calls visit with each attempt that has not ended yet. */
void supervisor_each(const struct supervisor *supervisor,
                     void (*visit)(void *user, const struct supervised *),
                     void *user);
/* Their number. */
size_t supervisor_count(const struct supervisor *supervisor);
/* Nothing runs, and every `exit` is written. */
bool supervisor_is_idle(const struct supervisor *supervisor);

/*
 * Waits until something happens, at most until the moment wake_ms of
 * clock_monotonic_ms() (0: no such moment), and deals with it. `fd`, unless
 * -1, is watched for the poll events too; returns those that came, 0 when
 * none did.
 */
short supervisor_turn(struct supervisor *supervisor, int fd, short events,
                      int64_t wake_ms);

#endif
