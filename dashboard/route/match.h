/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ROUTE_MATCH_H
#define SMTUNE_DASHBOARD_ROUTE_MATCH_H

#include "base/err.h"
#include "dashboard/route/route.h"

/* From a request's line to a route and what its path and query say. */

enum { MATCH_ALLOW_SIZE = 32 };

struct match {
    const struct route *route;
    int64_t ids[ROUTE_IDS_MAX];
    char *texts[ROUTE_QUERIES_MAX]; /* as given, decoded; NULL: left out */
    int64_t ints[ROUTE_QUERIES_MAX];
    char allow[MATCH_ALLOW_SIZE]; /* with 405: "GET, HEAD" */
};

/*
 * The route that the target is of, HEAD taken as GET: 200. Or 404; 405, with
 * `allow` filled; 400 with err, where its query is not what the route takes.
 * Clear the match in any case.
 */
int match_find(const struct route *const *tables, const char *method,
               const char *target, struct match *match, struct err *err);
void match_clear(struct match *match);

/* The place of a query among the route's; -1: there is none. */
int match_query(const struct route *route, const char *name);

#endif
