/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_SHARING_H
#define SMTUNE_ORCHESTRATOR_STEPS_SHARING_H

#include <uv.h>

#include "orchestrator/job/shards.h"

/*
 * Shares channels out (shards.h) in a thread of the loop's pool, for there may
 * be a million files; one job after another, so that the first one of a step
 * writes down which files there are. For one engine.
 */
struct sharing;

/* From the loop, never from inside the question. err NULL: it is done. */
typedef void sharing_done_fn(void *owner, void *user, const struct err *err);

/* The owner is told; it is borrowed, as the loop is. */
struct sharing *sharing_create(uv_loop_t *loop, void *owner,
                               sharing_done_fn *done);
/* Tells nothing any more; the loop is held until the thread has stopped. */
void sharing_destroy(struct sharing *sharing);

/* Takes shards[count] over, with their paths, all from malloc; `user` is how
 * the question is known. */
void sharing_ask(struct sharing *sharing, struct shard *shards, size_t count,
                 void *user);
/* What that user asked is answered no more. */
void sharing_forget(struct sharing *sharing, const void *user);

#endif
