/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_NET_FETCH_H
#define SMTUNE_BASE_NET_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "base/err.h"
#include "base/net/certificates.h"

/*
 * HTTP requests on an event loop, by libcurl, which is loaded when the first
 * fetcher is made: http and https alone, no redirects, no proxy but the
 * environment's, and none to this machine, certificates always checked
 * (base/net/certificates.h).
 * Connections are kept for the requests that follow. Requests on their way do
 * not keep the loop from ending.
 */
struct fetcher;

enum fetch_method { FETCH_GET, FETCH_POST, FETCH_DELETE };

enum { FETCH_ANSWER_MAX_BYTES = 1 << 20 };

struct fetch_request {
    enum fetch_method method;
    const char *url;
    const char *socket;         /* path of a unix socket to go through; NULL */
    const char *const *headers; /* "Name: value", NULL-ended; NULL: none */
    const char *body;           /* sent as it is, not by GET; NULL: none */
    size_t body_bytes;
    int timeout_ms; /* for all of it; a third of it to connect */
    /* A longer one is as good as none; 0: FETCH_ANSWER_MAX_BYTES. */
    size_t answer_max_bytes;
};

struct fetch_answer {
    int status;       /* of HTTP; 0 when there was no answer, or a broken one */
    const char *text; /* why there was none */
    const char *body; /* followed by a NUL byte; "" */
    size_t body_bytes;
};

/* The answer lives during the call. */
typedef void fetch_done_fn(void *user, const struct fetch_answer *answer);

/* ERR_FAILED when there is no libcurl. */
struct fetcher *fetcher_create(uv_loop_t *loop, struct err *err);
/* Requests in progress are given up without a call of `done`. The memory is
 * released from the loop, which has to turn until its handles are closed. */
void fetcher_destroy(struct fetcher *fetcher);

/* Copies the request. `done` comes once, from the loop. */
int fetch(struct fetcher *fetcher, const struct fetch_request *request,
          fetch_done_fn *done, void *user, struct err *err);

/* What https requests of this process depend on. */
struct fetch_facts {
    const char *version; /* of libcurl, "7.88.1" */
    const char *tls;     /* its library for https, "OpenSSL/3.0.17"; NULL */
    bool has_certificates;
    struct certificates certificates;
};

/* ERR_FAILED when there is no libcurl. The texts are libcurl's, of the
 * environment, or constants. */
int fetch_describe(struct fetch_facts *facts, struct err *err);

#endif
