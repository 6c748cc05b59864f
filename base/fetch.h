/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_FETCH_H
#define SMTUNE_BASE_FETCH_H

#include <stddef.h>
#include <uv.h>

#include "base/err.h"

/*
 * HTTP requests on an event loop, by libcurl, which is loaded when the first
 * fetcher is made: http and https alone, no redirects, no proxy but the
 * environment's, certificates always checked. What the other side answers is
 * read up to a bound and thrown away. Requests on their way do not keep the
 * loop from ending.
 */
struct fetcher;

struct fetch_request {
    const char *url;
    const char *const *headers; /* "Name: value", NULL-ended; NULL: none */
    const char *body;           /* posted as it is */
    size_t body_bytes;
    int timeout_ms; /* for all of it; a third of it to connect */
};

/* status: the answer's; 0 when there was none, and then text says why. */
typedef void fetch_done_fn(void *user, int status, const char *text);

/* ERR_FAILED when there is no libcurl. */
struct fetcher *fetcher_create(uv_loop_t *loop, struct err *err);
/* Requests in progress are given up without a call of `done`. The memory is
 * released from the loop, which has to turn until its handles are closed. */
void fetcher_destroy(struct fetcher *fetcher);

/* Copies the request. `done` comes once, from the loop. */
int fetch_post(struct fetcher *fetcher, const struct fetch_request *request,
               fetch_done_fn *done, void *user, struct err *err);

#endif
