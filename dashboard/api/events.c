/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "dashboard/api/api.h"
#include "store/changes.h"
#include "store/store.h"

/* What happened in a run, event by event. */

#define LIMIT_FALLBACK "1000"
enum { LIMIT_MAX = 10000 };

struct page {
    const struct dashboard_source *source;
    json_t *events;
    int64_t count, limit, last;
};

/* The first event of a run has its file, with all that is secret in it. */
static void mask(const struct page *page, json_t *detail)
{
    static const char *const texts[] = {"spec", "overrides", "edited_spec",
                                        "edited_overrides"};

    if (page->source->mask_detail != NULL) {
        page->source->mask_detail(page->source->user, detail);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        json_object_del(detail, texts[i]);
}

static json_t *detail_to_json(const struct page *page, const char *detail)
{
    json_t *json =
        detail[0] == '\0' ? NULL : json_parse(detail, strlen(detail), NULL);

    if (json == NULL)
        return json_object();
    mask(page, json);
    return json;
}

static int add_event(void *user, const struct event_row *event)
{
    struct page *page = user;

    if (page->count == page->limit)
        return 1;
    json_array_append_new(
        page->events, json_pack("{s:I, s:o, s:o, s:I, s:o, s:o}", "seq",
                                (json_int_t)event->seq, "job",
                                json_int_unless(event->job_number, 0),
                                "attempt", json_int_unless(event->attempt, 0),
                                "time_ms", (json_int_t)event->time_ms, "event",
                                json_from_text(event->event), "detail",
                                detail_to_json(page, event->detail)));
    page->last = event->seq;
    page->count++;
    return 0;
}

static int answer_events(const struct request *request, struct store *store,
                         struct answer *answer, struct err *err)
{
    int64_t run = request_id(request, 0), after = request_int(request, "after");
    struct page page = {
        .source = dashboard_source(request_dashboard(request)),
        .limit = request_int(request, "limit"),
    };
    int64_t seq;
    int status;

    if (store_last_event(store, run, &seq, err) < 0)
        return -1;
    page.events = json_array();
    status = store_each_event_after(store, run, after, add_event, &page, err);
    if (status < 0) {
        json_decref(page.events);
        return -1;
    }
    return answer_json(
        answer,
        json_pack("{s:I, s:o, s:o}", "run", (json_int_t)run, "next",
                  status > 0 ? json_integer(page.last) : json_null(), "events",
                  page.events),
        err);
}

const struct route event_routes[] = {
    {.method = "GET",
     .path = "/api/v1/runs/{run}/events",
     .role = ROLE_VIEWER,
     .summary = "The events of a run, oldest first, in pages.",
     .queries = {QUERY_PLACE("after",
                             "only events after this one: `next` of a page"),
                 QUERY_LIMIT(LIMIT_MAX, LIMIT_FALLBACK, "events per page")},
     .answers = "Events",
     .answer = answer_events},
    {0}};
