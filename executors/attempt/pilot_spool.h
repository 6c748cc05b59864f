/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_PILOT_SPOOL_H
#define SMTUNE_EXECUTORS_ATTEMPT_PILOT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "executors/attempt/agent_message.h"

/*
 * An engine and the agent of an allocation (a pilot) on another machine speak
 * through files of a directory that both see: two streams of the messages of
 * agent_message.h, each written by one side alone and read by the other from
 * where it was. No port is open, nothing is locked, nothing needs the other
 * side to be there.
 *
 *     inbox.N   the engine's, outbox.N the agent's: the N-th engine's talk with
 *               it, from 1. When inbox.N+1 is there, the agent drops what has
 *               not begun of the N-th, answers into outbox.N+1 with READY and a
 *               STARTED for each attempt that runs, and goes on with it.
 *     claim     as of an attempt: the allocation's agent made it with O_EXCL.
 *               One that Slurm starts a second time ends at once.
 *     pulse     and `revoked`: pulse.h
 *     log       what the agent itself has to say
 *     unhealthy what its health check said, where that failed
 *
 * A stream is a row of frames: its length and checksum, then whole messages.
 * The reader takes a frame when all of it is there and right, so that it never
 * sees a part of what a writer, or a network file system, is still putting
 * there. The writer begins the next when the last is on its way to all.
 *
 * Needs no library but libc.
 */

enum { SPOOL_POLL_MIN_MS = 2, SPOOL_POLL_MAX_MS = 200 };

/* One direction. Embedded; all is the module's. */
struct spool_writer {
    int fd;             /* -1: closed */
    int64_t offset;     /* of the frame in the file */
    struct buf frame;   /* that is being written; empty: none */
    struct buf waiting; /* messages for the frames after it */
};

struct spool_reader {
    char *path;
    int64_t offset;   /* of the next frame in the file */
    struct buf bytes; /* messages */
    size_t taken;     /* of them */
};

/* Makes the file; -1 with ERR_BUSY where it is there. */
int spool_writer_open(struct spool_writer *writer, const char *path,
                      struct err *err);
/* Puts what is in the buffer at the file's end; what the disk has no room for
 * now stays and goes first the next time (1 then). -1 where the file cannot be
 * written any more. */
int spool_write(struct spool_writer *writer, struct err *err);
/* To put messages into: agent_put(). */
struct buf *spool_out(struct spool_writer *writer);
void spool_writer_close(struct spool_writer *writer);

/* Copies the path. The file need not be there yet. */
void spool_reader_init(struct spool_reader *reader, const char *path);
/* Reads what has come. Opens the file anew each time, so that a network file
 * system shows what it has. Returns 1 when something came, 0 when nothing did,
 * -1 where it cannot be read, or is no stream (it was cut short). */
int spool_read(struct spool_reader *reader, struct err *err);
/* The next message; it points into the reader until the next call. Returns 1, 0
 * for none, -1 for what is no message. */
int spool_next(struct spool_reader *reader, struct agent_message *message);
void spool_reader_clear(struct spool_reader *reader);

/* How long to wait before one looks again: short after something came, longer
 * with each look in vain. *wait_ms is 0 at first. */
int64_t spool_wait_ms(int64_t *wait_ms, bool came);

#endif
