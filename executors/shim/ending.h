/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_ENDING_H
#define SMTUNE_EXECUTORS_SHIM_ENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executors/shim/evidence.h"
#include "executors/shim/gpu_watch.h"
#include "executors/shim/spawn.h"
#include "executors/shim/supervisor.h"
#include "executors/shim/tree.h"

/*
 * The inside of the supervisor, and the part of it that ends attempts. All
 * times are clock_monotonic_ms().
 */

struct supervisor {
    struct supervisor_events events;
    struct spawner spawner;
    struct cgroup_site site; /* if it has_site */
    struct attempt *attempts;
    void *by_pid;              /* tsearch tree of them */
    struct attempt *unwritten; /* ended, but `exit` could not be written */
    size_t count;
    struct tree tree;
    struct gpu_watch gpu_watch;
    int64_t census_ms; /* when the last was */
    int64_t strays_ms; /* when they were last looked for */
    int64_t due_ms;    /* no attempt has to be looked at before; 0: ever */
    int64_t armed_ms;  /* what the timer is set to */
    int64_t census_cost_ms;
    int64_t groups_ms; /* when those with limits were last looked at */
    int64_t groups_cost_ms;
    int64_t mean_ms;            /* duration of the last attempts */
    struct oom_kills oom_kills; /* when last looked */
    char *group; /* the directory of that with its memory; NULL: none */
    bool has_site;
    bool is_in_job;     /* of a cluster */
    bool strays;        /* there may be some since then */
    bool has_more_dead; /* that are to be reaped at once */
    int signal_fd;
    int timer_fd;
};

/* Where there are so many processes that a census takes long, it is made less
 * often: after so many times what it takes. */
enum { CENSUS_REST = 20 };

/* Some attempt has to be looked at then; 0: none has. */
void ending_note_due(struct supervisor *supervisor, int64_t due_ms);

/* One that has just been started. */
void ending_add(struct supervisor *supervisor, struct attempt *attempt);

/* Its warning, before its time is over. */
void ending_warn(struct supervisor *supervisor, struct attempt *attempt,
                 int64_t now_ms);
/* SIGTERM now and SIGKILL after its grace period; the first cause counts. */
void ending_terminate(struct attempt *attempt, enum attempt_cause cause,
                      int64_t now_ms);
/* SIGKILL now, and again while it lives. */
void ending_kill(struct attempt *attempt, int64_t now_ms);

/* Looks at all processes: counts those of each attempt, kills strays and what
 * attempts that are over left behind. */
void ending_census(struct supervisor *supervisor, int64_t now_ms);

/* After an attempt ended: kills what it may have left behind. */
void ending_find_strays(struct supervisor *supervisor, int64_t now_ms);
/* When that is to be done; 0: there is nothing to look for. */
int64_t ending_strays_due_ms(const struct supervisor *supervisor);

/* Reaps children that have ended, for a while; settles those that were
 * commands. Whether there may be more. */
bool ending_reap(struct supervisor *supervisor, int64_t now_ms);

/* Finishes an attempt whose command was reaped if nothing of it is left, or
 * sets the time at which to look again. In a job of a cluster it waits a moment
 * first: whoever ends the job sends SIGTERM to all of its processes, and the
 * command may have died before we get ours. It waits longest where SIGTERM
 * ended the command, and not at all where a short one ended well. */
void ending_settle(struct supervisor *supervisor, struct attempt *attempt,
                   int64_t now_ms);

/* Tries again to write what exit files could not be written. */
void ending_rewrite(struct supervisor *supervisor, int64_t now_ms);

#endif
