/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All routes of the API, a table a file. A route that is not here is not served
 * and not in the description of the API. */
#include "dashboard/api/api.h"

const struct route *const route_tables[] = {
    openapi_routes,
    session_routes,
    runs_routes,
    columns_routes,
    attempt_routes,
    metric_routes,
    rung_routes,
    stream_routes,
    action_routes,
    document_routes,
    event_routes,
    log_routes,
    log_line_routes,
    metric_summary_routes,
    machine_routes,
    prometheus_routes,
    NULL,
};
