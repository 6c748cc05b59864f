/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ROUTE_REQUEST_H
#define SMTUNE_DASHBOARD_ROUTE_REQUEST_H

#include "dashboard/http/http.h"
#include "dashboard/http/workers.h"
#include "dashboard/route/guests.h"
#include "dashboard/route/match.h"
#include "dashboard/route/target.h"

/* What a route is asked for; for the files that serve it (serve.c, request.c,
 * stream.c), while others have route.h's functions. */
struct request {
    struct dashboard *dashboard;
    struct http_exchange *exchange;
    struct match match;
    struct target target;
    enum role role;
    struct guest guest; /* where it is one's */
    json_t *body;
    /* While and after a worker thread makes its answer: */
    struct task task;
    struct answer answer;
    char *etag; /* of the answer; NULL: none */
    struct err err;
    int status; /* of the route's function */
};

void answer_clear(struct answer *answer);

#endif
