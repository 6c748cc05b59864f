/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/api/api.h"

/* Documents that the commands make, too. */

static int answer_run(const struct request *request, struct store *store,
                      struct answer *answer, struct err *err)
{
    const struct dashboard_source *source =
        dashboard_source(request_dashboard(request));

    return answer_json(
        answer, source->run(source->user, store, request_id(request, 0), err),
        err);
}

static int answer_origin(const struct request *request, struct store *store,
                         struct answer *answer, struct err *err)
{
    const struct dashboard_source *source =
        dashboard_source(request_dashboard(request));

    return answer_json(
        answer,
        source->origin(source->user, store, request_id(request, 0), err), err);
}

static int answer_job(const struct request *request, struct store *store,
                      struct answer *answer, struct err *err)
{
    const struct dashboard_source *source =
        dashboard_source(request_dashboard(request));

    return answer_json(answer,
                       source->job(source->user, store, request_id(request, 0),
                                   request_id(request, 1), err),
                       err);
}

static int answer_why(const struct request *request, struct store *store,
                      struct answer *answer, struct err *err)
{
    const struct dashboard_source *source =
        dashboard_source(request_dashboard(request));

    return answer_json(answer,
                       source->why(source->user, store, request_id(request, 0),
                                   request_id(request, 1), err),
                       err);
}

static int answer_importance(const struct request *request, struct store *store,
                             struct answer *answer, struct err *err)
{
    const struct dashboard_source *source =
        dashboard_source(request_dashboard(request));

    return answer_json(
        answer,
        source->importance(source->user, store, request_id(request, 0), err),
        err);
}

static int answer_graph(const struct request *request, struct store *store,
                        struct answer *answer, struct err *err)
{
    const struct dashboard_source *source =
        dashboard_source(request_dashboard(request));

    return answer_json(
        answer, source->graph(source->user, store, request_id(request, 0), err),
        err);
}

const struct route document_routes[] = {
    {.method = "GET",
     .path = "/api/v1/runs/{run}",
     .role = ROLE_VIEWER,
     .summary = "A run without its trials: the document of `smtune show`, its "
                "file and its search space.",
     .answers = "Run",
     .answer = answer_run},
    {.method = "GET",
     .path = "/api/v1/runs/{run}/origin",
     .role = ROLE_VIEWER,
     .summary = "What a run was started from: its file and the words of --set, "
                "also as settings by key, and the code.",
     .answers = "Origin",
     .answer = answer_origin},
    {.method = "GET",
     .path = "/api/v1/runs/{run}/jobs/{job}",
     .role = ROLE_VIEWER,
     .summary = "A trial, or a job of a workflow, by its number.",
     .answers = "Job",
     .answer = answer_job},
    {.method = "GET",
     .path = "/api/v1/runs/{run}/jobs/{job}/why",
     .role = ROLE_VIEWER,
     .summary = "The reason for a trial's setting, or for a job's state.",
     .answers = "Why",
     .answer = answer_why},
    {.method = "GET",
     .path = "/api/v1/runs/{run}/importance",
     .role = ROLE_VIEWER,
     .summary = "The importance of each parameter for each objective.",
     .answers = "Importance",
     .answer = answer_importance},
    {.method = "GET",
     .path = "/api/v1/runs/{run}/graph",
     .role = ROLE_VIEWER,
     .summary =
         "The graph of a workflow, with states and positions of its steps.",
     .answers = "Graph",
     .answer = answer_graph},
    {0}};
