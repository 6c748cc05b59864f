/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The route for server-sent events. A new connection wakes the feed, which
 * sends what the client has not seen. */
#include "dashboard/stream.h"
#include "dashboard/api/api.h"
#include "dashboard/feed.h"

static int stream_events(const struct request *request, struct err *err)
{
    int64_t run = request_int(request, "run");

    if (stream_open(request, run, err) < 0)
        return -1;
    feed_wake(dashboard_feed(request_dashboard(request)), run,
              stream_last_id(request));
    return 0;
}

const struct route stream_routes[] = {
    {.method = "GET",
     .path = "/api/v1/events",
     .role = ROLE_VIEWER,
     .summary = "Live changes as server-sent events: of the list of runs, and "
                "of one run.",
     .queries = {{"run", QUERY_INT, 0, INT64_MAX, "0",
                  "the run; 0: only the list"}},
     .answers = "Stream",
     .stream = stream_events},
    {0}};
