/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_STREAM_H
#define SMTUNE_DASHBOARD_STREAM_H

#include <stdint.h>

#include "base/err.h"
#include "dashboard/http/blob.h"

struct request;
struct streams;

/*
 * Connections that are sent events as they happen (server-sent events, of the
 * HTML standard). All in the loop. Each is about one run, or (0) about the list
 * of runs alone; all get what is sent to 0. Text is made once and shared by all
 * who get it; who is further behind than STREAM_BEHIND_MAX_BYTES is cut off,
 * and comes back by itself. An event "alive" (a comment would not be told to
 * the page) goes out every STREAM_HEARTBEAT_MS, by which both sides see that
 * the other is there.
 */
enum { STREAM_HEARTBEAT_MS = 10000, STREAM_BEHIND_MAX_BYTES = 1 << 20 };

/* The id of the last event that a client says it heard, who comes back
 * (Last-Event-ID, of the standard); 0: it does not. */
int64_t stream_last_id(const struct request *request);
/* From a route's stream function: the connection is one of the run's from now
 * on. ERR_SHORTAGE where there are STREAMS_MAX, or as many of guests as may be.
 */
int stream_open(const struct request *request, int64_t run, struct err *err);
/* The bytes of one event, ready to be sent. id 0: none. `data` is one line. */
struct blob *stream_event(const char *event, int64_t id, const char *data);
/* To all connections of the run; takes the blob over. */
void stream_send(struct streams *streams, int64_t run, struct blob *event);
/* The same to those alone who came back with this id, and once. */
void stream_send_missed(struct streams *streams, int64_t run, int64_t last_id,
                        struct blob *event);
/* How many there are, of this run or (-1) in all. */
int stream_count(const struct streams *streams, int64_t run);

#endif
