/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CONTROL_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CONTROL_H

#include <stdbool.h>
#include <uv.h>

#include "base/err.h"
#include "base/json.h"

/*
 * The socket on which an engine is talked to: control.sock in the run's
 * directory, mode 0600. A request is one line with a JSON object, its reply
 * another, in turn; whoever has subscribed is sent lines of what happens
 * besides. What the requests mean is the owner's (requests.c).
 *
 * Nobody can hold the owner up: reads and writes never wait, a turn of the
 * loop takes one piece from each client, lines and clients are bounded, who
 * does not read its replies is not listened to, and who neither completes a
 * request in time nor has subscribed is disconnected. Only root and the owner's
 * user are let in. Handles are unreferenced: they keep no loop alive.
 */

enum { CONTROL_CLIENTS_MAX = 64, CONTROL_LINE_MAX = 64 * 1024 };

struct control;
struct control_client;

struct control_events {
    /* The reply to a request, which is an object: a new reference. */
    json_t *(*request)(void *user, const json_t *request,
                       struct control_client *client);
    void *user;
    int64_t patience_ms; /* for a client's next request */
};

/* The caller holds the engine's lock: what is left of an earlier socket is
 * replaced. NULL on error. */
struct control *control_open(uv_loop_t *loop, const char *run_directory,
                             const struct control_events *events,
                             struct err *err);

/*
 * Removes the socket, waits up to a second until all clients have read what
 * was sent to them, and disconnects them; the loop has to be run to its end
 * after that. NULL is allowed.
 */
void control_close(struct control *control);

/* From within the request: the client is sent what is published from now on. */
void control_subscribe(struct control_client *client);

/* Whether somebody has; NULL is nobody. */
bool control_has_subscribers(const struct control *control);

/* Sends an object to them; takes over the reference. A line is left out for
 * those who are far behind. */
void control_publish(struct control *control, json_t *event);

/* The reply that says what went wrong; a new reference. */
json_t *control_error(const struct err *err);

#endif
