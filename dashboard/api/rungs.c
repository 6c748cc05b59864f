/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/api/api.h"
#include "store/changes.h"
#include "store/store.h"

/* A schedule's rungs as they were planned, and what was decided at them. */

#define LIMIT_FALLBACK "10000"
enum { LIMIT_MAX = 50000 };

struct page {
    json_t *observations;
    size_t limit;
    int64_t last;
};

static int add_rung(void *user, const struct rung_new *rung)
{
    return json_array_append_new(user,
                                 json_pack("{s:I, s:I, s:I, s:o}", "bracket",
                                           (json_int_t)rung->bracket, "rung",
                                           (json_int_t)rung->rung, "resource",
                                           (json_int_t)rung->resource, "trials",
                                           json_int_unless(rung->trials, 0)));
}

static int add_observation(void *user, const struct observation_row *row)
{
    struct page *page = user;
    json_t *json;

    if (json_array_size(page->observations) == page->limit)
        return 1;
    page->last = row->told;
    json = json_pack("{s:I, s:o, s:o, s:I}", "number", (json_int_t)row->number,
                     "bracket", json_int_unless(row->bracket, -1), "rung",
                     json_int_unless(row->rung, -1), "resource",
                     (json_int_t)row->resource);
    json_object_set_new(json, "last", json_from_real(row->last));
    json_object_set_new(json, "best", json_from_real(row->best));
    json_object_set_new(json, "decision", json_from_text(row->decision));
    json_object_set_new(json, "promoted_to",
                        json_int_unless(row->promoted_to, 0));
    json_object_set_new(json, "time_ms", json_integer(row->time_ms));
    return json_array_append_new(page->observations, json);
}

static int answer_rungs(const struct request *request, struct store *store,
                        struct answer *answer, struct err *err)
{
    int64_t run = request_id(request, 0), after = request_int(request, "after");
    int64_t seq;
    struct page page = {.observations = json_array(),
                        .limit = (size_t)request_int(request, "limit")};
    json_t *planned = json_array();
    int result = store_last_event(store, run, &seq, err);

    if (result == 0)
        result = store_each_rung(store, run, add_rung, planned, err);
    if (result == 0)
        result = store_each_observation_after(store, run, after,
                                              add_observation, &page, err);
    if (result < 0) {
        json_decref(planned);
        json_decref(page.observations);
        return -1;
    }
    answer->next = result > 0 ? page.last : 0;
    return answer_json(answer,
                       json_pack("{s:I, s:o, s:o, s:o}", "run", (json_int_t)run,
                                 "planned", planned, "observations",
                                 page.observations, "next",
                                 json_int_unless(answer->next, 0)),
                       err);
}

const struct route rung_routes[] = {
    {.method = "GET",
     .path = "/api/v1/runs/{run}/rungs",
     .role = ROLE_VIEWER,
     .summary = "The rungs of the run's schedule and, in pages, the decisions "
                "at them.",
     .queries = {QUERY_PLACE("after",
                             "only decisions after this one: `next` of a page"),
                 QUERY_LIMIT(LIMIT_MAX, LIMIT_FALLBACK, "decisions per page")},
     .answers = "Rungs",
     .answer = answer_rungs},
    {0}};
