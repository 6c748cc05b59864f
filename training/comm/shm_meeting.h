/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_SHM_MEETING_H
#define SMTUNE_TRAINING_COMM_SHM_MEETING_H

#include <stddef.h>

#include "base/system/process_hold.h"
#include "training/comm/comm_impl.h"

/*
 * Memory that ranks of one host share, and how they meet in it: a memory file
 * of the first one's, which the others open by way of /proc, so that it is gone
 * when they are. Nothing else in the system knows of it.
 *
 * Each rank has a board, where it says how many steps it has come to, and
 * MEETING_BUFFERS buffers of a chunk each, which serve one step after the
 * other. A step is: everybody puts something into its buffer of that step, says
 * so, and waits until all have. What was put there can be read until one has
 * come through the next step; the buffer is written again for the third one
 * after.
 */

/* A chunk is what stays in a core's own cache. */
enum { MEETING_BUFFERS = 3, MEETING_CHUNK_BYTES = 128 * 1024 };

struct shm_board;

struct shm_meeting {
    struct comm *comm; /* of those who meet */
    unsigned step;     /* how many this rank has come through */
    unsigned calls;
    int spins;
    struct shm_board *boards; /* [size], in the shared memory */
    char *buffers; /* [size][MEETING_BUFFERS][MEETING_CHUNK_BYTES] behind */
    size_t map_bytes;
    char *windows; /* [size][window_bytes], page by page, or NULL */
    size_t window_bytes;
    struct process_hold *peers; /* [size]; pid 0: cannot be watched */
};

/* Collective, for ranks that have met. To be closed, also after -1 (with an
 * error: no memory, or not one host). */
int shm_meeting_open(struct shm_meeting *meeting, struct comm *comm,
                     struct err *err);
void shm_meeting_close(struct shm_meeting *meeting); /* waits for nobody */

/* A rank's buffer for the step. */
static inline char *shm_meeting_buffer(const struct shm_meeting *meeting,
                                       int rank, unsigned step)
{
    return meeting->buffers +
           ((size_t)rank * MEETING_BUFFERS + step % MEETING_BUFFERS) *
               MEETING_CHUNK_BYTES;
}

/* This rank's window (comm.h). Collective. */
void *shm_meeting_window(struct shm_meeting *meeting, size_t bytes,
                         struct err *err);
/* Where the data lies in it, from 1; 0: not in it. */
size_t shm_meeting_place(const struct shm_meeting *meeting, const void *data);

/* What a rank has at the same place of its window. */
static inline void *shm_meeting_row(const struct shm_meeting *meeting, int rank,
                                    void *data)
{
    ptrdiff_t ranks = rank - meeting->comm->rank;

    return (char *)data + ranks * (ptrdiff_t)meeting->window_bytes;
}

/* Ends a step: what this rank puts is there; waits for what the others do. -1
 * with an error that says who is missed. */
int shm_meet(struct shm_meeting *meeting, struct err *err);
/* The same for the first step of a call: all must have called the same. */
int shm_meet_first(struct shm_meeting *meeting, struct err *err);
/* -1 with an error where a rank has died or left; waits for nothing. */
int shm_meeting_watch(struct shm_meeting *meeting, struct err *err);

#endif
