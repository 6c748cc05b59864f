/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The route for the list of runs (dashboard/run_list.h). */
#include "dashboard/api/api.h"
#include "dashboard/run_list.h"

static int answer_runs(const struct request *request, struct store *store,
                       struct answer *answer, struct err *err)
{
    struct run_list *list = dashboard_runs(request_dashboard(request));
    uint64_t version = 0;

    if (run_list_update(list, store, err) < 0)
        return -1;
    return answer_json(
        answer, json_pack("{s:o}", "runs", run_list_rows(list, &version, NULL)),
        err);
}

const struct route runs_routes[] = {
    {.method = "GET",
     .path = "/api/v1/runs",
     .role = ROLE_VIEWER,
     .summary = "All runs of the store, with counts of their trials and the "
                "best value.",
     .answers = "Runs",
     .answer = answer_runs},
    {0}};
