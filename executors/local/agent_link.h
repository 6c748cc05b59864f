/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_LOCAL_AGENT_LINK_H
#define SMTUNE_EXECUTORS_LOCAL_AGENT_LINK_H

#include <uv.h>

#include "base/err.h"
#include "executors/attempt/agent_message.h"

/*
 * The engine's end of the connection to an agent process, which it starts.
 * Nothing here blocks: what the socket does not take yet waits in a buffer.
 */

struct agent_link;

/* Both come from the loop. Either may close the link. */
struct agent_link_events {
    void (*message)(void *user, const struct agent_message *message);
    void (*idle)(void *user); /* after a batch of messages */
    void (*gone)(void *user); /* the agent has died; close the link */
    void *user;
};

/* Starts an agent; NULL when its program is not found or does not start. */
struct agent_link *agent_link_create(uv_loop_t *loop,
                                     const struct agent_link_events *events,
                                     struct err *err);

/* Closes the connection; the agent goes on with what runs. `closed` is called
 * from the loop when the memory is released. */
void agent_link_close(struct agent_link *link, void (*closed)(void *user),
                      void *user);

/* The buffer to put messages into; they leave before the loop next waits. */
struct buf *agent_link_out(struct agent_link *link);

#endif
