/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RANKS_SINK_H
#define SMTUNE_ORCHESTRATOR_RANKS_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "base/buf.h"

/*
 * A descriptor of this process, written to without ever waiting for whoever
 * reads it: what it does not take stays here until it does.
 */
struct rank_sink {
    uv_poll_t poll;
    int fd;
    bool is_own;     /* fd is ours to close */
    bool is_polled;  /* else it never makes us wait: a file */
    bool is_broken;  /* nobody will ever read it */
    bool is_waiting; /* until it takes more */
    struct buf pending;
    void (*drained)(void *user); /* it has been full, and is empty now */
    bool was_full;
    void *user;
};

/* *sink must stay where it is until the loop has turned after its close. */
void rank_sink_init(struct rank_sink *sink, uv_loop_t *loop, int fd,
                    void (*drained)(void *user), void *user);
void rank_sink_close(struct rank_sink *sink);
/* After the loop has turned. */
void rank_sink_clear(struct rank_sink *sink);

/* Nothing where it is broken. */
void rank_sink_add(struct rank_sink *sink, const char *bytes, size_t length);
/* Writes what was added, as far as that does not wait. */
void rank_sink_flush(struct rank_sink *sink);
/* So much is pending that no more should be written; `drained` will come. */
bool rank_sink_is_full(struct rank_sink *sink);
bool rank_sink_is_empty(const struct rank_sink *sink);

#endif
