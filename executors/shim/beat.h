/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_BEAT_H
#define SMTUNE_EXECUTORS_SHIM_BEAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * The pulse of a shim (pulse.h), which is made by a process of its own: where a
 * shared file system hangs, as they do, that one hangs with it, and the shim is
 * there to see that the beats fail to come, and to end what runs. Where the
 * shim, which has files to read as well, hangs too, it is killed a little
 * later, with all that it runs; unless it has called beat_stop().
 */

enum beat_state {
    BEAT_FINE,
    BEAT_CANCELLED, /* we are to end, as by SIGTERM */
    BEAT_REVOKED,   /* somebody holds us for dead */
    BEAT_SILENT     /* no pulse for too long: somebody may */
};

struct beat {
    int fd; /* to listen to, and to close for its end; -1: it is gone */
    const char *directory;
    pid_t shim;
    int64_t heartbeat_ms, silence_ms;
    int64_t quiet_ms;  /* without a beat, of the time that we ran ourselves */
    int64_t looked_ms; /* clock_monotonic_ms() of the last look */
    bool is_revoked, is_cancelled;
};

/*
 * From now on there is a pulse in the directory (borrowed), a first one at
 * once; -1 with an error. To be called before the process becomes a subreaper,
 * so that the other one is no child of it.
 */
int beat_start(struct beat *beat, const char *directory, int64_t heartbeat_ms,
               int64_t silence_ms, struct err *err);
/* Hears what has come; to be called by beat_due_ms() at the latest. */
enum beat_state beat_listen(struct beat *beat, int64_t now_ms);
/* A time of clock_monotonic_ms(). */
int64_t beat_due_ms(const struct beat *beat);
void beat_stop(struct beat *beat);

#endif
