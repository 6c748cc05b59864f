/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_WORK_QUEUE_H
#define SMTUNE_ORCHESTRATOR_STEPS_WORK_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <uv.h>

/*
 * What would hold the loop up is done by a thread of its pool, one item after
 * another, so that each finds done what was asked for before. What an item is
 * about its owner alone knows. All but the work itself happens in the loop.
 */
struct work_queue;

/* The first member of what is to be done. */
struct work_item {
    TAILQ_ENTRY(work_item) link;
    void *user; /* who asked; NULL: nobody is to be told */
};

struct work_queue_ops {
    /* In the thread. Once *stop is true its result is not wanted any more. */
    void (*work)(void *owner, struct work_item *item, const atomic_bool *stop);
    /* The thread is done with it: tells its user, which may lead to any call.
     * Or it tells nobody and returns true: then the thread works on it more. */
    bool (*done)(void *owner, struct work_item *item);
    void (*destroy)(struct work_item *item);
    /* No thread is at work any more, and none will be. */
    void (*closed)(void *owner);
};

/* All three are borrowed. */
struct work_queue *work_queue_create(uv_loop_t *loop,
                                     const struct work_queue_ops *ops,
                                     void *owner);
/* Tells nobody any more. The loop is held until the thread has stopped; then,
 * or at once, comes `closed`, and the queue is gone. */
void work_queue_destroy(struct work_queue *queue);

/* Takes the item over. */
void work_queue_add(struct work_queue *queue, struct work_item *item);
/* What that user asked for is not done, or nobody is told of it. */
void work_queue_forget(struct work_queue *queue, const void *user);

#endif
