/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_QUEUE_H
#define SMTUNE_EXECUTORS_SHIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executors/attempt/agent_message.h"
#include "executors/machine/slots.h"
#include "executors/shim/supervisor.h"

/*
 * What agents have in common, however messages come to them: starts wait here
 * and begin in the order in which they came, as soon as fewer than `parallel`
 * run and their slots are there; where slots of one are not, those behind it
 * that want none of these go on. So the next command begins the moment one
 * ends.
 */

struct queue {
    /* The owner's to set. */
    struct supervisor *supervisor;
    struct slots *slots; /* NULL: no start is taken yet */
    size_t parallel;
    int64_t memory_bytes; /* of all that run; 0: no limit */
    /* Of an agent on another machine: what commands of smtune's own are in.
     * What a start brings is then what the attempt has of its own
     * (order_file.h). NULL: its environment is complete. */
    const char *programs;
    bool hides_gpus; /* from what asks for none */
    struct buf *out; /* messages for the engine */

    /* The queue's own, all zeroes at first. */
    struct attempt_request *first, **last;
    size_t waiting;
    int64_t retry_ms;  /* when to try for slots again; 0: not waiting */
    int64_t starts_ms; /* when this turn starts no more; 0: not begun */
    bool has_more;     /* which that turn did not get to */
};

/* Takes AGENT_START and AGENT_CANCEL; -1 for what is neither, or malformed. */
int queue_take(struct queue *queue, const struct agent_message *message);
/* Starts what may start. To be called once a turn of the supervisor. */
void queue_turn(struct queue *queue);
/* When it is to be called at the latest; 0: when something else happens. */
int64_t queue_wake_ms(const struct queue *queue);
/* To be called when an attempt has ended: tells, and starts the next. */
void queue_ended(struct queue *queue, const struct attempt_exit *end);
/* Forgets what waits. */
void queue_drop(struct queue *queue);

#endif
