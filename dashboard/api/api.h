/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_API_API_H
#define SMTUNE_DASHBOARD_API_API_H

#include "dashboard/dashboard.h"
#include "dashboard/route/route.h"

/* The tables of routes: NAME.c has NAME_routes, which routes.c lists. */

extern const struct route action_routes[];
extern const struct route openapi_routes[];
extern const struct route document_routes[];
extern const struct route event_routes[];
extern const struct route log_routes[];
extern const struct route log_line_routes[];
extern const struct route machine_routes[];
extern const struct route prometheus_routes[];
extern const struct route session_routes[];
extern const struct route runs_routes[];
extern const struct route columns_routes[];
extern const struct route attempt_routes[];
extern const struct route metric_routes[];
extern const struct route metric_summary_routes[];
extern const struct route rung_routes[];
extern const struct route stream_routes[];

/* ---- metrics.c ---- */

/* Whether the query has the name of a metric (NULL: no); else ERR_USAGE. */
int metric_check(const char *metric, struct err *err);

#endif
