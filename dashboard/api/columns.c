/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The route for a run's trials as columns (dashboard/columns/columns.h). */
#include "dashboard/columns/columns.h"
#include "dashboard/api/api.h"

static int answer_columns(const struct request *request, struct store *store,
                          struct answer *answer, struct err *err)
{
    struct columns_part part = {.run = request_id(request, 0),
                                .since = request_int(request, "since")};

    if (columns_cache_get(dashboard_columns(request_dashboard(request)), store,
                          &part, err) < 0)
        return -1;
    return answer_block(answer, part.bytes);
}

const struct route columns_routes[] = {
    {.method = "GET",
     .path = "/api/v1/runs/{run}/columns",
     .role = ROLE_VIEWER,
     .summary = "The run's trials or jobs as columns: all, or those changed "
                "since an event.",
     .queries = {QUERY_PLACE("since", "the `seq` of an earlier answer")},
     .answers = "Columns",
     .answer = answer_columns},
    {0}};
