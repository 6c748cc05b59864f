/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_HTTP_HTTP_H
#define SMTUNE_DASHBOARD_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "base/err.h"
#include "dashboard/http/blob.h"

/*
 * HTTP/1.1 in the caller's loop, and the one place that knows which library
 * speaks it. It bounds what a client can make it hold: bytes of a header and of
 * a body, connections in all, and the time in which a request has to be there
 * and its answer taken. What a request asks for is not its business.
 */

enum {
    HTTP_HEADER_MAX_BYTES = 32 << 10, /* with the request line: 431, 414 */
    HTTP_BODY_MAX_BYTES = 64 << 10,
    HTTP_CONNECTIONS_MAX = 512,
    HTTP_REQUEST_MAX_MS = 15000,     /* of a new connection to its request */
    HTTP_IDLE_MAX_MS = 60000,        /* of an old one to its next */
    HTTP_SLOWEST_BYTES_PER_S = 8192, /* at which an answer is still sent */
    HTTP_EXTRA_HEADERS_MAX = 6
};

struct http;          /* a server */
struct http_exchange; /* a request and its answer */

struct http_header {
    const char *name, *value;
};

struct http_handler {
    void *user;
    /*
     * A request is there, with its body. Calls http_reply or http_stream once,
     * now or later; until then the exchange stays. The status is 0, or that of
     * an error found already (a body too long, 413), of which alone the answer
     * is to speak.
     */
    void (*asked)(void *user, struct http_exchange *exchange, int status);
};

/* Serves the clients of a listening socket, which it takes over. NULL on
 * error. */
struct http *http_create(uv_loop_t *loop, int listen_fd,
                         const struct http_handler *handler, struct err *err);
/* Ends all connections, once those that wait for an answer have it; then
 * calls `closed`, by which time the server is gone. */
void http_close(struct http *http, void (*closed)(void *user), void *user);

/* Of the request; borrowed, NULL where there is none. */
const char *http_method(const struct http_exchange *exchange);
/* As it was sent: path and query, nothing decoded. */
const char *http_target(const struct http_exchange *exchange);
const char *http_header(const struct http_exchange *exchange, const char *name);
/* Whether a header came more than once. */
bool http_header_repeats(const struct http_exchange *exchange,
                         const char *name);
/* The whole content, *length bytes and a NUL; "" where there is none. */
const char *http_body(const struct http_exchange *exchange, size_t *length);

/* What the handler keeps with the exchange; `release` is called with it when
 * the exchange ends. */
void http_keep(struct http_exchange *exchange, void *kept,
               void (*release)(void *kept));

struct http_reply {
    int status;
    const char *type;   /* NULL: there is no content */
    struct blob *bytes; /* taken over; NULL: none */
    struct http_header headers[HTTP_EXTRA_HEADERS_MAX]; /* borrowed */
};

/* Every answer has the headers that keep a browser to its own (http.c). */
void http_reply(struct http_exchange *exchange, const struct http_reply *reply);

/* An answer without an end. Both in the loop. */
struct http_source {
    void *user;
    /* The next bytes, at most `size`; 0: there are none now; -1: the end. */
    ssize_t (*read)(void *user, char *bytes, size_t size);
    /* The connection is gone, and the exchange with it. */
    void (*ended)(void *user);
};

/* source is copied; type is borrowed during the call. */
void http_stream(struct http_exchange *exchange, const char *type,
                 const struct http_source *source);
/* There are bytes again. */
void http_stream_wake(struct http_exchange *exchange);
/* Until its answer is sent, its connection is not cut to make room for others'
 * (HTTP_CONNECTIONS_MAX). */
void http_protect(struct http_exchange *exchange);
/* Ends the connection, however much is still to be sent. */
void http_cut(struct http_exchange *exchange);

#endif
