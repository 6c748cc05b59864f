/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_AGENT_MESSAGE_H
#define SMTUNE_EXECUTORS_ATTEMPT_AGENT_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "executors/executor.h"
#include "executors/machine/slots.h"

/*
 * What the local executor and its agent (`smtune-shim --agent`) say to each
 * other over a stream socket: a header, then the payload. Both ends are of one
 * build and on one machine, so the fields go as they lie in memory.
 */

enum agent_message_kind {
    AGENT_SETUP = 1, /* to it, first: struct agent_setup */
    AGENT_START,     /* to it: agent_put_start */
    AGENT_CANCEL,    /* to it: struct agent_cancel */
    AGENT_STARTED,   /* from it: struct agent_started */
    AGENT_ENDED,     /* from it: struct attempt_exit */
    AGENT_READY,     /* from a pilot, first: struct agent_ready */
    AGENT_DRAIN      /* to a pilot: it takes no more, and ends when it is idle;
                        from it: the same, its time is nearly over */
};

enum { AGENT_MESSAGE_MAX_BYTES = 16 << 20 };

struct agent_setup {
    int32_t parallel;
    int32_t cpus;
    uint32_t gpu_count;
    uint32_t without_cgroups; /* not 0: make none */
    uint64_t files_max;       /* RLIMIT_NOFILE for commands, its soft limit */
    struct gpu gpus[GPUS_MAX];
    char slots_directory[SLOTS_PATH_MAX]; /* exists, and is ours */
};

/* What a pilot has to give. */
struct agent_ready {
    int32_t cpus, gpus;
    int64_t memory_bytes; /* 0: no limit */
    int64_t left_ms;      /* until it takes no more; 0: no limit */
    char node[EXECUTOR_NODE_MAX];
};

struct agent_cancel {
    int64_t attempt;
    int32_t mode; /* enum cancel_mode */
    int32_t unused;
};

struct agent_started {
    int64_t attempt;
    int64_t pid;
};

/* A message in a buffer; payload points into it. */
struct agent_message {
    enum agent_message_kind kind;
    const char *payload;
    size_t length;
};

/* An attempt_spec that owns what it points to. */
struct attempt_request {
    struct attempt_spec spec;
    struct attempt_pool pools[ATTEMPT_POOLS_MAX];
    struct attempt_request *next; /* the holder's, as is the following */
    uint32_t lacks;
    char *bytes;
    char **strings;
};

void agent_put(struct buf *out, enum agent_message_kind kind,
               const void *payload, size_t length);

/* -1 when the attempt's arguments and environment are beyond what any system
 * would take; nothing is added then. */
int agent_put_start(struct buf *out, const struct attempt_spec *spec,
                    struct err *err);

/*
 * The first message in the bytes. Returns how many bytes it takes, 0 when it
 * is not whole yet, -1 when it is none.
 */
ptrdiff_t agent_next(const char *bytes, size_t length,
                     struct agent_message *message);

/* Copies a payload of exactly `size` bytes; -1 for another length. */
int agent_get(const struct agent_message *message, void *payload, size_t size);

/* The payload of an AGENT_READY or AGENT_ENDED; -1 for another length, or a
 * count that cannot be (base/count.h). */
int agent_get_ready(const struct agent_message *message,
                    struct agent_ready *ready);
int agent_get_ended(const struct agent_message *message,
                    struct attempt_exit *end);

/* The start that an AGENT_START asks for, the caller's to destroy; NULL when
 * it is malformed. */
struct attempt_request *agent_get_start(const struct agent_message *message);
void attempt_request_destroy(struct attempt_request *request);

#endif
