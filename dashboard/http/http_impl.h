/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_HTTP_HTTP_IMPL_H
#define SMTUNE_DASHBOARD_HTTP_HTTP_IMPL_H

#include <sys/queue.h>

#include <microhttpd.h>

#include "base/buf.h"
#include "dashboard/http/http.h"

/* Older versions of the library. */
#if MHD_VERSION < 0x00097100
typedef int mhd_answer;
#else
typedef enum MHD_Result mhd_answer;
#endif
#ifndef MHD_HTTP_CONTENT_TOO_LARGE
#define MHD_HTTP_CONTENT_TOO_LARGE 413
#endif

/* What the server (http.c) and its exchanges (exchange.c) have in common.
 */

struct connection {
    TAILQ_ENTRY(connection) link;
    struct http_exchange *exchange; /* NULL: between two */
    int fd;
    uint64_t waits_since_ms; /* for a request */
    uint64_t deadline_ms;    /* 0: none */
    bool is_asked;           /* its request is there, and not answered yet */
    bool is_protected;       /* until it is answered (http_protect) */
    bool is_cut;
};

TAILQ_HEAD(connections, connection);

struct http {
    struct MHD_Daemon *daemon;
    uv_loop_t *loop;
    struct http_handler handler;
    uv_poll_t poll;
    uv_timer_t due;   /* the library wants to be run again */
    uv_timer_t sweep; /* while there are connections */
    struct connections connections;
    int count;     /* of connections that are not cut */
    int answering; /* exchanges whose answer is being made */
    int open_handles;
    bool is_due, is_closing;
    void (*closed)(void *user);
    void *closed_user;
};

struct http_exchange {
    struct http *http;
    struct MHD_Connection *mhd;
    struct connection *connection;
    char *target, *method;
    struct buf body;
    struct MHD_Response *response;
    unsigned int status;
    struct http_source source;
    bool is_stream, is_suspended;
    void *kept;
    void (*release)(void *kept);
};

/* ---- of the server ---- */

/* Ends a connection: its client seems to leave. */
void http_cut_connection(struct http *http, struct connection *connection);
/* The library is run soon, to see what was resumed. */
void http_run_soon(struct http *http);

/* ---- of the exchanges: the library's callbacks ---- */

/* The first that is heard of a request: its line, as it was sent. */
void *http_on_target(void *http, const char *target,
                     struct MHD_Connection *mhd);
/* Called for each request with its header, then with pieces of its body, then
 * once more, and again when it was suspended then. */
mhd_answer http_on_request(void *http, struct MHD_Connection *mhd,
                           const char *url, const char *method,
                           const char *version, const char *bytes,
                           size_t *length, void **exchange);
void http_on_completed(void *http, struct MHD_Connection *mhd, void **exchange,
                       enum MHD_RequestTerminationCode code);
/* A stream goes on, if it waits. */
void http_resume(struct http_exchange *exchange);

#endif
